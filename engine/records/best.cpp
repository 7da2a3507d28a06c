// SPDX-License-Identifier: Apache-2.0
#include "engine/records/best.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/json_text.h"

namespace tw::records {

const Record* best_of(std::span<const Record> records, const std::string& task_key, Weights in_network) {
  const Record* best = nullptr;
  for (const Record& r : records) {
    if (r.task_key != task_key || !r.result.ok() || r.result.censored || !std::isfinite(r.result.decided_s())) continue;
    // Of equals after the finals, the one that was fastest before.
    const auto rank = [&](const Record& x) {
      return std::tuple(x.claimed, !x.result.verified, !comparable(x.result.weights, in_network), x.result.decided_s(), x.result.seconds());
    };
    if (!best || rank(r) < rank(*best)) best = &r;
  }
  return best;
}

std::string workload_key(const AutotvmRecord& r) {
  if (!r.record.task_key.empty()) return r.record.task_key;
  std::string key = "[";
  tw::append_json(key, r.target);
  key += ',';
  tw::append_json(key, r.name);
  return key + "," + r.args + "]";
}

double mean_cost(const AutotvmRecord& r) {
  const std::vector<double> costs = r.record.result.counted_samples();
  if (!r.record.result.ok() || costs.empty()) return std::numeric_limits<double>::infinity();
  return std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(costs.size());
}

std::vector<AutotvmRecord> pick_best(std::span<const AutotvmRecord> records) {
  std::vector<AutotvmRecord> best;
  std::unordered_map<std::string, size_t> places;
  for (const AutotvmRecord& r : records) {
    if (!std::isfinite(mean_cost(r))) continue;
    const auto [place, added] = places.try_emplace(workload_key(r), best.size());
    if (added) {
      best.push_back(r);
    } else if (mean_cost(r) < mean_cost(best[place->second])) {
      best[place->second] = r;
    }
  }
  return best;
}

std::vector<std::vector<AutotvmRecord>> split_workloads(std::span<const AutotvmRecord> records) {
  std::vector<std::vector<AutotvmRecord>> workloads;
  std::unordered_map<std::string, size_t> places;
  std::unordered_set<std::string> seen;
  for (const AutotvmRecord& r : records) {
    const std::string workload = workload_key(r);
    const Candidate& c = r.record.candidate;
    if (!seen.insert(workload + r.name + (c.index < 0 ? fmt::format("{:016x}", identity(c)) : c.config)).second) continue;
    const auto [place, added] = places.try_emplace(workload, workloads.size());
    if (added) workloads.emplace_back();
    workloads[place->second].push_back(r);
  }
  return workloads;
}

}  // namespace tw::records
