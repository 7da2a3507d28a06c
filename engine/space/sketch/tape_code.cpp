// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>
#include <numbers>

#include "engine/base/assert.h"
#include "engine/space/sketch/tape.h"

namespace tw::space {

namespace {

/// ln 2 in two parts.
constexpr double kLnHigh = 0x1.62e42fefa38p-1, kLnLow = 0x1.ef35793c7673p-45;
constexpr size_t P = TapeCode::kPoints;

/// What is done to `Bytes` of a row at a time. Loops over rows are written over vectors, as compilers find none in them.
template <int Bytes>
struct Lanes {
  typedef double Reals __attribute__((vector_size(Bytes)));
  typedef uint64_t Bits __attribute__((vector_size(Bytes)));
  static constexpr size_t kCount = Bytes / sizeof(double);

  // By reference: machines differ in how vectors are passed.
  [[gnu::always_inline]] static inline void load(Reals& x, const double* from) { std::memcpy(&x, from, sizeof x); }
  [[gnu::always_inline]] static inline void store(double* to, const Reals& x) { std::memcpy(to, &x, sizeof x); }
  [[gnu::always_inline]] static inline void add(double* to, const Reals& more) {
    Reals x;
    load(x, to);
    x += more;
    store(to, x);
  }
  [[gnu::always_inline]] static inline void at_least(Reals& x, double y) { x = x > y ? x : Reals{} + y; }
  [[gnu::always_inline]] static inline void at_most(Reals& x, double y) { x = x < y ? x : Reals{} + y; }
  [[gnu::always_inline]] static inline void magnitude(Reals& x) { x = x < 0 ? -x : x; }

