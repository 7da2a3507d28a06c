// SPDX-License-Identifier: Apache-2.0
#include "db/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/json.h"
#include "engine/base/paired_ratio.h"
#include "engine/base/rank_tests.h"

namespace tw::db {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::string without_seed(const SessionRow& row) {
  Json options = row.options;
  if (options.is_object()) options.erase("seed"), options.erase("race");
  return row.tuner + "\n" + row.target + "\n" + dump_json(options);
}

std::vector<double> bests_of(const SessionGroup& group, std::span<const ComparedSession> sessions, int64_t task) {
  std::vector<double> times;
  for (const int s : group.sessions) {
    const ComparedSession& session = sessions[static_cast<size_t>(s)];
    const auto at = session.best.find(task);
    if (at != session.best.end() && !session.unsearched.contains(task)) times.push_back(at->second);
  }
  return times;
}

/// By seed: the best time of the first session that has one.
std::map<int64_t, double> by_seed(const SessionGroup& group, std::span<const ComparedSession> sessions, int64_t task) {
  std::map<int64_t, double> bests;
  for (const int s : group.sessions) {
    const ComparedSession& session = sessions[static_cast<size_t>(s)];
    const auto at = session.best.find(task);
    if (at != session.best.end() && !session.unsearched.contains(task) && std::isfinite(at->second) && session.row.options.is_object() && session.row.options.contains("seed"))
      bests.emplace(session.row.options["seed"].get<int64_t>(), at->second);
  }
  return bests;
}

void correct(std::vector<Verdict>& all) {
  std::vector<double> p;
  for (const Verdict& v : all)
    if (v.decided) p.push_back(v.p);
  const std::vector<double> adjusted = holm(p);
  size_t next = 0;
  for (Verdict& v : all)
    if (v.decided) v.p = adjusted[next++];
  // The strictest level of Holm's, since which verdict it will be is not known.
  const double level = kVerdictLevel / static_cast<double>(std::max<size_t>(1, all.size()));
  for (Verdict& v : all)
    if (!v.more_than_chance()) v.sessions_to_settle = samples_to_settle(v.a12, level, kMostSessions);
}

std::string probability(double p) { return p < 0.001 ? "p < 0.001" : fmt::format("p = {:.3f}", p); }

std::string settle_text(const Verdict& v) {
  if (!v.sessions_to_settle) return fmt::format("Not even {} sessions of each would be likely to settle it", kMostSessions);
  // Those that are there did not do it.
  const int more = std::max(1, *v.sessions_to_settle - std::min(v.count_a, v.count_b));
  return fmt::format("If the difference is as it looks, {} more seed{} of each would settle it", more, more == 1 ? "" : "s");
}

GroupProgress::Reached reached(const SessionCurve& curve, double seconds) {
  for (const SessionCurve::Step& s : curve.steps)
    if (s.seconds <= seconds) return {s.trial, s.elapsed_s};
  return {};
}

double area(const SessionCurve& curve, double known, int64_t trials) {
  double sum = 0;
  for (size_t i = 0; i < curve.steps.size(); ++i) {
    const double from = curve.steps[i].trial, to = i + 1 < curve.steps.size() ? curve.steps[i + 1].trial : static_cast<double>(trials) + 1;
    sum += std::max(0.0, std::min(to, static_cast<double>(trials) + 1) - from) * known / curve.steps[i].seconds;
  }
  return trials > 0 ? sum / static_cast<double>(trials) : 0;
}

}  // namespace

void ComparedSession::note(const BestRow& row) {
  best[row.task.value] = row.best_s;
  if (row.searched == 0) unsearched.insert(row.task.value);
}

double median_or_never(std::vector<double> values) { return values.empty() ? kNever : median_of(std::move(values)); }

