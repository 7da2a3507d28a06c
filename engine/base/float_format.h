// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tw {

/// A floating-point format of at most 16 bits. Values are kept as codes: unsigned integers that hold the bits.
/// Sources: Micikevicius et al., FP8 formats for deep learning, 2022; OCP Microscaling Formats 1.0; Noune et al., 8-bit numerical formats, 2022 (`fnuz`).
struct FloatFormat {
  /// What lies beside the finite numbers: infinities and NaNs as in IEEE 754; only NaN, where all bits but the sign are set; only NaN, in place of minus zero;
  /// nothing; only NaN, and neither zero nor sign (powers of two alone).
  enum class Specials : uint8_t { ieee, all_ones, minus_zero, none, powers };

  const char* name;  ///< such as `float8e4m3fn`
  int exponent_bits, mantissa_bits, bias;
  Specials specials;

  int bits() const { return exponent_bits + mantissa_bits + (is_signed() ? 1 : 0); }
  bool is_signed() const { return specials != Specials::powers; }
  uint32_t magnitude_mask() const { return (1u << (exponent_bits + mantissa_bits)) - 1; }
  uint32_t infinity() const { return magnitude_mask() ^ ((1u << mantissa_bits) - 1); }  ///< its code, of `ieee` alone
  uint32_t largest() const;                                                              ///< code of the largest finite number
  uint32_t nan() const;                                                                  ///< a code; minus zero where there is none
  float decode(uint32_t code) const;
};

/// All of them: float16, bfloat16, five of 8 bits and one of exponents alone, two of 6 bits, one of 4.
std::span<const FloatFormat> float_formats();
const FloatFormat* find_float_format(std::string_view name);

}  // namespace tw
