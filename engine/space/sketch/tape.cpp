// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "engine/base/assert.h"
#include "engine/base/hash.h"

namespace tw::space {
namespace {

/// What logarithms of equal sizes differ by, at most, and of unequal ones at least.
constexpr double kSame = 1e-9;
/// The integer that it is but for rounding, if it is one.
double settled(double x) {
  const double r = std::nearbyint(x);
  return std::abs(x - r) <= kSame * std::max(1.0, std::abs(x)) ? r : x;
}
double next_log(double x) { return x > Tape::kFar ? x : std::log1p(std::exp(x)); }
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

std::string Tape::text(Id a, std::span<const std::string> names, size_t most) const {
  std::string out;
  write(a, names, most, out);
  if (out.size() <= most) return out;
  out.resize(most);
  return out + " ...";
}

/// Parts that formulas share are written out each time, so that texts may be far longer than tapes: it ends where nothing more is wanted.
void Tape::write(Id a, std::span<const std::string> names, size_t most, std::string& out) const {
  if (out.size() > most) return;
  const Node& n = node(a);
  const auto of = [&](Id id) { write(id, names, most, out); };
  const auto in = [&](const char* begin, Id id, const char* end) {
    out += begin;
    of(id);
    out += end;
  };
  const auto of_sum = [&](const char* function) { node(n.a).op == Op::sum ? in(function, n.a, "") : in((std::string(function) + "(").c_str(), n.a, ")"); };
  const auto number = [](double x) { return fmt::format("{:.6g}", x); };
  switch (n.op) {
    case Op::constant:
      out += number(n.rest);
      return;
    case Op::leaf:
      out += "ln " + names[static_cast<size_t>(n.a)];
      return;
    case Op::sum:
      out += "(";
      for (size_t k = 0; k < n.parts.size(); ++k) {
        const bool negative = n.parts[k].times < 0;
        out += k == 0 ? (negative ? "-" : "") : (negative ? " - " : " + ");
        if (std::abs(n.parts[k].times) != 1) out += number(std::abs(n.parts[k].times)) + " ";
        of(n.parts[k].of);
      }
      if (n.rest != 0) out += (n.rest < 0 ? " - " : " + ") + number(std::abs(n.rest));
      out += ")";
      return;
    case Op::product:
      of(n.a);
      return in(" * ", n.b, "");
    case Op::least:
      in("min(", n.a, ", ");
      return in("", n.b, ")");
    case Op::most:
      in("max(", n.a, ", ");
      return in("", n.b, ")");
    case Op::exp:
      return of_sum("exp");
    case Op::log:
      return of_sum("ln");
    case Op::log_next:
      return in("ln(1 + exp(", n.a, "))");
    case Op::log_ceil:
      return in("ln(ceil(exp(", n.a, ")))");
    case Op::above_one:
      return in("[", n.a, " > 0]");
    case Op::zero:
      return in("[", n.a, " = 0]");
  }
}

// With the steps and the rounding that the tape's constants are folded by.
void TapeCode::exactly(const double* leaves, double* values) const {
  double* out = values;
  for (const Instruction& i : code_) {
    const double *a = values + i.a * kPoints, *b = values + i.b * kPoints;
    for (size_t p = 0; p < kPoints; ++p) {
      double y = i.rest;
      switch (i.op) {
        case Tape::Op::constant:
          break;
        case Tape::Op::leaf:
          y = leaves[i.a * kPoints + p];
          break;
        case Tape::Op::sum:
          for (uint32_t k = i.a; k < i.a + i.b; ++k) y += parts_[k].times * values[parts_[k].row * kPoints + p];
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
          y = std::log(std::max(a[p], Tape::kSmallest));
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
    out += kPoints;
  }
}

}  // namespace tw::space
