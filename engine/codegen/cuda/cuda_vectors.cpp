// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/cuda_vectors.h"

#include <algorithm>

#include "engine/codegen/index.h"

namespace tw::codegen {

const char* vector_name(DType t, int lanes) {
  if (t.is_float() && t.bits == 32) return lanes == 4 ? "float4" : "float2";
  if (t.is_float() && t.bits == 64) return lanes == 2 ? "double2" : nullptr;
  const bool negative = t.is_int() && t.is_signed();  // 16-bit floats are bits
  if (t.bits == 16) return lanes == 4 ? (negative ? "short4" : "ushort4") : (negative ? "short2" : "ushort2");
  if (t.is_int() && t.bits == 32) return lanes == 4 ? (negative ? "int4" : "uint4") : (negative ? "int2" : "uint2");
  return nullptr;
}

int run_length(const ir::Buffer& b, const std::vector<ir::Expr>& indices, int lanes) {
  if (b->scope == ir::Scope::local) return 1;
  const auto at = lane_offsets(flat_index(b, indices));
  if (!at) return 1;
  const int64_t divisor = known_divisor(at->base);
  const auto neighbours = [&](int n) {
    for (size_t lane = 0; lane < at->offsets.size(); ++lane) {
      const size_t within = lane % static_cast<size_t>(n);
      if (within == 0 ? at->offsets[lane] % n != 0 : at->offsets[lane] != at->offsets[lane - 1] + 1) return false;
    }
    return true;
  };
  for (const int n : {16, 8, 4, 2})
    if (lanes % n == 0 && divisor % n == 0 && n * b->dtype.bytes() <= 16 && neighbours(n)) return n;
  return 1;
}

int vector_length(const ir::Buffer& b, const std::vector<ir::Expr>& indices, int lanes) {
  int n = std::min(run_length(b, indices, lanes), 4);
  while (n > 1 && !vector_name(b->dtype, n)) n /= 2;
  return n;
}

}  // namespace tw::codegen
