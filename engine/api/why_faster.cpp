// SPDX-License-Identifier: Apache-2.0
#include "engine/api/why_faster.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/api/explain.h"
#include "engine/api/loop_play.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/schedule/schedule.h"
#include "engine/space/template.h"

namespace tw::api {
namespace {

Expected<Json> entity_of(const records::Candidate& c) {
  TW_TRY(Json entity, parse_json(c.config));
  if (!entity.is_array()) return Error(ErrorCode::unsupported, "Expected the choices of a point as a list, found something else");
  return entity;
}

/// Facts by name, in the order in which they are found.
using Facts = std::vector<std::pair<std::string, double>>;

void add_loops(const Insight& insight, Facts& out) {
  if (insight.launches.empty()) {
    out.emplace_back("lanes of the innermost vector loop", insight.vector_lanes);
    double parallel = 1;
    for (const LoopInsight& l : insight.nest)
      if (l.kind == tir::ForKind::parallel && l.extent > 0) parallel *= l.extent;
    out.emplace_back("turns of parallel loops", parallel);
    const size_t n = insight.nest.size();
    for (size_t inside = 1; inside <= std::min<size_t>(n, 4); ++inside)
      out.emplace_back(fmt::format("bytes touched by the innermost {} loop{}", inside, inside == 1 ? "" : "s"), insight.nest[n - inside].bytes);
  }
  for (size_t k = 0; k < insight.launches.size(); ++k) {
    const LaunchInsight& l = insight.launches[k];
    const std::string of = insight.launches.size() > 1 ? fmt::format(" of launch {}", k + 1) : "";
    out.emplace_back("blocks" + of, static_cast<double>(l.blocks));
    out.emplace_back("threads of a block" + of, static_cast<double>(l.threads));
    out.emplace_back("registers of a thread" + of, l.registers);
    out.emplace_back("spilled registers" + of, l.spilled_registers);
    out.emplace_back("bytes of shared memory" + of, static_cast<double>(l.shared_bytes));
    out.emplace_back("share of warps in use" + of, l.occupancy);
    for (const auto& [name, seconds] : l.parts) out.emplace_back(name + of + ", seconds by the formula", seconds);
  }
}

/// What caches find, on sizes of which the whole play ends.
void add_caches(const records::Task& task, const std::vector<schedule::Step>& steps, const StopToken& stop, Facts& out) {
  const auto played = play_loops(task, steps, {}, stop);
  if (!played || !played->play->trace().is_whole) return;
  const simulate::PlayCounts all = played->play->sum(played->play->totals(), -1, -1);
  out.emplace_back("lines looked up, on small sizes", static_cast<double>(all.lookups));
  for (size_t k = 1; k < all.held.size(); ++k)
    out.emplace_back(fmt::format("lines from {}, on small sizes", k + 1 == all.held.size() ? "memory" : played->play->levels()[k].name), static_cast<double>(all.held[k]));
  if (all.warp_accesses > 0) {
    out.emplace_back("sectors of an access by a warp", static_cast<double>(all.sectors) / static_cast<double>(all.warp_accesses));
    out.emplace_back("wavefronts of shared memory, on small sizes", static_cast<double>(all.wavefronts));
  }
}

void add_code(const records::Task& task, const std::vector<schedule::Step>& steps, Facts& out) {
  const Explanation e = explain(task, steps);
  const auto lines = [](const std::string& text) { return static_cast<double>(std::count(text.begin(), text.end(), '\n')); };
  out.emplace_back("lines of TIR after all passes", lines(e.tir));
  if (!task.target.gpu) out.emplace_back("lines of assembly", lines(e.assembly));
}

Facts facts_of(const records::Task& task, const records::Candidate& c, const StopToken& stop) {
  Facts out;
  const auto known = insight(task, c.steps);
  if (!known) return out;  // a task that was recorded without its computation
  add_loops(*known, out);
  add_caches(task, c.steps, stop, out);
  add_code(task, c.steps, out);
  return out;
}

std::vector<std::string> lines_of(const records::Task& task, const records::Candidate& c) {
  const auto s = schedule::Schedule::replay(task.dag, c.steps);
  return s ? schedule::step_lines(*s) : std::vector<std::string>();
}

std::vector<std::string> without(std::vector<std::string> lines, const std::vector<std::string>& others) {
  for (const std::string& o : others)
    if (const auto found = std::find(lines.begin(), lines.end(), o); found != lines.end()) lines.erase(found);
  return lines;
}

}  // namespace

Expected<WhyFaster> why_faster(const records::Task& task, const records::Candidate& first, const records::Candidate& second, const TimeOfPoint& time_of,
                               StopToken stop) {
  const space::Template* of = task.dag && first.space == second.space && first.index >= 0 && second.index >= 0
                                  ? space::find_template(*task.dag, task.target, first.space)
                                  : nullptr;
  if (!of)
    return Error(ErrorCode::unsupported, fmt::format("Expected two points of one space, whose knobs can be changed one at a time, found one of '{}' and one of '{}'{}", first.space,
                                                     second.space, first.space == second.space ? " without knobs" : ""));
  const space::ConfigSpace points = of->space(*task.dag, task.target);
  TW_TRY(const Json a, entity_of(first));
  TW_TRY(const Json b, entity_of(second));
  std::vector<size_t> differing;
  for (size_t k = 0; k < std::min(a.size(), b.size()); ++k)
    if (a[k] != b[k]) differing.push_back(k);
  if (a.size() != b.size() || differing.empty()) return Error(ErrorCode::invalid_argument, "Expected two points that differ in a knob, found none that does");
  const auto point = [&](uint32_t changes) -> Expected<double> {
    if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Cancelled while walking from one candidate to the other");
    if (changes == 0) return time_of(first);
    if (changes + 1 == uint32_t{1} << differing.size()) return time_of(second);
    Json entity = a;
    for (size_t k = 0; k < differing.size(); ++k)
      if (changes >> k & 1) entity[differing[k]] = b[differing[k]];
    TW_TRY(const space::ConfigEntity e, points.from_json(entity));
    if (const std::string reason = points.filtered_reason(e); !reason.empty()) return Error(ErrorCode::illegal_schedule, reason);
    records::Candidate c{.space = first.space, .index = e.index(), .config = e.json_text()};
    if (auto made = candidate_at(task, first.space, e.index())) c = std::move(*made);
    return time_of(c);
  };
  TW_TRY(const tune::DifferenceShares shares, tune::difference_shares(differing.size(), point));
  WhyFaster result{.first_s = shares.first_s, .second_s = shares.second_s, .orders = shares.orders, .all_orders = shares.all_orders};
  const auto value = [](const Json& knob) { return knob.size() > 2 ? knob[2].dump() : knob.dump(); };
  for (size_t k = 0; k < differing.size(); ++k) {
    const Json &x = a[differing[k]], &y = b[differing[k]];
    result.choices.push_back({x[0].get<std::string>(), value(x), value(y), shares.shares[k]});
  }
  for (const auto& [changes, error] : shares.missing) {
    std::vector<std::string> changed;
    for (size_t k = 0; k < differing.size(); ++k)
      if (changes >> k & 1) changed.push_back(result.choices[k].knob);
    result.missing.emplace_back(std::move(changed), error.text());
  }
  std::stable_sort(result.choices.begin(), result.choices.end(),
                   [](const ChoiceDifference& x, const ChoiceDifference& y) { return std::abs(std::log(x.share.factor)) > std::abs(std::log(y.share.factor)); });
  const auto of_first = lines_of(task, first), of_second = lines_of(task, second);
  result.only_first = without(of_first, of_second), result.only_second = without(of_second, of_first);
  const Facts x = facts_of(task, first, stop), y = facts_of(task, second, stop);
  for (const auto& [name, number] : x)
    if (const auto found = std::find_if(y.begin(), y.end(), [&, n = name](const auto& f) { return f.first == n; }); found != y.end() && found->second != number)
      result.facts.push_back({name, number, found->second});
  const auto apart = [](const FactDifference& f) { return f.first > 0 && f.second > 0 ? std::abs(std::log(f.second / f.first)) : HUGE_VAL; };
  std::stable_sort(result.facts.begin(), result.facts.end(), [&](const FactDifference& p, const FactDifference& q) { return apart(p) > apart(q); });
  return result;
}

}  // namespace tw::api