std::vector<SessionGroup> group_sessions(std::span<const ComparedSession> sessions) {
  std::vector<SessionGroup> groups;
  std::vector<std::string> keys;
  for (size_t i = 0; i < sessions.size(); ++i) {
    const std::string key = without_seed(sessions[i].row);
    const auto at = static_cast<size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
    if (at == keys.size()) {
      keys.push_back(key);
      groups.push_back({sessions[i].row.tuner, {}});
    }
    groups[at].sessions.push_back(static_cast<int>(i));
  }
  // The same tuner with other options is told apart by its first session.
  std::map<std::string, int> named;
  for (const SessionGroup& g : groups) ++named[g.name];
  for (SessionGroup& g : groups)
    if (named[g.name] > 1) g.name += fmt::format(" (as in session {})", sessions[static_cast<size_t>(g.sessions[0])].row.id.value);
  return groups;
}

std::vector<Verdict> verdicts(std::span<const ComparedSession> sessions, std::span<const ComparedTask> tasks) {
  const std::vector<SessionGroup> groups = group_sessions(sessions);
  std::vector<Verdict> all;
  for (const ComparedTask& task : tasks) {
    for (size_t i = 0; i < groups.size(); ++i) {
      for (size_t j = i + 1; j < groups.size(); ++j) {
        const std::vector<double> a = bests_of(groups[i], sessions, task.id), b = bests_of(groups[j], sessions, task.id);
        if (a.empty() || b.empty()) continue;
        Verdict v{.a = groups[i].name, .b = groups[j].name, .task = task.name};
        v.count_a = static_cast<int>(a.size()), v.count_b = static_cast<int>(b.size());
        v.median_a = median_or_never(a), v.median_b = median_or_never(b);
        v.decided = std::min(v.count_a, v.count_b) >= kSessionsForVerdict;
        v.p = mann_whitney(a, b).p;
        v.a12 = vargha_delaney(b, a);
        all.push_back(std::move(v));
      }
    }
  }
  correct(all);
  return all;
}

std::vector<Overall> overall(std::span<const ComparedSession> sessions, std::span<const ComparedTask> tasks) {
  const std::vector<SessionGroup> groups = group_sessions(sessions);
  std::vector<Overall> all;
  for (size_t i = 0; i < groups.size(); ++i) {
    for (size_t j = i + 1; j < groups.size(); ++j) {
      Overall o{.a = groups[i].name, .b = groups[j].name};
      std::vector<double> differences;
      for (const ComparedTask& task : tasks) {
        const auto a = by_seed(groups[i], sessions, task.id), b = by_seed(groups[j], sessions, task.id);
        const size_t before = differences.size();
        for (const auto& [seed, seconds] : a)
          if (const auto other = b.find(seed); other != b.end()) differences.push_back(std::log(other->second / seconds));
        o.tasks += differences.size() > before;
      }
      if (differences.empty()) continue;
      o.pairs = static_cast<int>(differences.size());
      o.ratio = std::exp(std::accumulate(differences.begin(), differences.end(), 0.0) / static_cast<double>(o.pairs));
      o.p = paired_permutation(differences);
      all.push_back(std::move(o));
    }
  }
  std::vector<double> p;
  for (const Overall& o : all) p.push_back(o.p);
  const std::vector<double> adjusted = holm(p);
  for (size_t i = 0; i < all.size(); ++i) all[i].p = adjusted[i];
  return all;
}

std::string verdict_text(const Verdict& v, const TimeText& time) {
  const bool a_faster = v.median_a <= v.median_b;
  const std::string &faster = a_faster ? v.a : v.b, &slower = a_faster ? v.b : v.a;
  const double fast = std::min(v.median_a, v.median_b), slow = std::max(v.median_a, v.median_b);
  if (!v.decided)
    return fmt::format("{}: In these {}sessions {} found {} and {} {} ({:.2f}\u00d7). A verdict on the tuners needs {} sessions of each with other seeds.", v.task,
                       v.count_a == 1 && v.count_b == 1 ? "two " : "", faster, time(fast), slower, time(slow), slow / fast, kSessionsForVerdict);
  const std::string numbers = fmt::format("{} after Holm's correction, A12 = {:.2f}, {} against {} sessions", probability(v.p), a_faster ? v.a12 : 1 - v.a12,
                                          a_faster ? v.count_a : v.count_b, a_faster ? v.count_b : v.count_a);
  if (v.more_than_chance()) return fmt::format("{}: {} ends faster than {}, in the median {} against {} ({}).", v.task, faster, slower, time(fast), time(slow), numbers);
  return fmt::format("{}: no evidence that {} and {} differ, in the median {} and {} ({}). {}.", v.task, faster, slower, time(fast), time(slow), numbers, settle_text(v));
}

