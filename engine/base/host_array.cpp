// SPDX-License-Identifier: Apache-2.0
#include "engine/base/host_array.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace tw {

namespace {

template <class T>
T read(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void write(std::byte* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

int64_t double_to_int(double v) {
  if (std::isnan(v)) return 0;
  if (v >= 9223372036854775807.0) return INT64_MAX;
  if (v <= -9223372036854775808.0) return INT64_MIN;
  return static_cast<int64_t>(v);
}

/// The float towards zero, its last bit set where it is not exact: rounding that to 16 bits gives what rounding the double at once would.
/// Source: Boldo and Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd, IEEE Transactions on Computers 2008.
float to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1);
}

}  // namespace

float half_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
  uint32_t exponent = (h >> 10) & 0x1f, mantissa = h & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float v = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -v : v;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t to_half(double value) {
  const uint32_t x = std::bit_cast<uint32_t>(to_odd(value));
  const auto sign = static_cast<uint16_t>((x >> 16) & 0x8000);
  const uint32_t magnitude = x & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x47800000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {  // subnormal or zero: scale so that rounding happens in float addition
    const float scaled = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(scaled) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float bfloat16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t to_bfloat16(double value) {
  const uint32_t x = std::bit_cast<uint32_t>(to_odd(value));
  if ((x & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((x >> 16) | 0x40);
  return static_cast<uint16_t>((x + 0x7fff + ((x >> 16) & 1)) >> 16);
}

double round_to(DType t, double v) {
  if (t.code == TypeCode::bfloat) return bfloat16_to_float(to_bfloat16(v));
  if (t.code == TypeCode::float_) return t.bits == 64 ? v : t.bits == 32 ? static_cast<float>(v) : half_to_float(to_half(v));
  HostArray one = HostArray::make(t, {});
  one.set(0, v);
  return one.get(0);
}

HostArray HostArray::make(DType t, std::vector<int64_t> shape) {
  HostArray a{t, std::move(shape), {}};
  a.data.resize(static_cast<size_t>(a.num_elements() * t.bytes()));
  return a;
}

int64_t HostArray::num_elements() const {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return n;
}

double HostArray::get(int64_t i) const {
  const std::byte* p = data.data() + i * dtype.bytes();
  if (dtype.code == TypeCode::bfloat) return bfloat16_to_float(read<uint16_t>(p));
  if (dtype.code == TypeCode::float_) return dtype.bits == 64 ? read<double>(p) : dtype.bits == 32 ? read<float>(p) : half_to_float(read<uint16_t>(p));
  if (dtype == kUInt64) return static_cast<double>(read<uint64_t>(p));
  return static_cast<double>(get_int(i));
}

void HostArray::set(int64_t i, double v) {
  std::byte* p = data.data() + i * dtype.bytes();
  if (dtype.code == TypeCode::bfloat) return write(p, to_bfloat16(v));
  if (dtype.code == TypeCode::float_) {
    if (dtype.bits == 64) return write(p, v);
    if (dtype.bits == 32) return write(p, static_cast<float>(v));
    return write(p, to_half(v));
  }
  if (dtype.is_bool()) return set_int(i, v != 0);
  if (dtype == kUInt64 && v >= 9223372036854775808.0) return write(p, v >= 18446744073709551615.0 ? UINT64_MAX : static_cast<uint64_t>(v));
  set_int(i, double_to_int(v));
}

int64_t HostArray::get_int(int64_t i) const {
  const std::byte* p = data.data() + i * dtype.bytes();
  if (dtype.is_float()) return double_to_int(get(i));
  const bool s = dtype.is_signed();
  switch (dtype.bytes()) {
    case 1: return s ? int64_t{read<int8_t>(p)} : int64_t{read<uint8_t>(p)};
    case 2: return s ? int64_t{read<int16_t>(p)} : int64_t{read<uint16_t>(p)};
    case 4: return s ? int64_t{read<int32_t>(p)} : int64_t{read<uint32_t>(p)};
    default: return read<int64_t>(p);
  }
}

void HostArray::set_int(int64_t i, int64_t v) {
  std::byte* p = data.data() + i * dtype.bytes();
  if (dtype.is_float()) return set(i, static_cast<double>(v));
  if (dtype.is_bool()) v = v != 0;
  switch (dtype.bytes()) {
    case 1: return write(p, static_cast<uint8_t>(v));
    case 2: return write(p, static_cast<uint16_t>(v));
    case 4: return write(p, static_cast<uint32_t>(v));
    default: return write(p, v);
  }
}

}  // namespace tw
