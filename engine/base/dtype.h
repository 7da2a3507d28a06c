// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/expected.h"

namespace tw {

enum class TypeCode : uint8_t { boolean, int_, uint, float_, bfloat };

/// A scalar type, or a vector of `lanes` scalars. Booleans are stored as one byte.
struct DType {
  TypeCode code = TypeCode::float_;
  uint8_t bits = 32;
  uint16_t lanes = 1;

  friend bool operator==(const DType&, const DType&) = default;

  /// Storage size of one scalar, in bytes.
  int bytes() const { return (bits + 7) / 8; }
  bool is_float() const { return code == TypeCode::float_ || code == TypeCode::bfloat; }
  bool is_int() const { return code == TypeCode::int_ || code == TypeCode::uint; }
  bool is_signed() const { return code == TypeCode::int_; }
  bool is_bool() const { return code == TypeCode::boolean; }
  bool is_scalar() const { return lanes == 1; }
  DType with_lanes(int n) const { return {code, bits, static_cast<uint16_t>(n)}; }
  DType element() const { return with_lanes(1); }

  /// NumPy's name, such as `float32` or `bool`; vectors append `x16`.
  std::string name() const;
};

Expected<DType> parse_dtype(std::string_view name);

inline constexpr DType kBool{TypeCode::boolean, 8, 1};
inline constexpr DType kInt8{TypeCode::int_, 8, 1};
inline constexpr DType kInt16{TypeCode::int_, 16, 1};
inline constexpr DType kInt32{TypeCode::int_, 32, 1};
inline constexpr DType kInt64{TypeCode::int_, 64, 1};
inline constexpr DType kUInt8{TypeCode::uint, 8, 1};
inline constexpr DType kUInt16{TypeCode::uint, 16, 1};
inline constexpr DType kUInt32{TypeCode::uint, 32, 1};
inline constexpr DType kUInt64{TypeCode::uint, 64, 1};
inline constexpr DType kFloat16{TypeCode::float_, 16, 1};
inline constexpr DType kFloat32{TypeCode::float_, 32, 1};
inline constexpr DType kFloat64{TypeCode::float_, 64, 1};
inline constexpr DType kBFloat16{TypeCode::bfloat, 16, 1};

}  // namespace tw
