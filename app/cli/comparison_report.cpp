// SPDX-License-Identifier: Apache-2.0
#include "app/cli/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/curve_svg.h"
#include "app/cli/table.h"
#include "app/logs/page.h"
#include "engine/base/curve_band.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

const FileKind kMarkdown{"a comparison", [](std::string_view beginning) { return beginning.starts_with("# Comparison"); }};
const FileKind kCsv{"a comparison", [](std::string_view beginning) { return beginning.starts_with("task,tuner,"); }};
const FileKind kSvg{"a picture", [](std::string_view beginning) { return beginning.starts_with("<svg"); }};
const FileKind kHtml{"a page", [](std::string_view beginning) { return beginning.starts_with("<!doctype html>"); }};

std::string share_text(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string trials_text(double trials) { return std::isfinite(trials) ? fmt::format("{:.0f}", trials) : "-"; }
std::string seconds_text(double seconds) { return std::isfinite(seconds) ? fmt::format("{:.1f} s", seconds) : "-"; }

Table progress_table(const std::vector<db::GroupProgress>& rows) {
  std::vector<std::string> titles = {"tuner", ">sessions", ">median", ">best"};
  for (const double share : db::kShares) titles.push_back(fmt::format(">trials to {}", share_text(share))), titles.push_back(fmt::format(">time to {}", share_text(share)));
  for (const char* title : {">area", ">trials", ">failed"}) titles.emplace_back(title);
  Table table(std::move(titles));
  for (const db::GroupProgress& r : rows) {
    std::vector<std::string> cells = {r.name, std::to_string(r.sessions), time_text(r.median_s), time_text(r.best_s)};
    for (const auto& reached : r.reached) cells.push_back(trials_text(reached.trials)), cells.push_back(seconds_text(reached.seconds));
    cells.push_back(fmt::format("{:.3f}", r.area));
    cells.push_back(std::to_string(r.trials));
    cells.push_back(fmt::format("{:.1f} %", r.trials > 0 ? 100 * static_cast<double>(r.failures) / static_cast<double>(r.trials) : 0));
    table.row(std::move(cells));
  }
  return table;
}

/// What is said of all of it, a sentence a line.
std::vector<std::string> sentences(const SessionComparison& c) {
  std::vector<std::string> all;
  const auto tasks = c.compared();
  if (c.kind != db::TimeKind::measured) all.push_back(fmt::format("The times are {}, not measured.", db::time_kind_name(c.kind)));
  if (const std::string winner = db::winner_text(c.sessions, tasks, time_text); !winner.empty())
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
      all.push_back(db::verdict_text(v, time_text));
      continue;
    }
    ++open;
    if (nearest == nullptr || v.sessions_to_settle.value_or(db::kMostSessions + 1) < nearest->sessions_to_settle.value_or(db::kMostSessions + 1)) nearest = &v;
  }
  if (nearest != nullptr) all.push_back(db::verdict_text(*nearest, time_text));
  if (open > 1) all.push_back(fmt::format("{} more pairs of tuners on a task show nothing that is more than chance.", open - 1));
  return all;
}

constexpr const char* kAreaNote =
    "Trials and time are medians of what it took to come to a share of the best known speed; area: mean over the trials of best known time / best so far, 1 at most.";

std::string text(const SessionComparison& c) {
  std::string out;
  for (const SessionComparison::Task& t : c.tasks) out += fmt::format("{}\n{}\n", printable(t.task.name), progress_table(t.progress).text());
  out += std::string(kAreaNote) + "\n\n";
  for (const std::string& s : sentences(c)) out += s + "\n";
  return out;
}

std::string markdown(const SessionComparison& c) {
  std::string out = "# Comparison of tuners\n\n";
  for (const std::string& s : sentences(c)) out += s + "\n\n";
  for (const SessionComparison::Task& t : c.tasks) out += fmt::format("## {}\n\n{}\n", printable(t.task.name), progress_table(t.progress).markdown());
  return out + kAreaNote + "\n";
}

/// Quotes where RFC 4180 asks for them.
std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char ch : cell) out += ch == '"' ? std::string("\"\"") : std::string(1, ch);
  return out + "\"";
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

std::string csv(const SessionComparison& c) {
  std::string out = "task,tuner,sessions,median_s,best_s";
  for (const double share : db::kShares) out += fmt::format(",trials_to_{0:.0f},seconds_to_{0:.0f}", 100 * share);
  out += ",area,trials,failures,build_s,run_s\n";
  for (const SessionComparison::Task& t : c.tasks)
    for (const db::GroupProgress& r : t.progress) {
      out += fmt::format("{},{},{},{},{}", csv_cell(t.task.name), csv_cell(r.name), r.sessions, csv_number(r.median_s), csv_number(r.best_s));
      for (const auto& reached : r.reached) out += fmt::format(",{},{}", csv_number(reached.trials), csv_number(reached.seconds));
      out += fmt::format(",{},{},{},{},{}\n", csv_number(r.area), r.trials, r.failures, csv_number(r.build_s), csv_number(r.run_s));
    }
  return out;
}

