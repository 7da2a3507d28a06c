// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numbers>

#include "engine/base/assert.h"
#include "engine/base/hash.h"

namespace tw::space {
namespace {

/// What logarithms of equal sizes differ by, at most, and of unequal ones at least.
constexpr double kSame = 1e-9;
/// What sizes are, at least: what optimisers try beyond the bounds of numbers has none.
constexpr double kSmallest = 1e-3;
/// ln 2 in two parts.
constexpr double kLnHigh = 0x1.62e42fefa38p-1, kLnLow = 0x1.ef35793c7673p-45;

/// The integer that it is but for rounding, if it is one.
double settled(double x) {
  const double r = std::nearbyint(x);
  return std::abs(x - r) <= kSame * std::max(1.0, std::abs(x)) ? r : x;
}
/// From where on a number and its successor have one logarithm.
constexpr double kFar = 36;
double next_log(double x) { return x > kFar ? x : std::log1p(std::exp(x)); }
double ceil_log(double x) { return std::log(std::ceil(settled(std::exp(x)))); }

uint64_t bits(double x) { return std::bit_cast<uint64_t>(x == 0 ? 0.0 : x); }

}  // namespace

Tape::Tape(std::vector<Leaf> leaves, std::vector<double> groups) : leaves_(std::move(leaves)), groups_(std::move(groups)) {}

Tape::Id Tape::add(Node n) {
  uint64_t hash = hash_combine(hash_combine(static_cast<uint64_t>(n.op), static_cast<uint64_t>(n.a)), static_cast<uint64_t>(n.b));
  hash = hash_combine(hash, bits(n.rest));
  for (const Part& p : n.parts) hash = hash_combine(hash_combine(hash, static_cast<uint64_t>(p.of)), bits(p.times));
  const auto [first, last] = known_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const Node& o = node(at->second);
    if (o.op == n.op && o.a == n.a && o.b == n.b && o.rest == n.rest && o.parts == n.parts) return at->second;
  }
  bound(n);
  nodes_.push_back(std::move(n));
  const Id id = static_cast<Id>(nodes_.size()) - 1;
  known_.emplace(hash, id);
  return id;
}

void Tape::bound(Node& n) const {
  constexpr double kLargest = 1e300;
  const double a = n.a >= 0 && n.op != Op::leaf ? node(n.a).low : 0, A = n.a >= 0 && n.op != Op::leaf ? node(n.a).high : 0;
  const double b = n.b >= 0 ? node(n.b).low : 0, B = n.b >= 0 ? node(n.b).high : 0;
  switch (n.op) {
    case Op::constant:
      n.low = n.high = n.rest;
      return;
    case Op::leaf:
      n.high = leaves_[static_cast<size_t>(n.a)].most;
      return;
    case Op::sum: {
      // Numbers of a group share what their product divides: the best that it can be spent on is one of them, or none.
      std::map<int, std::array<double, 3>> shared;  // least and greatest factor, and how many there are
      n.low = n.high = n.rest;
      for (const Part& p : n.parts) {
        const Node& of = node(p.of);
        const int group = of.op == Op::leaf ? leaves_[static_cast<size_t>(of.a)].group : -1;
        if (group < 0) {
          n.low += p.times * (p.times > 0 ? of.low : of.high);
          n.high += p.times * (p.times > 0 ? of.high : of.low);
          continue;
        }
        auto& s = shared.try_emplace(group, std::array<double, 3>{0, 0, 0}).first->second;
        s = {std::min(s[0], p.times), std::max(s[1], p.times), s[2] + 1};
      }
      for (const auto& [group, s] : shared) {
        n.low += s[0] * groups_[static_cast<size_t>(group)];
        n.high += s[1] * groups_[static_cast<size_t>(group)];
      }
      return;
    }
    case Op::product: {
      const double ends[] = {a * b, a * B, A * b, A * B};
      n.low = *std::min_element(ends, ends + 4);
      n.high = *std::max_element(ends, ends + 4);
      return;
    }
    case Op::least:
      n.low = std::min(a, b);
      n.high = std::min(A, B);
      return;
    case Op::most:
      n.low = std::max(a, b);
      n.high = std::max(A, B);
      return;
    case Op::exp:
      n.low = std::exp(a);
      n.high = std::min(kLargest, std::exp(A));
      return;
    case Op::log:
      n.low = std::log(std::max(a, kSmallest));
      n.high = std::log(std::max(A, kSmallest));
      return;
    case Op::log_next:
      n.low = next_log(a);
      n.high = next_log(A);
      return;
    case Op::log_ceil:
      n.low = std::max(a, 0.0);
      n.high = std::max(A, 0.0) + std::log(2.0);
      return;
    case Op::above_one:
    case Op::zero:
      n.high = 1;
      return;
  }
}

Tape::Id Tape::constant(double c) { return add({.op = Op::constant, .rest = c}); }
Tape::Id Tape::leaf(size_t k) { return add({.op = Op::leaf, .a = static_cast<Id>(k)}); }

bool Tape::is_constant(Id a, double c) const { return node(a).op == Op::constant && std::abs(node(a).rest - c) <= kSame; }

