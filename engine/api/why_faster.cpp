// SPDX-License-Identifier: Apache-2.0
#include "engine/api/why_faster.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "engine/api/explain.h"
#include "engine/api/loop_play.h"
#include "engine/base/text.h"
#include "engine/cost/features/store_costs.h"
#include "engine/schedule/schedule.h"

namespace tw::api {
namespace {

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

/// Of the store with most arithmetic, what cost models see: column by column.
std::vector<float> features_of(const records::Task& task, const records::Candidate& c) {
  const cost::FeatureInput input{.dag = task.dag, .target = task.target, .steps = &c.steps};
  const auto rows = cost::ansor_features(input);
  if (!rows || rows->columns() != cost::kAnsorColumns) return {};
  const auto row = [&](size_t r) { return std::span(rows->values).subspan(r * cost::kAnsorColumns, cost::kAnsorColumns); };
  const auto work = [&](size_t r) { return *std::max_element(row(r).begin(), row(r).begin() + cost::kAnsorFloatColumns); };
  size_t most = 0;
  for (size_t r = 1; r < rows->count; ++r)
    if (work(r) > work(most)) most = r;
  return {row(most).begin(), row(most).end()};
}

void add_features(const records::Task& task, const records::Candidate& first, const records::Candidate& second, WhyFaster& out) {
  const auto a = features_of(task, first), b = features_of(task, second);
  for (size_t k = 0; k < std::min(a.size(), b.size()); ++k)
    if (a[k] != b[k]) out.features.push_back({cost::store_column_name(k), a[k], b[k]});
  std::stable_sort(out.features.begin(), out.features.end(),
                   [](const FactDifference& p, const FactDifference& q) { return std::abs(p.first - p.second) > std::abs(q.first - q.second); });
}

/// Errors: cancelled.
Expected<void> add_counts(const records::Candidate& first, const records::Candidate& second, const WhyOptions& options, WhyFaster& out) {
  std::map<measure::Event, double> counts[2];
  for (const bool is_second : {false, true}) {
    const auto reading = options.count(is_second ? second : first);
    if (!reading && reading.error().code == ErrorCode::cancelled) return reading.error();
    out.uncounted = reading ? reading->missing : reading.error().text();
    for (const measure::EventCount& e : reading ? reading->counts : std::vector<measure::EventCount>()) counts[is_second ? 1 : 0][e.event] = e.count;
  }
  for (const auto& [event, count] : counts[0])
    if (const auto other = counts[1].find(event); other != counts[1].end()) out.counts.push_back({fmt::format("{} of a call{}", measure::event_name(event), event == measure::Event::task_clock ? ", ns" : ""), count, other->second});
  return {};
}

/// What each change is worth. Errors: why that cannot be said; cancelled.
Expected<void> add_choices(const records::Task& task, const records::Candidate& first, const records::Candidate& second, const TimeOfPoint& time_of, const WhyOptions& options,
                           WhyFaster& out) {
  TW_TRY(const CandidateWalk walk, candidate_walk(task, first, second));
  const uint32_t all = (uint32_t{1} << walk.changes.size()) - 1;
  const size_t stops = tune::difference_stops(walk.changes.size());
  size_t asked = 0;
  const auto point = [&](uint32_t made) -> Expected<double> {
    if (options.stop.stop_requested()) return Error(ErrorCode::cancelled, "Cancelled while walking from one candidate to the other");
    if (options.progress) options.progress(asked++, stops);
    if (made == 0) return out.first_s;
    if (made == all) return out.second_s;
    TW_TRY(const records::Candidate c, walk.at(made));
    return time_of(c);
  };
  TW_TRY(const tune::DifferenceShares shares, tune::difference_shares(walk.changes.size(), point));
  out.orders = shares.orders, out.all_orders = shares.all_orders;
  for (size_t k = 0; k < walk.changes.size(); ++k) out.choices.push_back({walk.changes[k], shares.shares[k]});
  for (const auto& [made, error] : shares.missing) {
    std::vector<std::string> changed;
    for (size_t k = 0; k < walk.changes.size(); ++k)
      if (made >> k & 1) changed.push_back(walk.changes[k].name);
    out.missing.emplace_back(std::move(changed), error.text());
  }
  std::stable_sort(out.choices.begin(), out.choices.end(),
                   [](const ChoiceDifference& x, const ChoiceDifference& y) { return std::abs(std::log(x.share.factor)) > std::abs(std::log(y.share.factor)); });
  return {};
}

}  // namespace

Expected<WhyFaster> why_faster(const records::Task& task, const records::Candidate& first, const records::Candidate& second, const TimeOfPoint& time_of,
                               const WhyOptions& options) {
  WhyFaster result;
  TW_TRY(result.first_s, time_of(first));
  TW_TRY(result.second_s, time_of(second));
  if (const auto divided = add_choices(task, first, second, time_of, options, result); !divided) {
    if (divided.error().code == ErrorCode::cancelled || divided.error().code == ErrorCode::invalid_argument) return divided.error();
    result.undivided = divided.error().text();
  }
  const auto of_first = lines_of(task, first), of_second = lines_of(task, second);
  result.only_first = without(of_first, of_second), result.only_second = without(of_second, of_first);
  const Facts x = facts_of(task, first, options.stop), y = facts_of(task, second, options.stop);
  for (const auto& [name, number] : x)
    if (const auto found = std::find_if(y.begin(), y.end(), [&, n = name](const auto& f) { return f.first == n; }); found != y.end() && found->second != number)
      result.facts.push_back({name, number, found->second});
  const auto apart = [](const FactDifference& f) { return f.first > 0 && f.second > 0 ? std::abs(std::log(f.second / f.first)) : HUGE_VAL; };
  std::stable_sort(result.facts.begin(), result.facts.end(), [&](const FactDifference& p, const FactDifference& q) { return apart(p) > apart(q); });
  if (options.count) TW_CHECK(add_counts(first, second, options, result));
  if (task.dag) add_features(task, first, second, result);
  return result;
}

}  // namespace tw::api
