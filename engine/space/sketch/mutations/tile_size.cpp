// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "engine/space/knobs/split.h"
#include "engine/space/sketch/lengths.h"
#include "engine/space/sketch/mutate.h"

namespace tw::space {

using schedule::SplitStep;

namespace {

/// Whether the innermost loop of a split is bound to threads by a later step.
bool is_of_threads(const std::vector<schedule::Step>& steps, size_t k) {
  const auto& split = std::get<SplitStep>(steps[k]);
  const int innermost = split.iter + static_cast<int>(split.lengths.size());
  for (size_t j = k + 1; j < steps.size(); ++j) {
    const auto* a = std::get_if<schedule::AnnotationStep>(&steps[j]);
    if (!a || a->stage != split.stage) continue;
    if (a->iter == innermost) return schedule::is_thread(a->annotation);
  }
  return false;
}

/// Moves a factor from one of the loops to another.
bool move_factor(SplitStep& split, int64_t limit, Rng& rng) {
  const int64_t inner = std::accumulate(split.lengths.begin(), split.lengths.end(), int64_t{1}, std::multiplies<>());
  std::vector<int64_t> all{(split.extent + inner - 1) / inner};
  all.insert(all.end(), split.lengths.begin(), split.lengths.end());
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t k = order.size(); k-- > 1;) std::swap(order[k], order[rng.uniform(k + 1)]);
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t from = order[i], to = order[(i + 1) % order.size()];
    if (all[from] <= 1) continue;
    std::vector<int64_t> factors;
    for (const int64_t f : divisors(all[from]))
      if (f > 1 && (to + 1 < all.size() || f * all[to] <= limit)) factors.push_back(f);
    if (factors.empty()) continue;
    const int64_t f = factors[rng.uniform(factors.size())];
    if (from > 0) split.lengths[from - 1] /= f;
    if (to > 0) split.lengths[to - 1] *= f;
    return true;
  }
  return false;
}

Expected<std::vector<schedule::Step>> change_tile(const Mutation& m) {
  std::vector<schedule::Step> steps = m.parent;
  std::vector<size_t> splits;
  for (size_t k = 0; k < steps.size(); ++k) {
    const auto* split = std::get_if<SplitStep>(&steps[k]);
    if (split && split->from_inside && split->extent > 1 && split->lengths.back() <= innermost_limit(m.options, is_of_threads(steps, k))) splits.push_back(k);
  }
  if (splits.empty()) return Error(ErrorCode::not_applicable, "Expected a loop that is split, found none");
  const size_t k = splits[m.rng.uniform(splits.size())];
  auto& split = std::get<SplitStep>(steps[k]);
  const int64_t limit = innermost_limit(m.options, is_of_threads(steps, k));
  const bool afresh = !m.options.exact && m.rng.uniform_real() < m.options.uneven;
  if (afresh)
    split.lengths = (m.rng.uniform(2) ? random_uneven_lengths : random_lengths)(split.extent, split.lengths.size(), limit, m.rng);
  else if (!move_factor(split, limit, m.rng))
    return Error(ErrorCode::not_applicable, "Expected a length with factors to move, found none");
  return steps;
}

}  // namespace

MutationRule tile_size_mutation() {
  return {"tile-size", 0.90, 0.90, change_tile, "Moves a factor from one loop of a split to another, or draws the split's lengths anew."};
}

}  // namespace tw::space
