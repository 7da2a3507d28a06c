// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/cuda_words.h"

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace tw::codegen {

namespace {

constexpr const char* kWords =
    "auto bool break case char class const continue default delete do double else enum extern false float for if inline int long new operator "
    "private public register return short signed sizeof static struct switch template this true typedef typename union unsigned using virtual "
    "void volatile while abs acos asin atan ceil cos exp erf fabs floor fmod log max min pow rint round sin sinh sqrt tan tanh trunc asm blockIdx "
    "threadIdx blockDim gridDim floor_div floor_mod min_of max_of shift_left shift_right half_to_float float_to_half bfloat_to_float "
    "float_to_bfloat shared_memory copy_async copy_async_or_zero commit_copies wait_copies load_tiles load_tiles_transposed round_tiles word_of "
    "multiply_half multiply_bfloat multiply_tf32 multiply_s8_s8 multiply_s8_u8 multiply_u8_s8 multiply_u8_u8 expf logf sqrtf y0 y1 j0 j1 gamma "
    "signbit div and or not xor float2 float4 double2 short2 short4 ushort2 ushort4 int2 int4 uint2 uint4 make_float2 make_float4 make_double2 "
    "make_short2 make_short4 make_ushort2 make_ushort4 make_int2 make_int4 make_uint2 make_uint4 __nv_half2float";

}  // namespace

void reserve_words(ir::Names& names) {
  static const std::vector<std::string> kList = [] {
    std::istringstream words(kWords);
    return std::vector<std::string>(std::istream_iterator<std::string>(words), {});
  }();
  for (const std::string& word : kList) names.reserve(word);
}

}  // namespace tw::codegen
