// SPDX-License-Identifier: Apache-2.0
// `tw campaign`: how operators' speed follows from their resources, as a file says. A campaign that was stopped goes on where it was.
#include <algorithm>
#include <optional>
#include <thread>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/host.h"
#include "app/cli/progress.h"
#include "app/cli/session_monitor.h"
#include "app/cli/table.h"
#include "app/cli/workspace.h"
#include "app/logs/campaign_page.h"
#include "app/logs/campaign_run.h"
#include "app/logs/campaign_text.h"
#include "app/logs/page.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

const FileKind kCampaignMarkdown{"a report of a campaign", [](std::string_view beginning) { return beginning.starts_with("# Campaign"); }};

const FileKind kCampaignCsv{"the tables of a campaign", [](std::string_view beginning) { return beginning.starts_with("operator,device,"); }};

struct CampaignArguments {
  std::string file, db, html, markdown, csv;
  bool json = false;
  measure::WorkerOptions workers;
};

/// Runs what is not done. Returns the exit code.
int run_cells(const logs::CampaignPlan& plan, const CampaignArguments& o, const std::shared_ptr<db::Database>& db) {
  outlive_terminal();
  std::optional<SessionMonitor> monitor;
  const logs::CampaignPlan::Cell* now = nullptr;
  logs::CampaignHooks hooks;
  hooks.cell = [&](size_t cell, bool is_done) {
    monitor.reset();
    now = &plan.cells[cell];
    note(fmt::format("Cell {} of {}: {}{}", cell + 1, plan.cells.size(), now->title(), is_done ? " is done" : ""));
  };
  hooks.begun = [&](const std::vector<api::NetworkTask>& tasks, int64_t there) {
    if (const std::string kind = kind_of_times(now->device); !kind.empty()) note(kind);
    if (there > 0) note(fmt::format("Going on: {} trials are there", there));
    monitor.emplace(tasks).start_at(there);
  };
  hooks.events = [&](const tune::Event& event) { (*monitor)(event); };
  hooks.host = host_with_peak;
  hooks.workers = o.workers, hooks.stop = stop_token();
  const auto done = logs::run_campaign(plan, db, hooks);
  monitor.reset();
  if (!done) return fail(done.error());
  if (*done) return kDone;
  note(fmt::format("Cancelled; every trial is in '{}', and the same command goes on", printable(db->path())));
  return kCancelled;
}

Table table_of_cells(std::vector<std::vector<std::string>> cells) {
  Table table(std::move(cells.front()));
  for (size_t i = 1; i < cells.size(); ++i) table.row(std::move(cells[i]));
  return table;
}

std::string campaign_text(const logs::Campaign& c, bool markdown) {
  const auto table = [&](std::vector<std::vector<std::string>> cells) { return markdown ? table_of_cells(std::move(cells)).markdown() : table_of_cells(std::move(cells)).text(); };
  std::string out = markdown ? fmt::format("# Campaign: {}\n\n", printable(c.name)) : "";
  for (const std::string& s : logs::campaign_sentences(c)) out += printable(s) + (markdown ? "\n\n" : "\n");
  for (const logs::CampaignSeries& s : c.series) {
    out += fmt::format("\n{}{} on {}\n\n{}\n", markdown ? "## " : "", printable(s.name), printable(s.device), table(logs::importance_cells(s)));
    for (size_t i = 0; i < s.table.resources.size(); ++i) out += table(logs::effect_cells(s, i)) + "\n";
  }
  out += std::string(logs::kCampaignNote) + "\n";
  for (const logs::CampaignStudy& s : c.studies)
    out += fmt::format("\n{}{}: what a cost model should be told\n\n{}\n{}\n{}\n", markdown ? "## " : "", printable(s.name), table(logs::worth_cells(s)), table(logs::left_out_cells(s)), logs::kStudyNote);
  return out;
}

