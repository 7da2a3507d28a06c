// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/cuda_words.h"

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace tw::codegen {

namespace {

constexpr const char* kWords =
    "auto bool break case catch char char8_t char16_t char32_t class co_await co_return co_yield compl concept const consteval constexpr constinit "
    "const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long "
    "mutable namespace new noexcept nullptr operator private protected public register reinterpret_cast requires return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile "
    "wchar_t while alignas alignof and_eq bitand bitor not_eq or_eq xor_eq abs acos acosh asin asinh atan atanh ceil cos cosh exp erf fabs floor fmod log "
    "max min pow rint round sin sinh sqrt tan tanh trunc asm blockIdx threadIdx blockDim gridDim floor_div floor_mod min_of max_of shift_left shift_right "
    "half_to_float float_to_half bfloat_to_float float_to_bfloat shared_memory copy_async copy_async_or_zero commit_copies wait_copies load_tiles "
    "load_tiles_transposed round_tiles word_of multiply_half multiply_bfloat multiply_tf32 multiply_s8_s8 multiply_s8_u8 multiply_u8_s8 multiply_u8_u8 expf "
    "logf sqrtf y0 y1 j0 j1 gamma signbit div and or not xor float2 float4 double2 short2 short4 ushort2 ushort4 int2 int4 uint2 uint4 make_float2 "
    "make_float4 make_double2 make_short2 make_short4 make_ushort2 make_ushort4 make_int2 make_int4 make_uint2 make_uint4 __nv_half2float";

}  // namespace

void reserve_words(ir::Names& names) {
  static const std::vector<std::string> kList = [] {
    std::istringstream words(kWords);
    return std::vector<std::string>(std::istream_iterator<std::string>(words), {});
  }();
  for (const std::string& word : kList) names.reserve(word);
}

}  // namespace tw::codegen
