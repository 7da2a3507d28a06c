// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/base/floor_div.h"
#include "engine/base/host_array.h"
#include "engine/base/text.h"
#include "engine/ir/eval_code.h"

/// The evaluators spend their time in calls: operands are evaluated without one more, in every build type.
#define TW_INLINE __attribute__((always_inline))

namespace tw::ir {

int64_t wrap_int(DType t, int64_t v) {
  if (t.is_bool()) return v != 0;
  switch (t.bits) {
    case 8:
      return t.is_signed() ? int64_t{static_cast<int8_t>(v)} : int64_t{static_cast<uint8_t>(v)};
    case 16:
      return t.is_signed() ? int64_t{static_cast<int16_t>(v)} : int64_t{static_cast<uint16_t>(v)};
    case 32:
      return t.is_signed() ? int64_t{static_cast<int32_t>(v)} : int64_t{static_cast<uint32_t>(v)};
    default:
      return v;
  }
}

int64_t float_to_int(DType t, double v) {
  if (std::isnan(v)) return 0;
  if (t.bits < 64) {  // the nearest of the range, as generated code has it
    const double low = t.is_signed() ? -std::ldexp(1.0, t.bits - 1) : 0, high = std::ldexp(1.0, t.bits - (t.is_signed() ? 1 : 0)) - 1;
    return static_cast<int64_t>(std::clamp(v, low, high));
  }
  if (t == kUInt64 && v >= 0x1p63) return static_cast<int64_t>(v >= 0x1p64 ? std::numeric_limits<uint64_t>::max() : static_cast<uint64_t>(v));
  if (t == kUInt64 && v < 0) return 0;
  return v >= 0x1p63 ? std::numeric_limits<int64_t>::max() : v <= -0x1p63 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(v);
}

double int_to_double(DType t, int64_t v) { return t == kUInt64 ? static_cast<double>(static_cast<uint64_t>(v)) : static_cast<double>(v); }

double nan_min(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double nan_max(double a, double b) { return std::isnan(a) || a > b ? a : b; }

double eval_intrinsic(Intrinsic f, double a, double b) {
  switch (f) {
    case Intrinsic::exp:
      return std::exp(a);
    case Intrinsic::log:
      return std::log(a);
    case Intrinsic::sqrt:
      return std::sqrt(a);
    case Intrinsic::rsqrt:
      return 1.0 / std::sqrt(a);
    case Intrinsic::tanh:
      return std::tanh(a);
    case Intrinsic::sigmoid:
      return 1.0 / (1.0 + std::exp(-a));
    case Intrinsic::erf:
      return std::erf(a);
    case Intrinsic::pow:
      return std::pow(a, b);
    case Intrinsic::fabs:
      return std::fabs(a);
    case Intrinsic::floor:
      return std::floor(a);
    case Intrinsic::ceil:
      return std::ceil(a);
    case Intrinsic::round:
      return std::nearbyint(a);
    case Intrinsic::trunc:
      return std::trunc(a);
    case Intrinsic::sin:
      return std::sin(a);
    case Intrinsic::cos:
      return std::cos(a);
    case Intrinsic::tan:
      return std::tan(a);
    case Intrinsic::asin:
      return std::asin(a);
    case Intrinsic::acos:
      return std::acos(a);
    case Intrinsic::atan:
      return std::atan(a);
    case Intrinsic::sinh:
      return std::sinh(a);
    case Intrinsic::cosh:
      return std::cosh(a);
    case Intrinsic::asinh:
      return std::asinh(a);
    case Intrinsic::acosh:
      return std::acosh(a);
    case Intrinsic::atanh:
      return std::atanh(a);
    case Intrinsic::fmod:
      return std::fmod(a, b);
    case Intrinsic::isnan:
      return std::isnan(a);
    case Intrinsic::isinf:
      return std::isinf(a);
    case Intrinsic::float_bits:
    case Intrinsic::bits_float:
      break;  // operations of their own
  }
  return 0;
}

namespace {

uint64_t u(int64_t v) { return static_cast<uint64_t>(v); }

int64_t no_division(EvalState& s) {
  s.fail(ErrorCode::invalid_argument, "Expected a divisor other than 0, found 0", "integer division");
  return 0;
}

int64_t divide(int64_t a, int64_t b, EvalState& s) {
  if (b == 0) return no_division(s);
  return b == -1 ? static_cast<int64_t>(0 - u(a)) : a / b;
}

int64_t floor_divide(int64_t a, int64_t b, EvalState& s) {
  return b == 0 ? no_division(s) : floor_div_int(a, b);
}

int64_t floor_remainder(int64_t a, int64_t b, EvalState& s) {
  return b == 0 ? no_division(s) : floor_mod_int(a, b);
}

double float_remainder(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

int64_t shift_left(DType t, int64_t a, int64_t n) { return u(n) >= t.bits ? 0 : static_cast<int64_t>(u(a) << n); }
int64_t shift_right(DType t, int64_t a, int64_t n) { return a >> (u(n) >= t.bits ? 63 : n); }
int64_t unsigned_shift_right(int64_t a, int64_t n) { return u(n) >= 64 ? 0 : static_cast<int64_t>(u(a) >> n); }

/// Reports an access outside its array and gives -1.
int64_t outside(const EvalCode& c, size_t dimension, int64_t index, EvalState& s) {
  s.fail(ErrorCode::wrong_result,
         fmt::format("Expected an index below {} in dimension {} of '{}', found {}", c.dims[dimension], dimension,
                     s.arrays[static_cast<size_t>(c.value.i)].buffer->name, index),
         c.text);
  return -1;
}

inline int64_t affine(const EvalCode& c, const EvalState& s) {
  int64_t p = c.offset + c.lane_step * s.lane;
  for (const auto& [slot, coefficient] : c.terms) p += coefficient * s.vars[static_cast<size_t>(slot)].i;
  return p;
}

int64_t position(const EvalCode& c, EvalState& s) {
  int64_t p = 0;
  for (size_t d = 0; d < c.kids.size(); ++d) {
    const int64_t i = eval_int(*c.kids[d], s);
    if (u(i) >= u(c.dims[d])) return outside(c, d, i, s);
    p = p * c.dims[d] + i;
  }
  return p;
}

template <class T>
T read(const std::byte* data, int64_t i) {
  T v;
  std::memcpy(&v, data + i * static_cast<int64_t>(sizeof v), sizeof v);
  return v;
}

template <class T>
void write(std::byte* data, int64_t i, T v) {
  std::memcpy(data + i * static_cast<int64_t>(sizeof v), &v, sizeof v);
}

int64_t read_int(DType t, const std::byte* data, int64_t i) {
  switch (t.bits) {
    case 8:
      return t.is_signed() ? int64_t{read<int8_t>(data, i)} : int64_t{read<uint8_t>(data, i)};
    case 16:
      return t.is_signed() ? int64_t{read<int16_t>(data, i)} : int64_t{read<uint16_t>(data, i)};
    case 32:
      return t.is_signed() ? int64_t{read<int32_t>(data, i)} : int64_t{read<uint32_t>(data, i)};
    default:
      return read<int64_t>(data, i);
  }
}

double read_float(DType t, const std::byte* data, int64_t i) {
  if (t.bits == 32) return read<float>(data, i);
  if (t.bits == 64) return read<double>(data, i);
  return t.code == TypeCode::bfloat ? bfloat16_to_float(read<uint16_t>(data, i)) : half_to_float(read<uint16_t>(data, i));
}

EvalValue read_element(EvalArray& array, int64_t p, DType type, bool is_float, EvalState& s, const std::string& where) {
  if (array.touched && s.iteration != 0) note_read(array, p, s, where);
  if (array.written && !array.written[p])
    s.fail(ErrorCode::wrong_result, fmt::format("Expected element {} of '{}' to be written before it is read", p, array.buffer->name), where);
  EvalValue v{};
  if (is_float)
    v.f = read_float(type, array.data, p);
  else
    v.i = read_int(type, array.data, p);
  return v;
}

EvalValue load_element(const EvalCode& c, bool is_float, EvalState& s) {
  const int64_t p = c.a->op == EvalOp::affine ? affine(*c.a, s) : eval_int(*c.a, s);
  if (p < 0 || s.error) return {};
  EvalArray& array = s.arrays[static_cast<size_t>(c.value.i)];
  if (!array.data) return s.source->element(static_cast<int>(c.value.i), p);
  return read_element(array, p, c.type, is_float, s, c.a->text);
}

}  // namespace

namespace {

/// Whether nothing orders `iteration` before what runs now.
bool is_concurrent(uint32_t iteration, const EvalState& s) {
  return iteration >= s.launch_begin && (iteration >= s.first_iteration || iteration < s.block_begin);
}
bool is_other(uint32_t iteration, const EvalState& s) { return iteration != s.iteration && is_concurrent(iteration, s); }

void shared_element(const EvalArray& array, int64_t position, uint32_t first, EvalState& s, const char* how, const std::string& where) {
  if (s.error) return;
  const char* who = !s.threads ? "iteration" : first < s.block_begin ? "block" : "thread";
  const char* expected =
      s.threads ? "threads to touch elements of their own between two barriers" : "iterations of a parallel loop to touch elements of their own";
  if (s.threads) s.conflict = EvalConflict{static_cast<size_t>(&array - s.arrays.data()), position, first};
  s.fail(ErrorCode::wrong_result,
         fmt::format("Expected {}, found element {} of '{}' {}", expected, position, array.buffer->name, fmt::format(fmt::runtime(how), who)), where);
}

void watch(const EvalArray& array, int64_t position, EvalState& s) {
  const EvalConflict& w = *s.watched;
  s.seen = s.seen || (w.first == s.iteration && w.position == position && &array == &s.arrays[w.array]);
}

}  // namespace

void note_read(EvalArray& array, int64_t position, EvalState& s, const std::string& where) {
  uint32_t* touched = array.touched + 3 * position;  // writer, reader, another reader
  if (is_other(touched[0], s)) shared_element(array, position, touched[0], s, "read after another {} wrote it", where);
  if (!is_concurrent(touched[1], s))
    touched[1] = s.iteration;
  else if (touched[1] != s.iteration)
    touched[2] = s.iteration;
  if (s.watched) watch(array, position, s);
}

void note_write(EvalArray& array, int64_t position, EvalState& s) {
  uint32_t* touched = array.touched + 3 * position;
  if (is_other(touched[0], s)) shared_element(array, position, touched[0], s, "written by two {}s", "");
  for (const uint32_t reader : {touched[1], touched[2]})
    if (is_other(reader, s)) shared_element(array, position, reader, s, "written after another {} read it", "");
  touched[0] = s.iteration;
  if (s.watched) watch(array, position, s);
}

EvalValue load_element(EvalArray& array, int64_t position, EvalState& s, const std::string& where) {
  return read_element(array, position, array.buffer->dtype, array.buffer->dtype.is_float(), s, where);
}

EvalValue rounded(DType t, EvalValue v) {
  if (t.is_float())
    v.f = round_to(t, v.f);
  else
    v.i = wrap_int(t, v.i);
  return v;
}

void store_element(EvalArray& array, int64_t position, EvalValue v) {
  const DType t = array.buffer->dtype;
  if (array.written) array.written[position] = 1;
  if (t.is_float() && t.bits == 32) return write(array.data, position, static_cast<float>(v.f));
  if (t.is_float() && t.bits == 64) return write(array.data, position, v.f);
  if (t.is_float()) return write(array.data, position, t.code == TypeCode::bfloat ? to_bfloat16(v.f) : to_half(v.f));
  const int64_t i = wrap_int(t, v.i);
  switch (t.bits) {
    case 8:
      return write(array.data, position, static_cast<uint8_t>(i));
    case 16:
      return write(array.data, position, static_cast<uint16_t>(i));
    case 32:
      return write(array.data, position, static_cast<uint32_t>(i));
    default:
      return write(array.data, position, i);
  }
}

int64_t eval_int(const EvalCode& c, EvalState& s) {
  const auto a = [&]() TW_INLINE { return eval_int(*c.a, s); };
  const auto b = [&]() TW_INLINE { return eval_int(*c.b, s); };
  const auto fa = [&]() TW_INLINE { return eval_float(*c.a, s); };
  const auto fb = [&]() TW_INLINE { return eval_float(*c.b, s); };
  switch (c.op) {
    case EvalOp::constant:
      return c.value.i;
    case EvalOp::var:
      return s.vars[static_cast<size_t>(c.value.i)].i;
    case EvalOp::lane_var:
      return s.vars[static_cast<size_t>(c.value.i + s.lane)].i;
    case EvalOp::ramp:
      return static_cast<int64_t>(u(a()) + u(b()) * static_cast<uint64_t>(s.lane));
    case EvalOp::select:
      return a() ? b() : eval_int(*c.c, s);
    case EvalOp::load:
      return load_element(c, false, s).i;
    case EvalOp::position:
      return position(c, s);
    case EvalOp::affine:
      return affine(c, s);
    case EvalOp::flat_position: {
      const int64_t i = eval_int(*c.kids[0], s);
      return u(i) < u(c.dims[0]) ? i : outside(c, 0, i, s);
    }
    case EvalOp::add:
      return static_cast<int64_t>(u(a()) + u(b()));
    case EvalOp::sub:
      return static_cast<int64_t>(u(a()) - u(b()));
    case EvalOp::mul:
      return static_cast<int64_t>(u(a()) * u(b()));
    case EvalOp::div:
      return divide(a(), b(), s);
    case EvalOp::floor_div:
      return floor_divide(a(), b(), s);
    case EvalOp::floor_mod:
      return floor_remainder(a(), b(), s);
    case EvalOp::min:
      return std::min(a(), b());
    case EvalOp::max:
      return std::max(a(), b());
    case EvalOp::eq:
      return a() == b();
    case EvalOp::ne:
      return a() != b();
    case EvalOp::lt:
      return a() < b();
    case EvalOp::le:
      return a() <= b();
    case EvalOp::and_:
      return a() && b();
    case EvalOp::or_:
      return a() || b();
    case EvalOp::eager_and:
      return a() & b();
    case EvalOp::eager_or:
      return a() | b();
    case EvalOp::bit_and:
      return a() & b();
    case EvalOp::bit_or:
      return a() | b();
    case EvalOp::bit_xor:
      return a() ^ b();
    case EvalOp::shl:
      return shift_left(c.type, a(), b());
    case EvalOp::shr:
      return shift_right(c.type, a(), b());
    case EvalOp::not_:
      return !a();
    case EvalOp::abs: {
      const int64_t v = a();
      return v < 0 && c.type.is_signed() ? static_cast<int64_t>(0 - u(v)) : v;
    }
    case EvalOp::wrap:
      return wrap_int(c.type, a());
    case EvalOp::u_div: {
      const uint64_t x = u(a()), y = u(b());
      return y == 0 ? no_division(s) : static_cast<int64_t>(x / y);
    }
    case EvalOp::u_mod: {
      const uint64_t x = u(a()), y = u(b());
      return y == 0 ? no_division(s) : static_cast<int64_t>(x % y);
    }
    case EvalOp::u_min:
      return static_cast<int64_t>(std::min(u(a()), u(b())));
    case EvalOp::u_max:
      return static_cast<int64_t>(std::max(u(a()), u(b())));
    case EvalOp::u_lt:
      return u(a()) < u(b());
    case EvalOp::u_le:
      return u(a()) <= u(b());
    case EvalOp::u_shr:
      return unsigned_shift_right(a(), b());
    case EvalOp::f_eq:
      return fa() == fb();
    case EvalOp::f_ne:
      return fa() != fb();
    case EvalOp::f_lt:
      return fa() < fb();
    case EvalOp::f_le:
      return fa() <= fb();
    case EvalOp::f_is_nan:
      return std::isnan(fa());
    case EvalOp::f_is_inf:
      return std::isinf(fa());
    case EvalOp::f_bits:
      return c.type.bits == 64 ? std::bit_cast<int64_t>(fa()) : int64_t{std::bit_cast<uint32_t>(static_cast<float>(fa()))};
    case EvalOp::f_to_int:
      return float_to_int(c.type, fa());
    case EvalOp::f_to_bool:
      return fa() != 0;
    default:
      TW_UNREACHABLE("float operation evaluated as an integer");
  }
}

double eval_float(const EvalCode& c, EvalState& s) {
  const auto a = [&]() TW_INLINE { return eval_float(*c.a, s); };
  const auto b = [&]() TW_INLINE { return eval_float(*c.b, s); };
  switch (c.op) {
    case EvalOp::f_constant:
      return c.value.f;
    case EvalOp::f_var:
      return s.vars[static_cast<size_t>(c.value.i)].f;
    case EvalOp::f_lane_var:
      return s.vars[static_cast<size_t>(c.value.i + s.lane)].f;
    case EvalOp::f_select:
      return eval_int(*c.a, s) ? b() : eval_float(*c.c, s);
    case EvalOp::f_load:
      return load_element(c, true, s).f;
    case EvalOp::f_add:
      return a() + b();
    case EvalOp::f_sub:
      return a() - b();
    case EvalOp::f_mul:
      return a() * b();
    case EvalOp::f_div:
      return a() / b();
    case EvalOp::f_floor_div:
      return std::floor(a() / b());
    case EvalOp::f_floor_mod:
      return float_remainder(a(), b());
    case EvalOp::f_min:
      return nan_min(a(), b());
    case EvalOp::f_max:
      return nan_max(a(), b());
    case EvalOp::from_bits: {
      const int64_t bits = eval_int(*c.a, s);
      return c.type.bits == 64 ? std::bit_cast<double>(bits) : static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    }
    case EvalOp::from_int:
      return int_to_double(c.type, eval_int(*c.a, s));
    case EvalOp::f_round:
      return round_to(c.type, a());
    case EvalOp::f_call:
      return eval_intrinsic(c.function, a(), c.b ? b() : 0);
    default:
      TW_UNREACHABLE("integer operation evaluated as a float");
  }
}

}  // namespace tw::ir