Tape::Id Tape::sum(std::vector<Part> parts, double rest) {
  std::vector<Part> flat;
  const auto put = [&](Id of, double times) {
    const auto at = std::lower_bound(flat.begin(), flat.end(), of, [](const Part& p, Id id) { return p.of < id; });
    if (at != flat.end() && at->of == of)
      at->times += times;
    else
      flat.insert(at, {of, times});
  };
  for (const Part& p : parts) {
    const Node& n = node(p.of);
    if (n.op == Op::constant) {
      rest += p.times * n.rest;
    } else if (n.op == Op::sum) {
      rest += p.times * n.rest;
      for (const Part& inner : n.parts) put(inner.of, p.times * inner.times);
    } else {
      put(p.of, p.times);
    }
  }
  std::erase_if(flat, [](const Part& p) { return std::abs(p.times) <= 1e-12; });
  if (std::abs(rest) <= 1e-12) rest = 0;
  if (flat.empty()) return constant(rest);
  if (flat.size() == 1 && flat[0].times == 1 && rest == 0) return flat[0].of;
  return add({.op = Op::sum, .rest = rest, .parts = std::move(flat)});
}

Tape::Id Tape::product(Id a, Id b) {
  if (node(a).op == Op::constant) std::swap(a, b);
  if (node(b).op == Op::constant) return sum({{a, node(b).rest}});
  return add({.op = Op::product, .a = std::min(a, b), .b = std::max(a, b)});
}

Tape::Id Tape::least(Id a, Id b) {
  const Node& apart = node(minus(a, b));
  if (apart.high <= kSame) return a;
  if (apart.low >= -kSame) return b;
  for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (node(x).op == Op::least && (node(x).a == y || node(x).b == y)) return x;
  return add({.op = Op::least, .a = std::min(a, b), .b = std::max(a, b)});
}

Tape::Id Tape::most(Id a, Id b) {
  const Node& apart = node(minus(a, b));
  if (apart.high <= kSame) return b;
  if (apart.low >= -kSame) return a;
  for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (node(x).op == Op::least && (node(x).a == y || node(x).b == y)) return y;
  return add({.op = Op::most, .a = std::min(a, b), .b = std::max(a, b)});
}

Tape::Id Tape::exp(Id a) {
  const Node n = node(a);
  if (n.op == Op::constant) return constant(settled(std::exp(n.rest)));
  if (n.op == Op::log) return n.a;
  if (n.op == Op::sum && n.parts.size() == 1 && n.parts[0].times == 1 && node(n.parts[0].of).op == Op::log) return sum({{node(n.parts[0].of).a, settled(std::exp(n.rest))}});
  return add({.op = Op::exp, .a = a});
}

Tape::Id Tape::log(Id a) {
  const Node n = node(a);
  if (n.op == Op::constant) return constant(std::log(std::max(n.rest, kSmallest)));
  if (n.op == Op::exp) return n.a;
  if (n.op == Op::sum && n.parts.size() == 1 && n.rest == 0 && n.parts[0].times > 0 && n.parts[0].times != 1) return sum({{log(n.parts[0].of)}}, std::log(n.parts[0].times));
  return add({.op = Op::log, .a = a});
}

Tape::Id Tape::log_next(Id a) {
  if (node(a).op == Op::constant) return constant(next_log(node(a).rest));
  return add({.op = Op::log_next, .a = a});
}

bool Tape::whole(Id a) const {
  const Node& n = node(a);
  const auto is_size = [&](const Node& part) { return part.op == Op::leaf || part.op == Op::log || part.op == Op::least || part.op == Op::most || part.op == Op::log_ceil; };
  const auto counts = [](double times) { return std::abs(times - std::nearbyint(times)) <= kSame; };
  std::map<int, double> taken;  // how often a group's extent is divided by its numbers
  double rest = n.rest;
  if (n.op == Op::sum) {
    for (const Part& p : n.parts) {
      const Node& of = node(p.of);
      if (!is_size(of) || !counts(p.times)) return false;
      if (p.times > 0) continue;
      const int group = of.op == Op::leaf ? leaves_[static_cast<size_t>(of.a)].group : -1;
      if (group < 0) return false;
      double& most = taken[group];
      most = std::max(most, -p.times);
    }
  } else if (n.op != Op::constant) {
    return is_size(n);
  }
  for (const auto& [group, times] : taken) rest -= times * groups_[static_cast<size_t>(group)];
  const double factor = std::exp(rest);
  return factor >= 0.5 && settled(factor) == std::nearbyint(factor);
}

Tape::Id Tape::log_ceil(Id a) {
  const Node& n = node(a);
  if (n.high <= kSame) return constant(0);
  if (whole(a)) return a;
  if (n.op == Op::constant) return constant(ceil_log(n.rest));
  return add({.op = Op::log_ceil, .a = a});
}

// Bounds say nothing of truths, so that what is known of numbers does not change a value.
Tape::Id Tape::above_one(Id a) {
  const Node& n = node(a);
  if (n.op == Op::constant) return constant(n.rest > kSame ? 1 : 0);
  return add({.op = Op::above_one, .a = a});
}

