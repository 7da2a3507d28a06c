// SPDX-License-Identifier: Apache-2.0
#include "engine/base/dtype.h"

#include <charconv>
#include <string_view>

namespace tw {

std::string DType::name() const {
  std::string out;
  switch (code) {
    case TypeCode::boolean: out = "bool"; break;
    case TypeCode::int_: out = "int" + std::to_string(bits); break;
    case TypeCode::uint: out = "uint" + std::to_string(bits); break;
    case TypeCode::float_: out = "float" + std::to_string(bits); break;
    case TypeCode::bfloat: out = "bfloat" + std::to_string(bits); break;
  }
  if (lanes != 1) out += "x" + std::to_string(lanes);
  return out;
}

Expected<DType> parse_dtype(std::string_view name) {
  static constexpr DType kAll[] = {kBool,   kInt8,   kInt16,  kInt32,   kInt64,   kUInt8,   kUInt16,
                                   kUInt32, kUInt64, kFloat16, kFloat32, kFloat64, kBFloat16};
  std::string_view base = name;
  int lanes = 1;
  if (const auto x = name.rfind('x'); x != std::string_view::npos && x > 0) {
    base = name.substr(0, x);
    const auto digits = name.substr(x + 1);
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), lanes);
    if (ec != std::errc{} || end != digits.data() + digits.size() || lanes < 1 || lanes > 1024)
      return Error(ErrorCode::parse_error, "Expected a number of lanes after 'x' in the type name, found '" + std::string(name) + "'");
  }
  for (const DType& t : kAll)
    if (t.name() == base) return t.with_lanes(lanes);
  return Error(ErrorCode::parse_error, "Expected a type name such as 'float32' or 'int8', found '" + std::string(name) + "'");
}

}  // namespace tw
