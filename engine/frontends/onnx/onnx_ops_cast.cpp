// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// Integers of less than 8 bits keep their lowest bits, the highest of them as the sign. Floating-point numbers out of range are undefined; until opset 23
/// ONNX's own cases took the nearest.
int wrapped(OnnxNode& n, int v, const ElementType& to) {
  if (n.dtype(v).is_float() && n.opset() < 23) {
    const double low = to.storage.is_signed() ? -std::ldexp(1.0, to.bits - 1) : 0, high = std::ldexp(1.0, to.storage.is_signed() ? to.bits - 1 : to.bits) - 1;
    v = n.emit("clip", {v}, attrs({{"min", low}, {"max", high}}));
  }
  int whole = n.cast(n.dtype(v).is_float() ? n.cast(v, kInt32) : v, kInt32);
  if (to.storage.is_signed()) {
    whole = n.with_scalar("shift_left", whole, 32 - to.bits);
    return n.cast(n.with_scalar("shift_right", whole, 32 - to.bits), to.storage);
  }
  return n.cast(n.with_scalar("bitwise_and", whole, (1 << to.bits) - 1), to.storage);
}

Results cast_to(OnnxNode& n, int64_t data_type) {
  const int x = n.in(0);
  if (n.element_type(x) == data_type) return {n.narrow(x) ? x : n.emit("cast", {x}, attrs({{"to", n.dtype(x).name()}}))};
  return {cast_element(n, x, data_type, n.integer("saturate", 1) != 0, n.text("round_mode", "up"))};
}
Results cast(OnnxNode& n) {
  if (n.opset() < 6) n.unsupported("the form of opsets before 6");
  return cast_to(n, n.integer("to", 0));
}
Results cast_like(OnnxNode& n) { return cast_to(n, n.element_type(n.in(1))); }

Results bit_cast(OnnxNode& n) {
  const int x = n.in(0);
  const int64_t from = n.element_type(x), to = n.integer("to", 0);
  const ElementType target = element_named(n, to), source = element_named(n, from);
  if (target.bits != source.bits) n.invalid(fmt::format("expected types of one width, found {} and {}", onnx_dtype_name(from), onnx_dtype_name(to)));
  const auto is_integer = [](const ElementType& t) { return !t.format && t.storage.is_int(); };
  int v = x;
  if (target.bits < 8 && is_integer(target))
    v = wrapped(n, v, target);
  else if (source.bits < 8 && is_integer(source))
    v = n.cast(n.with_scalar("bitwise_and", n.cast(v, kInt32), (1 << source.bits) - 1), target.storage);
  else
    v = n.emit("bitcast", {v}, attrs({{"to", target.storage.name()}}));
  return {target.is_narrow() ? n.narrowed(v, to) : v};
}

constexpr OnnxOp kCastOps[] = {{"BitCast", bit_cast, Narrow::taken}, {"Cast", cast, Narrow::taken}, {"CastLike", cast_like, Narrow::taken}};

}  // namespace

ElementType element_named(const OnnxNode& n, int64_t data_type) {
  auto type = element_of_onnx(data_type);
  if (!type) n.unsupported("element type " + onnx_dtype_name(data_type));
  return *type;
}

int plain_values(OnnxNode& n, int v) {
  if (!n.narrow(v)) return v;
  const ElementType type = element_named(n, n.element_type(v));
  if (type.format) return n.emit("float_decode", {v}, attrs({{"format", std::string(type.format->name)}}));
  return n.emit("identity", {v});
}

int cast_element(OnnxNode& n, int v, int64_t data_type, bool saturate, const std::string& power_rounding) {
  const ElementType to = element_named(n, data_type);
  v = plain_values(n, v);
  if (!to.is_narrow()) return n.emit("cast", {v}, attrs({{"to", to.storage.name()}}));
  if (!to.format) return n.narrowed(wrapped(n, v, to), data_type);
  const bool powers = to.format->specials == FloatFormat::Specials::powers;
  if (powers && power_rounding != "up" && power_rounding != "down" && power_rounding != "nearest")
    n.invalid(fmt::format("expected round_mode 'up', 'down' or 'nearest', found '{}'", printable(power_rounding.substr(0, 64))));
  const int code = n.emit("float_encode", {n.cast(v, kFloat32)},
                          attrs({{"format", std::string(to.format->name)}, {"saturate", int64_t{saturate}}, {"rounding", powers ? power_rounding : "nearest"}}));
  return n.narrowed(code, data_type);
}

std::span<const OnnxOp> onnx_ops_cast() { return kCastOps; }

}  // namespace tw::frontends
