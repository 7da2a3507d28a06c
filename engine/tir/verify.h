// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/expected.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// How much verify looks at: nothing; types, scopes and index counts; also index bounds where they can be proven violated.
enum class VerifyLevel { off, shape, full };

/// The executable specification of well-formed TIR: variables and buffers are used inside their scope, each variable is bound once,
/// indices match the rank (or are one flat index), stores go to locals or outputs only, vector lengths agree, bound loops run over a constant extent from 0,
/// blocks outside of threads, each coordinate once. Loops bound to blocks and threads stand directly inside each other (a launch); in a launch arrays are
/// shared, between its blocks and threads, or local, inside; barriers and reductions by threads stand in a launch,
/// groups of copies and waits for them too, products by a warp inside its threads, and no statement that threads meet at in a group.
/// Errors: internal, naming the statement.
Expected<void> verify(const Func& f, VerifyLevel level = VerifyLevel::full);

}  // namespace tw::tir
