// SPDX-License-Identifier: Apache-2.0
#include "engine/base/float_format.h"

#include <cmath>
#include <limits>

namespace tw {

namespace {

using Specials = FloatFormat::Specials;

constexpr FloatFormat kFormats[] = {
    {"float16", 5, 10, 15, Specials::ieee},
    {"bfloat16", 8, 7, 127, Specials::ieee},
    {"float8e4m3fn", 4, 3, 7, Specials::all_ones},
    {"float8e4m3fnuz", 4, 3, 8, Specials::minus_zero},
    {"float8e5m2", 5, 2, 15, Specials::ieee},
    {"float8e5m2fnuz", 5, 2, 16, Specials::minus_zero},
    {"float8e8m0", 8, 0, 127, Specials::powers},
    {"float6e2m3", 2, 3, 1, Specials::none},
    {"float6e3m2", 3, 2, 3, Specials::none},
    {"float4e2m1", 2, 1, 1, Specials::none},
};

}  // namespace

uint32_t FloatFormat::largest() const {
  switch (specials) {
    case Specials::ieee:
      return infinity() - 1;
    case Specials::all_ones:
    case Specials::powers:
      return magnitude_mask() - 1;
    default:
      return magnitude_mask();
  }
}

uint32_t FloatFormat::nan() const {
  switch (specials) {
    case Specials::ieee:
      return infinity() | (1u << (mantissa_bits - 1));
    case Specials::minus_zero:
    case Specials::none:
      return magnitude_mask() + 1;
    default:
      return magnitude_mask();
  }
}

float FloatFormat::decode(uint32_t code) const {
  const uint32_t magnitude = code & magnitude_mask(), exponent = magnitude >> mantissa_bits, mantissa = magnitude & ((1u << mantissa_bits) - 1);
  const bool negative = is_signed() && (code >> (exponent_bits + mantissa_bits) & 1) != 0;
  const float sign = negative ? -1.0f : 1.0f;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (specials == Specials::ieee && magnitude >= infinity()) return mantissa == 0 ? sign * std::numeric_limits<float>::infinity() : kNan;
  if ((specials == Specials::all_ones || specials == Specials::powers) && magnitude == magnitude_mask()) return kNan;
  if (specials == Specials::minus_zero && magnitude == 0 && negative) return kNan;
  if (specials == Specials::powers) return std::ldexp(1.0f, static_cast<int>(exponent) - bias);
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits);
  return sign * std::ldexp(static_cast<float>(mantissa | (1u << mantissa_bits)), static_cast<int>(exponent) - bias - mantissa_bits);
}

std::span<const FloatFormat> float_formats() { return kFormats; }

const FloatFormat* find_float_format(std::string_view name) {
  for (const FloatFormat& f : kFormats)
    if (f.name == name) return &f;
  return nullptr;
}

}  // namespace tw