  /// e^x, of x within what has one: of 2^n e^r, n the nearest whole number, by the series of e^r.
  [[gnu::always_inline]] static inline void exp(Reals& x) {
    at_least(x, -700);
    at_most(x, 700);
    const Reals turned = x * std::numbers::log2e + 0x1.8p52, n = turned - 0x1.8p52;  // n stands in the last bits
    const Reals r = (x - n * kLnHigh) - n * kLnLow;
    Reals sum = Reals{} + 1.0 / 6227020800;
    sum = sum * r + 1.0 / 479001600, sum = sum * r + 1.0 / 39916800, sum = sum * r + 1.0 / 3628800, sum = sum * r + 1.0 / 362880, sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040, sum = sum * r + 1.0 / 720, sum = sum * r + 1.0 / 120, sum = sum * r + 1.0 / 24, sum = sum * r + 1.0 / 6, sum = sum * r + 0.5;
    sum = (sum * r + 1) * r + 1;
    x = sum * (Reals)(((Bits)turned << 52) + 0x3ff0000000000000ULL);
  }
  /// ln x of a positive x: of 2^e m, m from sqrt(1/2) to sqrt(2), by the series of the inverse hyperbolic tangent of (m - 1) / (m + 1).
  [[gnu::always_inline]] static inline void log(Reals& x) {
    constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcdULL;
    const Bits shifted = (Bits)x - kRootHalf + 0x3ff0000000000000ULL;
    const Reals e = ((Reals)((shifted >> 52) | 0x4330000000000000ULL) - 0x1p52) - 1023;
    const Reals m = (Reals)((shifted & 0xfffffffffffffULL) + kRootHalf), s = (m - 1) / (m + 1), z = s * s;
    Reals sum = Reals{} + 1.0 / 21;
    sum = sum * z + 1.0 / 19, sum = sum * z + 1.0 / 17, sum = sum * z + 1.0 / 15, sum = sum * z + 1.0 / 13, sum = sum * z + 1.0 / 11;
    sum = sum * z + 1.0 / 9, sum = sum * z + 1.0 / 7, sum = sum * z + 1.0 / 5, sum = sum * z + 1.0 / 3;
    x = e * kLnHigh + (2 * s + (2 * s * z * sum + e * kLnLow));
  }
  /// A truth goes from one end to the other while a size doubles, with no slope at both: where numbers are integers it is what it is without smoothing, but for
  /// ratios between 1 and 2. Felix's are so flat that a loop which runs once and one which runs twice are hardly told apart.
  [[gnu::always_inline]] static inline void step(Reals& x) {
    x /= std::numbers::ln2;
    at_least(x, 0);
    at_most(x, 1);
    x = x * x * (3 - 2 * x);
  }
  [[gnu::always_inline]] static inline void step_slope(Reals& x) {
    x /= std::numbers::ln2;
    at_least(x, 0);
    at_most(x, 1);
    x = 6 * x * (1 - x) / std::numbers::ln2;
  }
};

/// A tape's instructions, as the kernels below see them.
struct Listing {
  std::span<const TapeCode::Instruction> code;
  std::span<const TapeCode::Part> parts;
};

template <int Bytes>
[[gnu::always_inline]] inline void smoothly(const Listing& list, const double* leaves, double* values) {
  using L = Lanes<Bytes>;
  using Reals = typename L::Reals;
  double* out = values;
  for (const TapeCode::Instruction& i : list.code) {
    for (size_t p = 0; p < P; p += L::kCount) {
      Reals x = {}, z = {};
      if (i.op != Tape::Op::constant && i.op != Tape::Op::leaf && i.op != Tape::Op::sum) {
        L::load(x, values + i.a * P + p);
        L::load(z, values + i.b * P + p);
      }
      switch (i.op) {
        case Tape::Op::constant:
          x += i.rest;
          break;
        case Tape::Op::leaf:
          L::load(x, leaves + i.a * P + p);
          break;
        case Tape::Op::sum:
          x += i.rest;
          for (uint32_t k = i.a; k < i.a + i.b; ++k) {
            L::load(z, values + list.parts[k].row * P + p);
            x += list.parts[k].times * z;
          }
          break;
        case Tape::Op::product:
          x *= z;
          break;
        case Tape::Op::least:
          x = x < z ? x : z;
          break;
        case Tape::Op::most:
          x = x > z ? x : z;
          break;
        case Tape::Op::exp:
          L::exp(x);
          break;
        case Tape::Op::log:
          L::at_least(x, Tape::kSmallest);
          L::log(x);
          break;
        case Tape::Op::log_next:
          z = x;
          L::exp(z);
          z += 1;
          L::log(z);
          x = x > Tape::kFar ? x : z;
          break;
        case Tape::Op::log_ceil:
          L::at_least(x, 0);
          break;
        case Tape::Op::above_one:
          L::step(x);
          break;
        case Tape::Op::zero:
          L::magnitude(x);
          L::step(x);
          x = 1 - x;
          break;
      }
      L::store(out + p, x);
    }
    out += P;
  }
}

template <int Bytes>
[[gnu::always_inline]] inline void downwards(const Listing& list, const double* values, double* adjoints, double* leaves) {
  using L = Lanes<Bytes>;
  using Reals = typename L::Reals;
  for (size_t k = list.code.size(); k-- > 0;) {
    const TapeCode::Instruction& i = list.code[k];
    for (size_t p = 0; p < P; p += L::kCount) {
      const Reals none = {};
      Reals g, x = {}, z = {};
      L::load(g, adjoints + k * P + p);
      if (i.op != Tape::Op::constant && i.op != Tape::Op::leaf && i.op != Tape::Op::sum) {
        L::load(x, values + i.a * P + p);
        L::load(z, values + i.b * P + p);
      }
      double *to = adjoints + i.a * P + p, *other = adjoints + i.b * P + p;
      switch (i.op) {
        case Tape::Op::constant:
          break;
        case Tape::Op::leaf:
          L::add(leaves + i.a * P + p, g);
          break;
        case Tape::Op::sum:
          for (uint32_t n = i.a; n < i.a + i.b; ++n) {
            x = list.parts[n].times * g;
            L::add(adjoints + list.parts[n].row * P + p, x);
          }
          break;
        case Tape::Op::product:
          z *= g;
          x *= g;
          L::add(to, z);
          L::add(other, x);
          break;
        case Tape::Op::least:
        case Tape::Op::most: {
          const Reals difference = i.op == Tape::Op::least ? z - x : x - z, first = difference > 0 ? g : none, second = difference > 0 ? none : g;
          L::add(to, first);
          L::add(other, second);
          break;
        }
        case Tape::Op::exp:
          L::load(z, values + k * P + p);
          z *= g;
          L::add(to, z);
          break;
        case Tape::Op::log:
          L::at_least(x, Tape::kSmallest);
          x = g / x;
          L::add(to, x);
          break;
        case Tape::Op::log_next:
          L::load(z, values + k * P + p);
          z = -z;
          L::exp(z);
          z = g * (1 - z);
          L::add(to, z);
          break;
        case Tape::Op::log_ceil:
          x = x > 0 ? g : none;
          L::add(to, x);
          break;
        case Tape::Op::above_one:
          L::step_slope(x);
          x *= g;
          L::add(to, x);
          break;
        case Tape::Op::zero:
          z = x;
          L::magnitude(z);
          L::step_slope(z);
          x = x < 0 ? g * z : -(g * z);
          L::add(to, x);
          break;
      }
    }
  }
}

using Forward = void (*)(const Listing&, const double* leaves, double* values);
using Backward = void (*)(const Listing&, const double* values, double* adjoints, double* leaves);

#define TW_TAPE(name, target, bytes)                                                                                   \
  target void name##_forward(const Listing& list, const double* leaves, double* values) { smoothly<bytes>(list, leaves, values); } \
  target void name##_backward(const Listing& list, const double* values, double* adjoints, double* leaves) { downwards<bytes>(list, values, adjoints, leaves); }
#if defined(__x86_64__)
TW_TAPE(tape_avx512, __attribute__((target("avx512f,fma"))), 64)
TW_TAPE(tape_avx2, __attribute__((target("avx2,fma"))), 32)
#endif
TW_TAPE(tape_plain, , 16)
#undef TW_TAPE

struct TapeKernel {
  Forward forward;
  Backward backward;
};

const TapeKernel& tape_kernel() {
  static const TapeKernel kKernel = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return TapeKernel{tape_avx512_forward, tape_avx512_backward};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return TapeKernel{tape_avx2_forward, tape_avx2_backward};
#endif
    return TapeKernel{tape_plain_forward, tape_plain_backward};
  }();
  return kKernel;
}

}  // namespace

