// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/exponents.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "engine/base/assert.h"

namespace tw::space {

using schedule::Annotation;
using schedule::SplitStep;

namespace {

/// Sums of logarithms differ from that of a product by less; products of up to 2^20 from their neighbours by more.
constexpr double kTolerance = 1e-7;

struct PrimePower {
  int64_t prime;
  int exponent;
};

std::vector<PrimePower> prime_powers(int64_t n) {
  std::vector<PrimePower> out;
  for (int64_t p = 2; p * p <= n; ++p) {
    if (n % p != 0) continue;
    out.push_back({p, 0});
    for (; n % p == 0; n /= p) ++out.back().exponent;
  }
  if (n > 1) out.push_back({n, 1});
  return out;
}

int floor_log2(int64_t n) { return n < 1 ? 0 : std::bit_width(static_cast<uint64_t>(n)) - 1; }

/// What the last loop of a split is marked as by the steps after it.
Annotation mark_of(std::span<const schedule::Step> steps, size_t k) {
  const auto& split = std::get<SplitStep>(steps[k]);
  const int last = split.iter + static_cast<int>(split.lengths.size());
  for (size_t j = k + 1; j < steps.size(); ++j) {
    const auto* a = std::get_if<schedule::AnnotationStep>(&steps[j]);
    if (a == nullptr || a->stage != split.stage) break;
    if (a->iter == last) return a->annotation;
  }
  return Annotation::none;
}

}  // namespace

int ExponentSpace::add_variable(int number, int64_t prime, int most) {
  numbers_[static_cast<size_t>(number)].variables.push_back(static_cast<int>(variables_.size()));
  variables_.push_back({number, prime, most});
  limits_.coordinates = variables_.size();
  return static_cast<int>(variables_.size()) - 1;
}

void ExponentSpace::add(Halfspace h) {
  if (h.terms.empty()) return;
  const bool below = std::all_of(h.terms.begin(), h.terms.end(), [](const auto& t) { return t.second >= 0; });
  if (below) h.limit = std::max(0.0, h.limit);
  (below ? limits_.limits : floors_).push_back(std::move(h));
}

ExponentSpace::ExponentSpace(const OpenSchedule& open, const Target& target, const DrawOptions& options) {
  for (const int64_t n : numbers_of(open.steps)) numbers_.push_back({.constant = n});
  std::vector<int> threads;  // numbers whose loops are marked so
  int next = 0;
  for (size_t k = 0; k < open.steps.size(); ++k) {
    if (const auto* split = std::get_if<SplitStep>(&open.steps[k])) {
      next += static_cast<int>(split->lengths.size());
      const Annotation mark = mark_of(open.steps, k);
      if (schedule::is_thread(mark)) threads.push_back(next - 1);
      if (target.gpu && mark == Annotation::vectorize) numbers_[static_cast<size_t>(next) - 1].copies = split->stage;
    } else if (std::holds_alternative<schedule::AutoUnrollStep>(open.steps[k])) {
      ++next;
    }
  }
  const auto open_number = [&](int n) { numbers_[static_cast<size_t>(n)].constant = 1; };
  for (const OpenSchedule::Group& group : open.groups) {
    std::map<int64_t, Halfspace> shares;  // of the extent's primes
    const std::vector<PrimePower> primes = prime_powers(group.extent);
    for (const int n : group.numbers) {
      open_number(n);
      for (const PrimePower& p : primes) {
        shares[p.prime].limit = p.exponent;
        shares[p.prime].terms.emplace_back(add_variable(n, p.prime, p.exponent), 1.0);
      }
    }
    for (auto& [prime, share] : shares) add(std::move(share));
  }
  for (const OpenSchedule::Free& free : open.free) {
    open_number(free.number);
    const int most = floor_log2(free.most);
    add({{{add_variable(free.number, 2, most), 1.0}}, static_cast<double>(most)});
  }
  for (auto& number : numbers_)
    if (number.variables.empty()) number.copies = -1;
  for (const OpenSchedule::Group& group : open.groups) {
    const int last = group.numbers.back();
    Halfspace innermost{{}, std::log(static_cast<double>(innermost_limit(options, std::find(threads.begin(), threads.end(), last) != threads.end())))};
    for (const int v : numbers_[static_cast<size_t>(last)].variables) innermost.terms.emplace_back(v, std::log(static_cast<double>(variables_[static_cast<size_t>(v)].prime)));
    add(std::move(innermost));
  }
}

std::vector<std::vector<double>> ExponentSpace::seeds(size_t count, Rng& rng) const {
  constexpr size_t kTries = 16;  // for each, where there are floors
  std::vector<std::vector<double>> out = sample(limits_, floors_.empty() ? count : kTries * count, rng);
  std::stable_partition(out.begin(), out.end(), [&](const std::vector<double>& x) {
    return std::all_of(floors_.begin(), floors_.end(), [&](const Halfspace& h) { return h.excess(x) <= 0; });
  });
  out.resize(count);
  return out;
}

int64_t ExponentSpace::divide_out(const Number& number, int64_t rest, std::vector<int>& exponents) const {
  for (const int v : number.variables) {
    const Variable& variable = variables_[static_cast<size_t>(v)];
    int& exponent = exponents[static_cast<size_t>(v)];
    for (; rest > 0 && rest % variable.prime == 0 && exponent < variable.most; rest /= variable.prime) ++exponent;
  }
  return rest;
}

std::optional<std::vector<int>> ExponentSpace::encode(std::span<const int64_t> numbers) const {
  TW_ASSERT(numbers.size() == numbers_.size(), "the structure's numbers");
  std::vector<int> out(variables_.size(), 0);
  for (size_t n = 0; n < numbers.size(); ++n) {
    const Number& number = numbers_[n];
    int64_t rest = numbers[n];
    if (rest == 0 && !number.variables.empty()) rest = 1;  // stores: nothing written out, as by one
    if (rest != number.constant && (number.variables.empty() || number.constant == 0 || rest % number.constant != 0)) return std::nullopt;
    if (number.variables.empty()) continue;
    if (divide_out(number, rest / number.constant, out) != 1) return std::nullopt;
  }
  return out;
}

std::vector<double> ExponentSpace::near(std::span<const int64_t> numbers) const {
  TW_ASSERT(numbers.size() == numbers_.size(), "the structure's numbers");
  std::vector<int> whole(variables_.size(), 0);
  std::vector<double> left(variables_.size(), 0);
  for (size_t n = 0; n < numbers.size(); ++n) {
    const Number& number = numbers_[n];
    if (number.variables.empty()) continue;
    const int64_t rest = divide_out(number, number.constant > 0 ? std::max<int64_t>(1, numbers[n] / number.constant) : 1, whole);
    const auto v = static_cast<size_t>(number.variables.front());
    left[v] = std::log(rest) / std::log(variables_[v].prime);
  }
  for (size_t v = 0; v < left.size(); ++v) left[v] = std::min<double>(variables_[v].most, left[v] + whole[v]);
  return left;
}

std::vector<int64_t> ExponentSpace::decode(std::span<const int> exponents) const {
  TW_ASSERT(exponents.size() == variables_.size(), "the structure's exponents");
  std::vector<int64_t> out;
  for (const Number& number : numbers_) {
    int64_t value = number.constant;
    for (const int v : number.variables)
      for (int k = 0; k < exponents[static_cast<size_t>(v)]; ++k) value *= variables_[static_cast<size_t>(v)].prime;
    out.push_back(value);
  }
  return out;
}

bool ExponentSpace::allows(std::span<const int> exponents) const {
  const std::vector<double> x(exponents.begin(), exponents.end());
  return limits_.contains(x, kTolerance) && std::all_of(floors_.begin(), floors_.end(), [&](const Halfspace& h) { return h.excess(x) <= kTolerance; });
}

void ExponentSpace::cut_copies(std::vector<int64_t>& numbers, const Evaluated& e) const {
  for (size_t n = 0; n < numbers_.size(); ++n) {
    if (numbers_[n].copies < 0) continue;
    const Evaluated::Stage& copied = e.stages[static_cast<size_t>(numbers_[n].copies)];
    int64_t elements = 1;
    for (size_t k = 0; k < copied.values.size(); ++k) elements *= copied.extents[k];
    while (numbers[n] > 1 && elements % numbers[n] != 0) numbers[n] /= 2;
  }
}

}  // namespace tw::space
