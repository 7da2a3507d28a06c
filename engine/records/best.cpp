// SPDX-License-Identifier: Apache-2.0
#include "engine/records/best.h"

#include <cmath>
#include <unordered_map>

#include "engine/base/json.h"

namespace tw::records {

bool same_point(const Candidate& a, const Candidate& b) { return a.space == b.space && a.index == b.index && (a.index >= 0 || a.steps == b.steps); }

const Record* best_of(std::span<const Record> records, const std::string& task_key) {
  const Record* best = nullptr;
  for (const Record& r : records) {
    if (r.task_key != task_key || !r.result.ok() || !r.result.verified || r.result.censored || !std::isfinite(r.result.decided_s())) continue;
    if (!best || r.result.decided_s() < best->result.decided_s()) best = &r;
  }
  return best;
}

std::vector<AutotvmRecord> pick_best(std::span<const AutotvmRecord> records) {
  std::vector<AutotvmRecord> best;
  std::unordered_map<std::string, size_t> places;
  for (const AutotvmRecord& r : records) {
    if (!r.record.result.ok() || !std::isfinite(r.record.result.seconds())) continue;
    const auto [place, added] = places.try_emplace(dump_json(Json::array({r.target, r.name, r.args})), best.size());
    if (added) {
      best.push_back(r);
    } else if (r.record.result.seconds() < best[place->second].record.result.seconds()) {
      best[place->second] = r;
    }
  }
  return best;
}

}  // namespace tw::records
