// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/base/expected.h"
#include "engine/base/host_array.h"
#include "engine/base/stop_token.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// In which order the threads of a block run a statement. A result must not depend on it.
struct ThreadOrder {
  enum class Kind : uint8_t { forward, reverse, shuffled };
  Kind kind = Kind::forward;
  uint64_t seed = 0;  ///< of shuffled: another order in every block
};

/// Runs a function on host arrays, statement by statement: the oracle for every pass and for code generation.
/// `args` are the parameters in order, in their physical shapes; outputs are written in place. Parallel, vectorised and unrolled loops run in order.
/// Bound loops run block by block; in a block a statement without a barrier inside runs thread after thread, in `order`, and one with a barrier is walked by
/// all threads together, which must agree on its bounds and conditions. Local arrays are a thread's own, shared ones a block's, and hold nothing at first.
/// A copy in a group happens when its thread waits for the group; until then its destination holds nothing. Products by a warp are whole-warp statements.
/// Works before and after flatten_storage and vectorize_loops. Floats are computed in double and rounded at stores and lets.
/// A vector store computes all its lanes before it writes; a select with a vector condition evaluates each lane's branch only.
/// Output elements that nothing stores to (the padding of a blocked layout) keep what they held.
/// Errors: wrong_result for an access outside its array, a read of an element of an output or allocation that was never written, or an element that
/// two iterations of a parallel loop, or two threads between two barriers, share while one writes it, naming array, statements and iterations or threads; also
/// for threads that part before a barrier; invalid_argument for arguments that do not fit, a malformed function or an integer division by zero; resource_limit
/// if allocations exceed 16 GiB; cancelled. Source of the rules for threads: CUDA C++ Programming Guide, memory model and __syncthreads(); no lock-step within
/// a warp is assumed.
Expected<void> interpret(const Func& f, std::span<HostArray> args, StopToken stop = {}, ThreadOrder order = {});

}  // namespace tw::tir
