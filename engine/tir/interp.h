// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/base/expected.h"
#include "engine/base/host_array.h"
#include "engine/base/stop_token.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Runs a function on host arrays, statement by statement: the oracle for every pass and for code generation.
/// `args` are the parameters in order, in their physical shapes; outputs are written in place. Parallel, vectorised and unrolled loops run in order,
/// and so do bound ones: block by block, thread by thread, each from the first to the last statement of its loop.
/// Works before and after flatten_storage and vectorize_loops. Floats are computed in double and rounded at stores and lets.
/// A vector store computes all its lanes before it writes; a select with a vector condition evaluates each lane's branch only.
/// Output elements that nothing stores to (the padding of a blocked layout) keep what they held.
/// Errors: wrong_result for an access outside its array, a read of an element of an output or allocation that was never written, or an element that
/// two iterations of a parallel or bound loop share while one writes it, naming array, statement and loop iteration; invalid_argument for arguments that do not fit, a
/// malformed function or an integer division by zero; resource_limit if allocations exceed 16 GiB; cancelled.
Expected<void> interpret(const Func& f, std::span<HostArray> args, StopToken stop = {});

}  // namespace tw::tir
