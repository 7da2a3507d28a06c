// SPDX-License-Identifier: Apache-2.0
#include "app/logs/comparison_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/logs/curve_svg.h"
#include "app/logs/page.h"
#include "engine/base/curve_band.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::logs {
namespace {

std::string shown_share(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string shown_trials(double trials) { return std::isfinite(trials) ? fmt::format("{:.0f}", trials) : "-"; }
/// Searches in a recorded space take milliseconds.
std::string shown_seconds(double seconds, const db::TimeText& time) { return !std::isfinite(seconds) ? "-" : seconds < 1 ? time(seconds) : fmt::format("{:.1f} s", seconds); }

/// As the session's options have it; empty where they do not.
std::string seed_of(const db::SessionRow& row) { return row.options.is_object() && row.options.contains("seed") ? dump_json(row.options["seed"]) : ""; }

}  // namespace

std::string race_of(const db::SessionRow& row) { return row.options.is_object() ? row.options.value("race", "") : ""; }

std::string keep_comparable(std::vector<db::SessionRow>& rows) {
  std::map<std::pair<db::TimeKind, std::string>, size_t> counts;
  for (const db::SessionRow& row : rows) ++counts[{row.kind, row.target}];
  if (counts.size() < 2) return "";
  const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto [kind, target] = most->first;
  const size_t all = rows.size();
  std::erase_if(rows, [&](const db::SessionRow& row) { return row.kind != kind || row.target != target; });
  return fmt::format("{} sessions with {} times for {}; {} with others are left out", rows.size(), db::time_kind_name(kind), printable(target), all - rows.size());
}

std::vector<db::ComparedTask> SessionComparison::compared() const {
  std::vector<db::ComparedTask> all;
  for (const Task& t : tasks) all.push_back(t.task);
  return all;
}

Expected<SessionComparison> compare_sessions(db::Database& db, std::vector<db::SessionRow> rows, StopToken stop) {
  SessionComparison c;
  std::vector<SessionId> ids;
  for (db::SessionRow& row : rows) {
    ids.push_back(row.id);
    c.kind = row.kind, c.target = row.target;
    c.sessions.push_back({fmt::format("session {}", row.id.value), std::move(row), {}});
  }
  TW_TRY(const auto bests, db.bests(ids));
  std::map<int64_t, bool> tried;
  for (const db::BestRow& best : bests) {
    tried[best.task.value] = true;
    for (db::ComparedSession& s : c.sessions)
      if (s.row.id == best.session) s.note(best);
  }
  TW_TRY(const auto tasks, db.tasks());
  std::map<std::string, int> names;
  for (const db::TaskRow& t : tasks)
    if (tried.contains(t.id.value)) ++names[t.name];
  const auto groups = db::group_sessions(c.sessions);
  for (const db::TaskRow& t : tasks) {
    if (!tried.contains(t.id.value)) continue;
    // Tasks of one name are told apart by their keys.
    SessionComparison::Task task{.task = {t.id.value, names[t.name] > 1 ? fmt::format("{} ({})", t.name, t.key.substr(0, 8)) : t.name}, .groups = {}, .progress = {}};
    for (const db::SessionGroup& g : groups) {
      db::GroupCurves& curves = task.groups.emplace_back(db::GroupCurves{g.name, {}});
      for (const int s : g.sessions) {
        if (stop.stop_requested()) return Error(ErrorCode::cancelled, "The comparison was cancelled");
        TW_TRY(const auto outcomes, db.outcomes(c.sessions[static_cast<size_t>(s)].row.id, t.id, 0, -1));
        curves.sessions.push_back(db::curve_of(outcomes));
      }
    }
    std::erase_if(task.groups, [](const db::GroupCurves& g) { return std::all_of(g.sessions.begin(), g.sessions.end(), [](const auto& s) { return s.trials == 0; }); });
    task.progress = db::progress(task.groups);
    c.tasks.push_back(std::move(task));
  }
  return c;
}

std::vector<std::string> comparison_sentences(const SessionComparison& c, const db::TimeText& time) {
  std::vector<std::string> all;
  const auto tasks = c.compared();
  if (c.kind != db::TimeKind::measured) all.push_back(fmt::format("The times are {}, not measured.", db::time_kind_name(c.kind)));
  if (const std::string winner = db::winner_text(c.sessions, tasks, time); !winner.empty())
    all.push_back(winner);
  else
    all.emplace_back("The sessions have no task in common, or differ in their seed alone.");
  if (tasks.size() > 1)
    for (const db::Overall& o : db::overall(c.sessions, tasks)) all.push_back(db::overall_text(o));
  // Of tens of pairs that chance explains, the one that is nearest to a verdict.
  const std::vector<db::Verdict> verdicts = db::verdicts(c.sessions, tasks);
  const db::Verdict* nearest = nullptr;
  int open = 0;
  for (const db::Verdict& v : verdicts) {
    if (v.more_than_chance()) {
      all.push_back(db::verdict_text(v, time));
      continue;
    }
    ++open;
    if (nearest == nullptr || v.sessions_to_settle.value_or(db::kMostSessions + 1) < nearest->sessions_to_settle.value_or(db::kMostSessions + 1)) nearest = &v;
  }
  if (nearest != nullptr) all.push_back(db::verdict_text(*nearest, time));
  if (open > 1) all.push_back(fmt::format("{} more pairs of tuners on a task show nothing that is more than chance.", open - 1));
  return all;
}

std::vector<std::vector<std::string>> progress_cells(const std::vector<db::GroupProgress>& rows, const db::TimeText& time) {
  std::vector<std::vector<std::string>> out;
  std::vector<std::string>& titles = out.emplace_back(std::vector<std::string>{"tuner", ">sessions", ">median", ">best"});
  for (const double share : db::kShares) titles.push_back(fmt::format(">trials to {}", shown_share(share))), titles.push_back(fmt::format(">time to {}", shown_share(share)));
  for (const char* title : {">area", ">trials", ">failed"}) titles.emplace_back(title);
  for (const db::GroupProgress& r : rows) {
    std::vector<std::string> cells = {r.name, std::to_string(r.sessions), time(r.median_s), time(r.best_s)};
    for (const auto& reached : r.reached) cells.push_back(shown_trials(reached.trials)), cells.push_back(shown_seconds(reached.seconds, time));
    cells.push_back(fmt::format("{:.3f}", r.area));
    cells.push_back(std::to_string(r.trials));
    cells.push_back(fmt::format("{:.1f} %", r.trials > 0 ? 100 * static_cast<double>(r.failures) / static_cast<double>(r.trials) : 0));
    out.push_back(std::move(cells));
  }
  return out;
}

std::string comparison_svg(const SessionComparison& c) {
  std::vector<CurveChart> charts;
  for (const SessionComparison::Task& t : c.tasks) {
    CurveChart& chart = charts.emplace_back(CurveChart{t.task.name, "trials", {}});
    for (const db::GroupCurves& g : t.groups) {
      std::vector<StepCurve> curves;
      for (const db::SessionCurve& s : g.sessions) {
        if (s.steps.empty()) continue;  // it found nothing
        StepCurve& curve = curves.emplace_back();
        for (const auto& step : s.steps) curve.push_back({step.trial, step.seconds});
        curve.push_back({static_cast<double>(s.trials), s.steps.back().seconds});
      }
      chart.series.push_back({g.name, band_of(curves)});
    }
  }
  return curves_svg(charts);
}

std::string comparison_page(const SessionComparison& c) {
  std::set<std::string> races;
  for (const db::ComparedSession& s : c.sessions) races.insert(race_of(s.row));
  const bool is_race = races.size() == 1 && !races.begin()->empty();
  std::string out = page_head(is_race ? fmt::format("Race of tuners: {}", *races.begin()) : "Comparison of tuners");
  for (const std::string& s : comparison_sentences(c, page_time)) out += fmt::format("<p>{}</p>\n", markup_text(s));
  for (const SessionComparison::Task& t : c.tasks) {
    out += fmt::format("<h2>{}</h2>\n<table class=\"numbers\">\n", markup_text(t.task.name));
    const char* tag = "th";
    for (const std::vector<std::string>& row : progress_cells(t.progress, page_time)) {
      std::vector<std::string> cells;
      for (const std::string& cell : row) cells.push_back(markup_text(cell.starts_with('>') ? cell.substr(1) : cell));
      out += page_row(cells, tag);
      tag = "td";
    }
    out += "</table>\n";
  }
  out += fmt::format("<p>{}</p>\n{}<h2>Sessions</h2>\n<p>Target: <code>{}</code></p>\n<table class=\"numbers\">\n", markup_text(kProgressNote), comparison_svg(c), markup_text(c.target));
  out += page_row({"Session", "Tuner", "Seed", "Trials", "State", "Program"}, "th");
  for (const db::ComparedSession& s : c.sessions)
    out += page_row({std::to_string(s.row.id.value), markup_text(s.row.tuner), markup_text(seed_of(s.row)), std::to_string(s.row.trials), markup_text(s.row.state), markup_text(s.row.code_version)});
  return out + "</table>\n" + page_end();
}

}  // namespace tw::logs
