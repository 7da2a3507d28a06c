// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/base/expected.h"
#include "engine/base/host_array.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Runs a function on host arrays, statement by statement: the oracle for every pass and for code generation.
/// `args` are the parameters in order; outputs are written in place. Parallel, vectorised and unrolled loops run in order.
/// Works before and after flatten_storage and vectorize_loops. Floats are computed in double and rounded at stores.
/// Errors: wrong_result for an out-of-bounds access or a read of an element never written (buffer, index, statement named); cancelled.
Expected<void> interpret(const Func& f, std::span<HostArray> args);

}  // namespace tw::tir