Tape::Id Tape::zero(Id a) {
  const Node& n = node(a);
  if (n.op == Op::constant) return constant(std::abs(n.rest) <= kSame ? 1 : 0);
  return add({.op = Op::zero, .a = a});
}

bool Tape::linear(Id a, std::vector<double>& out) const {
  out.assign(leaves_.size() + 1, 0);
  const Node& n = node(a);
  if (n.op == Op::leaf) {
    out[static_cast<size_t>(n.a)] = 1;
    return true;
  }
  if (n.op != Op::sum && n.op != Op::constant) return false;
  out.back() = n.rest;
  for (const Part& p : n.parts) {
    if (node(p.of).op != Op::leaf) return false;
    out[static_cast<size_t>(node(p.of).a)] = p.times;
  }
  return true;
}

std::string Tape::text(Id a, std::span<const std::string> names) const {
  const Node& n = node(a);
  const auto of = [&](Id id) { return text(id, names); };
  const auto number = [](double x) { return fmt::format("{:.6g}", x); };
  switch (n.op) {
    case Op::constant:
      return number(n.rest);
    case Op::leaf:
      return "ln " + names[static_cast<size_t>(n.a)];
    case Op::sum: {
      std::string out;
      for (const Part& p : n.parts) {
        const bool negative = p.times < 0;
        out += out.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
        if (std::abs(p.times) != 1) out += number(std::abs(p.times)) + " ";
        out += of(p.of);
      }
      if (n.rest != 0) out += (n.rest < 0 ? " - " : " + ") + number(std::abs(n.rest));
      return "(" + out + ")";
    }
    case Op::product:
      return of(n.a) + " * " + of(n.b);
    case Op::least:
      return "min(" + of(n.a) + ", " + of(n.b) + ")";
    case Op::most:
      return "max(" + of(n.a) + ", " + of(n.b) + ")";
    case Op::exp:
      return "exp" + (node(n.a).op == Op::sum ? of(n.a) : "(" + of(n.a) + ")");
    case Op::log:
      return "ln" + (node(n.a).op == Op::sum ? of(n.a) : "(" + of(n.a) + ")");
    case Op::log_next:
      return "ln(1 + exp(" + of(n.a) + "))";
    case Op::log_ceil:
      return "ln(ceil(exp(" + of(n.a) + ")))";
    case Op::above_one:
      return "[" + of(n.a) + " > 0]";
    case Op::zero:
      return "[" + of(n.a) + " = 0]";
  }
  TW_UNREACHABLE("formula");
}

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

namespace {

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
          L::at_least(x, kSmallest);
          L::log(x);
          break;
        case Tape::Op::log_next:
          z = x;
          L::exp(z);
          z += 1;
          L::log(z);
          x = x > kFar ? x : z;
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
          L::at_least(x, kSmallest);
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

void TapeCode::forward(Kind kind, std::span<const double> leaves, std::span<double> values) const {
  TW_ASSERT(values.size() == rows() * kPoints, "a tape's values have a place each");
  kind == Kind::smooth ? tape_kernel().forward({code_, parts_}, leaves.data(), values.data()) : exactly(leaves.data(), values.data());
}

void TapeCode::exactly(const double* leaves, double* values) const {
  double* out = values;
  for (const Instruction& i : code_) {
    const double *a = values + i.a * P, *b = values + i.b * P;
    for (size_t p = 0; p < P; ++p) {
      double y = i.rest;
      switch (i.op) {
        case Tape::Op::constant:
          break;
        case Tape::Op::leaf:
          y = leaves[i.a * P + p];
          break;
        case Tape::Op::sum:
          for (uint32_t k = i.a; k < i.a + i.b; ++k) y += parts_[k].times * values[parts_[k].row * P + p];
          break;
        case Tape::Op::product:
          y = a[p] * b[p];
          break;
        case Tape::Op::least:
          y = std::min(a[p], b[p]);
          break;
        case Tape::Op::most:
          y = std::max(a[p], b[p]);
          break;
        case Tape::Op::exp:
          y = settled(std::exp(a[p]));
          break;
        case Tape::Op::log:
          y = std::log(std::max(a[p], kSmallest));
          break;
        case Tape::Op::log_next:
          y = next_log(a[p]);
          break;
        case Tape::Op::log_ceil:
          y = ceil_log(a[p]);
          break;
        case Tape::Op::above_one:
          y = a[p] > kSame ? 1 : 0;
          break;
        case Tape::Op::zero:
          y = std::abs(a[p]) <= kSame ? 1 : 0;
          break;
      }
      out[p] = y;
    }
    out += P;
  }
}

void TapeCode::backward(std::span<const double> values, std::span<double> adjoints, std::span<double> leaves) const {
  TW_ASSERT(values.size() == rows() * kPoints && adjoints.size() == rows() * kPoints, "a tape's values and derivatives have a place each");
  std::fill(leaves.begin(), leaves.end(), 0.0);
  tape_kernel().backward({code_, parts_}, values.data(), adjoints.data(), leaves.data());
}

}  // namespace tw::space
