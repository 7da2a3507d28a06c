// SPDX-License-Identifier: Apache-2.0
#include "engine/space/knobs/split.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::space {
namespace {

std::vector<int64_t> powers_of_two(int64_t limit) {
  std::vector<int64_t> result;
  for (int64_t p = 1; p <= limit; p *= 2) result.push_back(p);
  return result;
}

/// A CPython set of small non-negative integers (hash(n) == n), without deletions.
class PythonSet {
 public:
  void add(int64_t key) {
    if (!place(slots_, key)) return;
    ++used_;
    if (used_ * 5 >= mask() * 3) resize(used_ > 50000 ? used_ * 2 : used_ * 4);
  }
  /// set |= other
  void merge(const PythonSet& other) {
    if ((used_ + other.used_) * 5 >= mask() * 3) resize((used_ + other.used_) * 2);
    if (used_ == 0 && mask() == other.mask()) {
      *this = other;
      return;
    }
    const bool clean = used_ == 0;
    for (int64_t key : other.slots_) {
      if (key == kEmpty) continue;
      if (clean) {
        place(slots_, key);
        ++used_;
      } else {
        add(key);
      }
    }
  }
  std::vector<int64_t> items() const {
    std::vector<int64_t> result;
    std::copy_if(slots_.begin(), slots_.end(), std::back_inserter(result), [](int64_t key) { return key != kEmpty; });
    return result;
  }

 private:
  static constexpr int64_t kEmpty = -1;
  static constexpr uint64_t kLinearProbes = 9;

  uint64_t mask() const { return slots_.size() - 1; }

  static bool place(std::vector<int64_t>& slots, int64_t key) {
    const uint64_t mask = slots.size() - 1;
    uint64_t perturb = static_cast<uint64_t>(key);
    uint64_t i = perturb & mask;
    while (true) {
      const uint64_t last = i + kLinearProbes <= mask ? i + kLinearProbes : i;
      for (uint64_t k = i; k <= last; ++k) {
        if (slots[k] == key) return false;
        if (slots[k] == kEmpty) {
          slots[k] = key;
          return true;
        }
      }
      perturb >>= 5;
      i = (i * 5 + 1 + perturb) & mask;
    }
  }
  void resize(uint64_t above) {
    uint64_t size = 8;
    while (size <= above) size *= 2;
    std::vector<int64_t> bigger(size, kEmpty);
    for (int64_t key : slots_) {
      if (key != kEmpty) place(bigger, key);
    }
    slots_ = std::move(bigger);
  }

  std::vector<int64_t> slots_ = std::vector<int64_t>(8, kEmpty);
  uint64_t used_ = 0;
};

std::vector<int64_t> factor_list(int64_t extent, const std::string& policy) {
  if (policy == "factors") return divisors(extent);
  if (policy == "power2") return powers_of_two(extent);
  TW_ASSERT(policy == "verbose", fmt::format("Split policy '{}' is none of factors, power2, verbose and candidate", policy));
  return python_union_order(divisors(extent), powers_of_two(extent));
}

class Enumeration {
 public:
  Enumeration(int64_t extent, const SplitOptions& options, std::vector<int64_t> factors)
      : extent_(extent), no_tail_(options.no_tail.value_or(options.policy == "factors")), filter_(options.filter), factors_(std::move(factors)) {
    current_.assign(options.num_outputs, -1);
  }
  std::vector<KnobValue> run() && {
    choose(static_cast<int>(current_.size()) - 1, 1);
    return std::move(result_);
  }

 private:
  void choose(int position, int64_t product) {
    if (position == 0) {
      if (extent_ % product != 0 && no_tail_) return;
      if (filter_ && !filter_(current_)) return;
      KnobValue value;
      value.split = current_;
      result_.push_back(std::move(value));
      return;
    }
    for (int64_t factor : factors_) {
      if (factor > extent_ / product) continue;
      current_[position] = factor;
      choose(position - 1, product * factor);
    }
  }

  int64_t extent_;
  bool no_tail_;
  const std::function<bool(const std::vector<int64_t>&)>& filter_;
  std::vector<int64_t> factors_;
  std::vector<int64_t> current_;
  std::vector<KnobValue> result_;
};

}  // namespace

std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> low, high;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d != n / d) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

std::vector<int64_t> python_union_order(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  PythonSet first, second, both;
  for (int64_t key : a) first.add(key);
  for (int64_t key : b) second.add(key);
  both.merge(first);
  both.merge(second);
  return both.items();
}

std::vector<KnobValue> enumerate_split(int64_t extent, const SplitOptions& options) {
  TW_ASSERT(extent >= 1, fmt::format("A split needs an extent of at least 1, found {}", extent));
  if (options.policy == "candidate") {
    std::vector<KnobValue> result;
    for (const auto& sizes : options.candidates) {
      TW_ASSERT(static_cast<int>(sizes.size()) == options.num_outputs,
                fmt::format("A split candidate needs {} factors, found {}", options.num_outputs, sizes.size()));
      if (options.filter && !options.filter(sizes)) continue;
      KnobValue value;
      value.split = sizes;
      result.push_back(std::move(value));
    }
    return result;
  }
  TW_ASSERT(options.num_outputs >= 2, fmt::format("A split needs at least 2 outputs, found {}", options.num_outputs));
  std::vector<int64_t> factors = factor_list(extent, options.policy);
  std::erase_if(factors, [&](int64_t f) { return f > options.max_factor; });
  return Enumeration(extent, options, std::move(factors)).run();
}

std::vector<int64_t> resolve_split(int64_t extent, const std::vector<int64_t>& split) {
  std::vector<int64_t> result = split;
  if (result.empty() || result[0] != -1) return result;
  int64_t inner = 1;
  for (size_t i = 1; i < result.size(); ++i) inner *= result[i];
  result[0] = (extent + inner - 1) / inner;
  return result;
}

}  // namespace tw::space
