// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/tir/stmt.h"

namespace tw::tir {

/// A function's text with, for every line, the loop, store or allocation that it prints.
struct Printed {
  std::string text;
  std::vector<const StmtNode*> line_stmt;  ///< per line (0-based); null for lines of no statement
  std::vector<Origin> line_origin;         ///< the same length
};

/// TVMScript-like text, four spaces a level, that parse.h reads back:
///     @T.prim_func
///     def main(A: T.Buffer((1024, 64), "float32"), C: T.Buffer((1024,), "float32")):
///         T.func_attr({"num_outputs": 1})
///         acc = T.alloc_buffer((16,), "float32", scope="local")
///         for i in T.parallel(64):            # T.serial / T.vectorized / T.unroll / T.unroll_explicit; with a minimum: T.serial(lo, lo + n)
///                                             # T.thread_binding(64, thread="blockIdx.x")
///             C[i] = A[i, 0] + T.float32(1)
///             T.tvm_storage_sync("shared")
///             T.all_reduce(acc[0], "add", thread="threadIdx.x")
///             with T.async_copies():          # a group; T.wait_copies(1) waits for all but the last one
///                 X[i] = A[i]
///             T.warp_mma(acc[0], X[0], 40, "row", Y[0], 40, "depth", shape=(16, 8, 16))   # stride and which index moves by it
Printed print_with_lines(const Func& f);
std::string print(const Func& f);
std::string print(const Stmt& s);

}  // namespace tw::tir
