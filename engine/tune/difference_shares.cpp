// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/difference_shares.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/text.h"

namespace tw::tune {

size_t difference_stops(size_t changes) { return changes <= kAllSubsets ? size_t{1} << changes : 2 * changes; }

Expected<DifferenceShares> difference_shares(size_t changes, const TimeOfChanges& time_of) {
  if (changes == 0 || changes > kMostChanges)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected 1 to {} changes between both, found {}", kMostChanges, changes));
  DifferenceShares result;
  result.shares.resize(changes);
  const uint32_t all = (uint32_t{1} << changes) - 1;
  TW_TRY(result.first_s, time_of(0));
  TW_TRY(result.second_s, time_of(all));
  // Times at stops, in the order of the sets: each comes after those with less changes made.
  std::map<uint32_t, double> times = {{0, result.first_s}, {all, result.second_s}};
  const bool every = changes <= kAllSubsets;
  std::vector<uint32_t> stops;
  if (every)
    for (uint32_t s = 1; s < all; ++s) stops.push_back(s);
  else
    for (size_t k = 1; k < changes; ++k)
      for (const uint32_t first : {(uint32_t{1} << k) - 1, all & ~((uint32_t{1} << k) - 1)}) stops.push_back(first);
  for (const uint32_t s : stops) {
    const auto time = time_of(s);
    if (!time && time.error().code == ErrorCode::cancelled) return time.error();
    if (time)
      times.emplace(s, *time);
    else
      result.missing.emplace_back(s, time.error());
  }
  // How many ways lead to a stop, and from it to the end.
  std::map<uint32_t, double> before = {{0, 1}}, after = {{all, 1}};
  const auto each_step = [&](uint32_t from, auto&& f) {
    for (size_t k = 0; k < changes; ++k)
      if (const uint32_t to = from | uint32_t{1} << k; to != from && times.contains(to)) f(k, to);
  };
  for (const auto& [from, time] : times) each_step(from, [&](size_t, uint32_t to) { before[to] += before[from]; });
  for (auto at = times.rbegin(); at != times.rend(); ++at) each_step(at->first, [&](size_t, uint32_t to) { after[at->first] += after[to]; });
  result.orders = before[all];
  result.all_orders = every ? std::tgamma(static_cast<double>(changes) + 1) : 2;
  if (result.orders == 0)
    return Error(ErrorCode::not_found, fmt::format("Expected an order of the {} changes with a time at every stop, found none: {} of {} stops have none, the first because: {}", changes,
                                                   result.missing.size(), stops.size(), result.missing.empty() ? "nothing was asked" : result.missing.front().second.text()));
  std::vector<double> logs(changes, 0);
  std::vector<bool> seen(changes, false);
  for (const auto& [from, time] : times)
    each_step(from, [&, from = from, time = time](size_t k, uint32_t to) {
      const double ways = before[from] * after[to];
      if (ways == 0) return;
      const double factor = time / times[to];
      DifferenceShares::Share& share = result.shares[k];
      share.least = seen[k] ? std::min(share.least, factor) : factor;
      share.most = seen[k] ? std::max(share.most, factor) : factor;
      seen[k] = true;
      logs[k] += ways / result.orders * std::log(factor);
    });
  for (size_t k = 0; k < changes; ++k) result.shares[k].factor = std::exp(logs[k]);
  return result;
}

}  // namespace tw::tune
