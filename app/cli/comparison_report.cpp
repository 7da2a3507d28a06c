// SPDX-License-Identifier: Apache-2.0
#include "app/cli/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/table.h"
#include "app/logs/page.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

const FileKind kMarkdown{"a comparison", [](std::string_view beginning) { return beginning.starts_with("# Comparison"); }};
const FileKind kCsv{"a comparison", [](std::string_view beginning) { return beginning.starts_with("task,tuner,"); }};
const FileKind kSvg{"a picture", [](std::string_view beginning) { return beginning.starts_with("<svg"); }};

using logs::SessionComparison;

Table progress_table(const std::vector<db::GroupProgress>& rows) {
  auto cells = logs::progress_cells(rows, time_text);
  Table table(std::move(cells.front()));
  for (size_t i = 1; i < cells.size(); ++i) table.row(std::move(cells[i]));
  return table;
}

std::string text(const SessionComparison& c) {
  std::string out;
  for (const SessionComparison::Task& t : c.tasks) out += fmt::format("{}\n{}\n", printable(t.task.name), progress_table(t.progress).text());
  out += std::string(logs::kProgressNote) + "\n\n";
  for (const std::string& s : logs::comparison_sentences(c, time_text)) out += s + "\n";
  return out;
}

std::string markdown(const SessionComparison& c) {
  std::string out = "# Comparison of tuners\n\n";
  for (const std::string& s : logs::comparison_sentences(c, time_text)) out += s + "\n\n";
  for (const SessionComparison::Task& t : c.tasks) out += fmt::format("## {}\n\n{}\n", printable(t.task.name), progress_table(t.progress).markdown());
  return out + logs::kProgressNote + "\n";
}

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
  sub.option("--html", files.html, "Also write a page with all of it that needs no other file").output(logs::kWebPage);
  sub.flag("--json", files.json, "One JSON document on standard output");
}

int report_comparison(const SessionComparison& c, const ComparisonFiles& files) {
  const std::pair<const std::string&, std::pair<const FileKind&, std::string (*)(const SessionComparison&)>> outputs[] = {
      {files.markdown, {kMarkdown, markdown}}, {files.csv, {kCsv, csv}}, {files.svg, {kSvg, logs::comparison_svg}}, {files.html, {logs::kWebPage, logs::comparison_page}}};
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