std::string overall_text(const Overall& o) {
  const bool a_faster = o.ratio >= 1;
  return fmt::format("Over {} task{} and {} pair{} of one seed: {} ends {:.3f}\u00d7 as fast as {} ({}, paired permutation after Holm's correction{}).", o.tasks, o.tasks == 1 ? "" : "s",
                     o.pairs, o.pairs == 1 ? "" : "s", a_faster ? o.a : o.b, a_faster ? o.ratio : 1 / o.ratio, a_faster ? o.b : o.a, probability(o.p),
                     o.p < kVerdictLevel ? "" : "; that may be chance");
}

std::string nothing_to_search_text(std::span<const ComparedSession> sessions, std::span<const ComparedTask> tasks) {
  std::vector<std::string> names;  // of the groups, with the tasks that each could not search
  std::vector<std::vector<std::string>> without;
  for (const SessionGroup& group : group_sessions(sessions)) {
    std::vector<std::string> here;
    for (const ComparedTask& task : tasks) {
      const auto searched = [&](const ComparedSession& s) { return s.best.contains(task.id) && !s.unsearched.contains(task.id); };
      const auto idle = [&](int s) { return sessions[static_cast<size_t>(s)].unsearched.contains(task.id) && sessions[static_cast<size_t>(s)].row.state == "done"; };
      if (std::any_of(sessions.begin(), sessions.end(), searched) && std::all_of(group.sessions.begin(), group.sessions.end(), idle)) here.push_back(task.name);
    }
    if (here.empty()) continue;
    names.push_back(group.name), without.push_back(std::move(here));
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::find(without.begin(), without.begin() + static_cast<std::ptrdiff_t>(i), without[i]) != without.begin() + static_cast<std::ptrdiff_t>(i)) continue;  // said already
    std::vector<std::string> alike;
    for (size_t j = i; j < names.size(); ++j)
      if (without[j] == without[i]) alike.push_back(names[j]);
    const std::string last = alike.back();
    alike.pop_back();
    text += fmt::format("{}{}{}{} had nothing to search on {}.", text.empty() ? "" : " ", fmt::join(alike, ", "), alike.empty() ? "" : " and ", last,
                        without[i].size() == 1 ? without[i].front() : fmt::format("{} of {} tasks", without[i].size(), tasks.size()));
  }
  return text;
}