/// A line for each value of each resource; speeds in FLOP/s, empty where nothing was measured.
std::string campaign_csv(const logs::Campaign& c) {
  std::string out = "operator,device,times,resource,value,mean,mean_low,mean_high,slice,slice_low,slice_high,measured_there,best,best_low,best_high,importance\n";
  const auto speed = [](double v) { return v > 0 ? csv_number(v) : std::string(); };
  for (const logs::CampaignSeries& s : c.series)
    for (size_t k = 0; k < s.table.resources.size(); ++k) {
      const cost::Resource& r = s.table.resources[k];
      const cost::ResourceEffect& e = s.effects.effects[k];
      for (size_t i = 0; i < r.labels.size(); ++i) {
        out += fmt::format("{},{},{},{},{}", csv_cell(s.name), csv_cell(s.device), db::time_kind_name(s.kind), csv_cell(r.name), csv_cell(r.labels[i]));
        for (const double v : {e.partial.middle[i], e.partial.low[i], e.partial.high[i], e.slice.middle[i], e.slice.low[i], e.slice.high[i], e.measured[i], e.best.middle[i], e.best.low[i], e.best.high[i]})
          out += "," + speed(v);
        out += fmt::format(",{}\n", csv_number(e.importance));
      }
    }
  return out;
}

int report_campaign(const logs::Campaign& c, const CampaignArguments& o) {
  if (o.json)
    print_json(logs::campaign_json(c));
  else
    put(campaign_text(c, false));
  if (!o.markdown.empty())
    if (auto written = write_file(o.markdown, kCampaignMarkdown, campaign_text(c, true)); !written) return fail(written.error());
  if (!o.csv.empty())
    if (auto written = write_file(o.csv, kCampaignCsv, campaign_csv(c)); !written) return fail(written.error());
  if (!o.html.empty())
    if (auto written = write_file(o.html, logs::kWebPage, logs::campaign_page(c)); !written) return fail(written.error());
  return kDone;
}

/// What the trials of a campaign say. Returns the exit code.
int analyse(db::Database& db, const std::string& name, const CampaignArguments& o) {
  const auto trials = logs::campaign_trials(db, name);
  if (!trials) return fail_input(trials.error());
  Progress progress("Analysing", 0);
  const auto analysed = logs::analyse_campaign(*trials, {.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency())), .progress = [&](int done, int of) {
                                                           progress.set_total(of);
                                                           progress.update(done);
                                                         }},
                                               stop_token());
  progress.finish();
  if (!analysed) return analysed.error().code == ErrorCode::cancelled ? fail(analysed.error()) : fail_input(analysed.error());
  say_damage();
  return report_campaign(*analysed, o);
}

/// The campaigns of a workspace or a bundle, without running anything: the newest one.
int show_campaign(const CampaignArguments& o) {
  const auto db = open_workspace(o.file, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  const auto sessions = (*db)->sessions();
  if (!sessions) return fail_input(sessions.error());
  const std::vector<std::string> names = logs::campaigns_of(*sessions);
  if (names.empty()) return fail_input(Error(ErrorCode::not_found, "Expected sessions of a campaign, found none", o.file));
  return analyse(**db, names.back(), o);
}

int campaign(const CampaignArguments& o) {
  if (!o.file.ends_with(".toml")) return show_campaign(o);
  const auto plan = logs::read_campaign(o.file);
  if (!plan) return fail_input(plan.error());
  const auto db = open_workspace(o.db.empty() ? logs::campaign_workspace(o.file) : o.db);
  if (!db) return fail(db.error());
  if (const int exit = run_cells(*plan, o, *db); exit != kDone) return exit;
  return analyse(**db, plan->name, o);
}

}  // namespace

void add_campaign(Subcommand app, Run& run) {
  auto o = std::make_shared<CampaignArguments>();
  Subcommand sub = app.command(run, "campaign", "How operators' speed follows from knobs, shapes, threads and devices: curves with knees, importance, where the winner changes, what a cost model should be told; the same file goes on with what is not done", o, campaign);
  sub.option("file", o->file, "Campaign file (TOML, its name ends in .toml), or a workspace or bundle with a campaign that was run").required().input();
  sub.option("--db", o->db, "Database to store in; beside the file, with its name, if absent").input();
  sub.option("--jobs", o->workers.jobs, "Candidates built at once; 0: one per processor").range(0, 4096);
  sub.option("--markdown", o->markdown, "Also write it as Markdown").output(kCampaignMarkdown);
  sub.option("--csv", o->csv, "Also write a line for each value of each resource as comma-separated values, speeds in FLOP/s").output(kCampaignCsv);
  sub.option("--html", o->html, "Also write a page with all of it that needs no other file").output(logs::kWebPage);
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