TapeCode::TapeCode(const Tape& tape, std::span<const Tape::Id> outputs) {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<char> used(tape.size(), 0);
  for (const Tape::Id id : outputs) used[static_cast<size_t>(id)] = 1;
  for (size_t k = tape.size(); k-- > 0;) {
    if (!used[k]) continue;
    const Tape::Node& n = tape.node(static_cast<Tape::Id>(k));
    for (const Tape::Part& p : n.parts) used[static_cast<size_t>(p.of)] = 1;
    if (n.op == Tape::Op::leaf) continue;
    if (n.a >= 0) used[static_cast<size_t>(n.a)] = 1;
    if (n.b >= 0) used[static_cast<size_t>(n.b)] = 1;
  }
  std::vector<uint32_t> row(tape.size(), kNone);
  for (size_t k = 0; k < tape.size(); ++k) {
    if (!used[k]) continue;
    const Tape::Node& n = tape.node(static_cast<Tape::Id>(k));
    Instruction i{n.op, 0, 0, n.rest};
    if (n.op == Tape::Op::sum) {
      i.a = static_cast<uint32_t>(parts_.size());
      i.b = static_cast<uint32_t>(n.parts.size());
      for (const Tape::Part& p : n.parts) parts_.push_back({row[static_cast<size_t>(p.of)], p.times});
    } else if (n.op == Tape::Op::leaf) {
      i.a = static_cast<uint32_t>(n.a);
    } else {
      if (n.a >= 0) i.a = row[static_cast<size_t>(n.a)];
      if (n.b >= 0) i.b = row[static_cast<size_t>(n.b)];
    }
    row[k] = static_cast<uint32_t>(code_.size());
    code_.push_back(i);
  }
  for (const Tape::Id id : outputs) outputs_.push_back(row[static_cast<size_t>(id)]);
}

void TapeCode::forward(Kind kind, std::span<const double> leaves, std::span<double> values) const {
  TW_ASSERT(values.size() == rows() * kPoints, "a tape's values have a place each");
  kind == Kind::smooth ? tape_kernel().forward({code_, parts_}, leaves.data(), values.data()) : exactly(leaves.data(), values.data());
}

void TapeCode::backward(std::span<const double> values, std::span<double> adjoints, std::span<double> leaves) const {
  TW_ASSERT(values.size() == rows() * kPoints && adjoints.size() == rows() * kPoints, "a tape's values and derivatives have a place each");
  std::fill(leaves.begin(), leaves.end(), 0.0);
  tape_kernel().backward({code_, parts_}, values.data(), adjoints.data(), leaves.data());
}

}  // namespace tw::space
