// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/ir/expr.h"

namespace tw::ir {

/// Calls f on every part of a conjunction. A choice between a second condition and none is one, too, whose second part may be asked only where the first holds.
void visit_conjuncts(const Expr& cond, const std::function<void(const Expr&)>& f);

}  // namespace tw::ir