std::string winner_text(std::span<const ComparedSession> sessions, std::span<const ComparedTask> tasks, const TimeText& time) {
  const std::string idle = nothing_to_search_text(sessions, tasks);
  const std::string ends = idle.empty() ? "." : ". " + idle;
  const std::vector<Verdict> all = verdicts(sessions, tasks);
  if (all.empty()) return idle;
  // A tuner wins a task if no other has a lesser median there; it is sure if every verdict against another says so.
  std::map<std::string, int> wins;
  int asked = 0;
  std::string only;
  for (const ComparedTask& task : tasks) {
    const std::vector<GroupRow> rows = group_rows(sessions, task.id);
    if (rows.size() < 2) continue;
    ++asked;
    ++wins[rows.front().name];
    only = task.name;
  }
  if (asked == 0) return idle;
  const auto winner = std::max_element(wins.begin(), wins.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  int sure = 0, against = 0, undecided = 0;
  double least = kNever, runner_up = kNever;
  for (const Verdict& v : all) {
    if (v.a != winner->first && v.b != winner->first) continue;
    const bool ahead = (v.a == winner->first) == (v.median_a <= v.median_b);
    ++against;
    if (!v.decided) ++undecided;
    if (ahead && v.more_than_chance()) ++sure;
    least = v.a == winner->first ? v.median_a : v.median_b;
    runner_up = std::min(runner_up, v.a == winner->first ? v.median_b : v.median_a);
  }
  std::string text = asked == 1 ? fmt::format("{} is ahead on {}: median {}, the next one {}", winner->first, only, time(least), time(runner_up))
                                : fmt::format("{} has the least median on {} of {} tasks", winner->first, winner->second, asked);
  if (undecided == against) return text + fmt::format("; a verdict needs {} sessions of each with other seeds", kSessionsForVerdict) + ends;
  if (sure == against) return text + "; surely, against every other" + ends;
  if (sure == 0) return text + "; no difference is more than chance" + ends;
  return text + fmt::format("; {} of {} differences are more than chance", sure, against) + ends;
}

std::vector<GroupRow> group_rows(std::span<const ComparedSession> sessions, int64_t task) {
  std::vector<GroupRow> rows;
  for (const SessionGroup& group : group_sessions(sessions)) {
    const std::vector<double> bests = bests_of(group, sessions, task);
    if (bests.empty()) continue;
    rows.push_back({group.name, static_cast<int>(bests.size()), median_or_never(bests)});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const GroupRow& a, const GroupRow& b) { return a.median_s < b.median_s; });
  return rows;
}

SessionCurve curve_of(std::span<const TrialOutcome> trials) {
  SessionCurve curve;
  for (const TrialOutcome& t : trials) {
    ++curve.trials;
    curve.failures += t.status != records::Status::ok;
    curve.build_s += t.build_s, curve.run_s += t.run_s;
    if (t.status != records::Status::ok || t.censored || !std::isfinite(t.seconds)) continue;
    if (curve.steps.empty() || t.seconds < curve.steps.back().seconds)
      curve.steps.push_back({static_cast<double>(curve.trials), t.work_clock_s() - trials.front().work_clock_s(), t.seconds});
  }
  return curve;
}

std::vector<GroupProgress> progress(std::span<const GroupCurves> groups) {
  double known = kNever;
  int64_t common = std::numeric_limits<int64_t>::max();  // trials that every session has; one alone is the default schedule's
  for (const GroupCurves& g : groups)
    for (const SessionCurve& c : g.sessions) {
      if (c.trials == 0) continue;
      if (c.trials > 1) common = std::min(common, c.trials);
      if (!c.steps.empty()) known = std::min(known, c.steps.back().seconds);
    }
  if (common == std::numeric_limits<int64_t>::max()) common = 1;
  std::vector<GroupProgress> rows;
  for (const GroupCurves& g : groups) {
    GroupProgress row{.name = g.name};
    std::vector<double> bests, areas;
    std::array<std::vector<double>, kShares.size()> trials, seconds;
    for (const SessionCurve& c : g.sessions) {
      if (c.trials == 0) continue;
      ++row.sessions;
      bests.push_back(c.steps.empty() ? kNever : c.steps.back().seconds);
      areas.push_back(area(c, known, common));
      for (size_t k = 0; k < kShares.size(); ++k) {
        const GroupProgress::Reached r = reached(c, known / kShares[k]);
        trials[k].push_back(r.trials), seconds[k].push_back(r.seconds);
      }
      row.trials += c.trials, row.failures += c.failures, row.build_s += c.build_s, row.run_s += c.run_s;
    }
    if (row.sessions == 0) continue;
    row.best_s = *std::min_element(bests.begin(), bests.end());
    row.median_s = median_or_never(bests);
    row.area = median_or_never(areas);
    for (size_t k = 0; k < kShares.size(); ++k) row.reached[k] = {median_or_never(trials[k]), median_or_never(seconds[k])};
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const GroupProgress& a, const GroupProgress& b) { return a.median_s < b.median_s; });
  return rows;
}

}  // namespace tw::db