std::string svg(const SessionComparison& c) {
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

std::string html(const SessionComparison& c) {
  std::string out = logs::page_head("Comparison of tuners");
  for (const std::string& s : sentences(c)) out += fmt::format("<p>{}</p>\n", logs::markup_text(s));
  for (const SessionComparison::Task& t : c.tasks) {
    out += fmt::format("<h2>{}</h2>\n<table class=\"numbers\">\n", logs::markup_text(t.task.name));
    const char* tag = "th";
    const Table table = progress_table(t.progress);
    for (const std::vector<std::string>& row : table.rows()) {
      std::vector<std::string> cells;
      for (const std::string& cell : row) cells.push_back(logs::markup_text(cell));
      out += logs::page_row(cells, tag);
      tag = "td";
    }
    out += "</table>\n";
  }
  return out + fmt::format("<p>{}</p>\n{}", logs::markup_text(kAreaNote), svg(c)) + logs::page_end();
}

Json document(const SessionComparison& c) {
  Json tasks = Json::array();
  for (const SessionComparison::Task& t : c.tasks) {
    Json groups = Json::array();
    for (const db::GroupProgress& r : t.progress) {
      Json reached = Json::array();
      for (size_t k = 0; k < db::kShares.size(); ++k)
        reached.push_back({{"share", db::kShares[k]}, {"trials", json_number(r.reached[k].trials)}, {"seconds", json_number(r.reached[k].seconds)}});
      groups.push_back({{"tuner", r.name},
                        {"sessions", r.sessions},
                        {"median_s", json_number(r.median_s)},
                        {"best_s", json_number(r.best_s)},
                        {"reached", reached},
                        {"area", json_number(r.area)},
                        {"trials", r.trials},
                        {"failures", r.failures},
                        {"build_s", r.build_s},
                        {"run_s", r.run_s}});
    }
    tasks.push_back({{"task", t.task.name}, {"groups", groups}});
  }
  const auto compared = c.compared();
  Json verdicts = Json::array(), overall = Json::array(), ids = Json::array();
  for (const db::Verdict& v : db::verdicts(c.sessions, compared))
    verdicts.push_back({{"task", v.task},
                        {"a", v.a},
                        {"b", v.b},
                        {"sessions_a", v.count_a},
                        {"sessions_b", v.count_b},
                        {"median_a_s", json_number(v.median_a)},
                        {"median_b_s", json_number(v.median_b)},
                        {"decided", v.decided},
                        {"p", v.p},
                        {"a12", v.a12},
                        {"sessions_to_settle", v.sessions_to_settle ? Json(*v.sessions_to_settle) : Json()}});
  for (const db::Overall& o : db::overall(c.sessions, compared))
    overall.push_back({{"a", o.a}, {"b", o.b}, {"tasks", o.tasks}, {"pairs", o.pairs}, {"ratio", o.ratio}, {"p", o.p}});
  for (const db::ComparedSession& s : c.sessions) ids.push_back(s.row.id.value);
  return {{"times", db::time_kind_name(c.kind)}, {"sessions", ids},     {"winner", db::winner_text(c.sessions, compared, time_text)},
          {"tasks", tasks},                      {"verdicts", verdicts}, {"overall", overall}};
}

}  // namespace

void add_comparison_files(Subcommand sub, ComparisonFiles& files) {
  sub.option("--markdown", files.markdown, "Also write it as Markdown").output(kMarkdown);
  sub.option("--csv", files.csv, "Also write the tables as comma-separated values, times in seconds").output(kCsv);
  sub.option("--svg", files.svg, "Also write the curves as a picture: medians of the best so far with the middle half as a band").output(kSvg);
  sub.option("--html", files.html, "Also write a page with all of it that needs no other file").output(kHtml);
  sub.flag("--json", files.json, "One JSON document on standard output");
}

std::string race_of(const db::SessionRow& row) { return row.options.is_object() ? row.options.value("race", "") : ""; }

std::vector<db::ComparedTask> SessionComparison::compared() const {
  std::vector<db::ComparedTask> all;
  for (const Task& t : tasks) all.push_back(t.task);
  return all;
}

Expected<SessionComparison> compare_sessions(db::Database& db, std::vector<db::SessionRow> rows) {
  SessionComparison c;
  std::vector<SessionId> ids;
  for (db::SessionRow& row : rows) {
    ids.push_back(row.id);
    c.kind = row.kind;
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

int report_comparison(const SessionComparison& c, const ComparisonFiles& files) {
  const std::pair<const std::string&, std::pair<const FileKind&, std::string (*)(const SessionComparison&)>> outputs[] = {
      {files.markdown, {kMarkdown, markdown}}, {files.csv, {kCsv, csv}}, {files.svg, {kSvg, svg}}, {files.html, {kHtml, html}}};
  if (files.json)
    print_json(document(c));
  else
    put(text(c));
  for (const auto& [path, output] : outputs)
    if (!path.empty())
      if (auto written = write_file(path, output.first, output.second(c)); !written) return fail(written.error());
  return kDone;
}

}  // namespace tw::cli
