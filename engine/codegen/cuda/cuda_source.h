// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/tir/stmt.h"

namespace tw::codegen {

/// One `__global__` function of a CUDA text and how to launch it.
struct CudaKernel {
  std::string name;
  std::array<int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  int64_t static_shared_bytes = 0;   ///< declared with a size in the text
  int64_t dynamic_shared_bytes = 0;  ///< to be asked for at the launch, where all arrays together exceed what a text may declare
  std::vector<ir::Buffer> params;    ///< pointers in this order: arguments of the function, then workspace
};

/// CUDA C++ of a function. It needs no header.
struct CudaSource {
  std::string text;
  std::vector<const tir::StmtNode*> line_stmt;  ///< per line (0-based) the statement that it is for, or null; of the function that was printed
  std::vector<tir::Origin> line_origin;         ///< the same length
  std::vector<CudaKernel> kernels;              ///< in the order they run
  std::vector<ir::Buffer> workspace;            ///< arrays that cross kernels

  void add_line(const std::string& line, const tir::StmtNode* stmt, tir::Origin origin);
};

/// Prints a function after the passes of tir/. float16 and bfloat16 are computed in float, arrays in registers included, and rounded
/// where they are stored in memory. Indices are int where every value
/// they take is proven to fit, long long otherwise; accesses to neighbouring elements go as vectors of up to 16 bytes where their alignment is proven.
/// Loops that are unrolled are marked for the compiler, or written out if they are to be explicitly; what would be more than 2048 statements stays a loop.
/// Errors: unsupported for launches inside other statements.
Expected<CudaSource> cuda_source(const tir::Func& f);

}  // namespace tw::codegen
