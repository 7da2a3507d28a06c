// SPDX-License-Identifier: Apache-2.0
// `tw space`: spaces of which every point was measured, or many, for searches to run against instead of a machine.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/host.h"
#include "app/cli/table.h"
#include "app/cli/tuning.h"
#include "app/cli/workspace.h"
#include "app/logs/recorded_space.h"
#include "db/session_workspace.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/space/template.h"
#include "engine/tune/space_search.h"

namespace tw::cli {
namespace {

const FileKind kSpaceKind{"a recorded space", [](std::string_view beginning) { return beginning.find("\"tilewright_space\"") != std::string_view::npos; }};

/// What a person wants to know of a space before a race runs in it.
struct SpaceSummary {
  int64_t size = 0, recorded = 0, failures = 0, within_5 = 0, within_10 = 0;
  double best_s = std::numeric_limits<double>::infinity(), median_s = best_s, default_s = best_s;
};

SpaceSummary summary_of(const logs::RecordedSpace& space) {
  SpaceSummary s;
  s.size = space.size;
  std::vector<double> times;
  for (const records::Record& r : space.records) {
    if (r.candidate.index < 0) {
      s.default_s = r.result.seconds();
      continue;
    }
    ++s.recorded;
    if (r.result.ok())
      times.push_back(r.result.seconds());
    else
      ++s.failures;
  }
  std::sort(times.begin(), times.end());
  if (times.empty()) return s;
  s.best_s = times.front();
  s.median_s = times[times.size() / 2];
  s.within_5 = std::upper_bound(times.begin(), times.end(), s.best_s / 0.95) - times.begin();
  s.within_10 = std::upper_bound(times.begin(), times.end(), s.best_s / 0.9) - times.begin();
  return s;
}

Json json_of(const logs::RecordedSpace& space) {
  const SpaceSummary s = summary_of(space);
  return {{"name", space.name},
          {"where", space.where},
          {"target", space.opaque ? Json(nullptr) : Json(space.task.target.str())},
          {"task", space.task.name},
          {"key", space.task.key},
          {"space", space.space},
          {"opaque", space.opaque},
          {"points", s.size},
          {"recorded", s.recorded},
          {"failures", s.failures},
          {"best_s", json_number(s.best_s)},
          {"median_s", json_number(s.median_s)},
          {"default_s", json_number(s.default_s)},
          {"within_5_percent", s.within_5},
          {"within_10_percent", s.within_10}};
}

struct ListArguments {
  bool json = false;
};

int list_spaces(const ListArguments& o) {
  Json all = Json::array();
  Table table({"space", ">points", ">failures", ">best", ">within 5 %", "recorded on"});
  for (const std::string& name : logs::bundled_spaces()) {
    const auto file = logs::space_file(std::string(logs::kSpaceByName) + name);
    const auto space = file ? logs::read_recorded_space(*file) : Expected<logs::RecordedSpace>(file.error());
    if (!space) return fail(space.error());
    const SpaceSummary s = summary_of(*space);
    table.row({std::string(logs::kSpaceByName) + name, std::to_string(s.recorded), std::to_string(s.failures), time_text(s.best_s), std::to_string(s.within_5), space->where});
    all.push_back(json_of(*space));
  }
  if (o.json)
    print_json({{"spaces", all}});
  else
    put(table.text());
  return kDone;
}

struct ShowArguments {
  std::string file;
  bool json = false;
};

/// The space that a person named. On failure prints the error and sets `exit`.
std::optional<logs::RecordedSpace> named_space(const std::string& given, int& exit) {
  const auto file = logs::space_file(given);
  if (!file) {
    exit = fail_usage(file.error().message);
    return std::nullopt;
  }
  auto space = logs::read_recorded_space(*file);
  if (space) return std::move(*space);
  exit = fail_input(space.error());
  return std::nullopt;
}

int show_space(const ShowArguments& o) {
  int exit = kDone;
  const auto space = named_space(o.file, exit);
  if (!space) return exit;
  if (o.json) {
    print_json(json_of(*space));
    return kDone;
  }
  const SpaceSummary s = summary_of(*space);
  const auto line = [](const char* what, const std::string& value) { print("{:<12} {}\n", what, value); };
  line("name", printable(space->name));
  line("recorded on", printable(space->where));
  if (space->opaque)
    line("task", fmt::format("{}: knobs and times of another program's kernel, whose loops are not known", printable(space->task.name)));
  else
    line("task", fmt::format("{} {} for {}", printable(space->task.name), space->task.key.substr(0, 10), space->task.target.str()));
  line("points", fmt::format("{} of {} recorded, {} failed", s.recorded, s.size, s.failures));
  line("best", time_text(s.best_s));
  line("median", time_text(s.median_s));
  if (std::isfinite(s.default_s)) line("default", fmt::format("{}, {} as fast as the best", time_text(s.default_s), ratio_text(s.best_s / s.default_s)));
  line("near it", fmt::format("{} within 5 % of the best speed, {} within 10 %", s.within_5, s.within_10));
  return kDone;
}

struct RecordArguments {
  NetworkOptions network;
  std::vector<std::string> filters;
  std::string space, db, device = measure::kLocalDevice;
  int64_t points = 0, seed = 1;
  measure::WorkerOptions workers;
  bool json = false;
};

int record_space(const RecordArguments& o) {
  int exit = kDone;
  const auto loaded = load_network(o.network, exit);
  if (!loaded) return exit;
  if (!loaded->recorded.empty()) return fail_usage(fmt::format("Expected something to measure, found '{}', which is a recorded space", printable(o.network.model)));
  auto db = open_workspace(o.db);
  if (!db) return fail(db.error());
  outlive_terminal();
  // All points in their order, or so many drawn at random. What was recorded of points before is not measured again: the same command goes on.
  constexpr int64_t kAll = int64_t{1} << 40;  // the most that a session may be told
  tune::SessionOptions session;
  session.tuner = o.points > 0 ? "random" : "grid";
  session.space = o.space;
  session.seed = static_cast<uint64_t>(o.seed);
  session.trials_per_task = o.points > 0 ? o.points : kAll;
  session.batch = 64;
  session.finalists = 0;
  TuneRequest request{&*loaded, loaded->path, o.filters, session, true, {}, {}, o.workers, o.device};
  const auto result = tune_network(request, *db);
  if (!result) return fail(result.error());
  Json all = Json::array();
  Table table({"task", ">points", ">recorded", ">failures", ">best"});
  for (size_t i = 0; i < result->tasks.size(); ++i) {
    const tune::TaskDone& done = result->report.tasks[i];
    int64_t size = 0, failures = 0;
    for (const space::Template* t : tune::searched_templates(result->tasks[i].task, o.space)) size += t->space(*result->tasks[i].task.dag, loaded->target).size();
    for (const auto& [status, count] : done.by_status) failures += status == records::Status::ok ? 0 : count;
    table.row({result->tasks[i].task.name, std::to_string(size), std::to_string(done.trials), std::to_string(failures), time_text(done.best_s)});
    all.push_back({{"task", result->tasks[i].task.name}, {"key", result->tasks[i].task.key}, {"points", size}, {"trials", done.trials}, {"failures", failures}, {"best_s", json_number(done.best_s)}});
  }
  if (o.json)
    print_json({{"db", o.db}, {"session", result->session.value}, {"tasks", all}});
  else
    put(table.text());
  if (!result->report.cancelled) return result->report.anything_measured() ? kDone : fail(Error(ErrorCode::infrastructure, nothing_measured_text(result->report)));
  note(fmt::format("Cancelled; every trial is in '{}', and the same command goes on", printable(o.db)));
  return kCancelled;
}

struct WriteArguments {
  std::string db, task, space, name, output;
};

int write_space(const WriteArguments& o) {
  auto db = open_workspace(o.db, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  const auto rows = (*db)->tasks();
  if (!rows) return fail(rows.error());
  std::vector<const db::TaskRow*> chosen;
  for (const db::TaskRow& row : *rows)
    if (!row.dag_text.empty() && (o.task.empty() || row.name.find(o.task) != std::string::npos || row.key.starts_with(o.task))) chosen.push_back(&row);
  if (chosen.size() != 1) return fail_usage(fmt::format("Expected --task to name one task of '{}', found {}", printable(o.db), chosen.size()));
  const auto task = db::task_of(*chosen.front());
  if (!task) return fail_input(task.error());
  std::string space = o.space;
  if (space.empty()) {
    const auto all = tune::searched_templates(*task, {});
    if (all.size() != 1) return fail_usage(fmt::format("Expected --space to name one of the task's {} spaces", all.size()));
    space = all.front()->name;
  }
  const auto text = logs::recorded_space_text(**db, *chosen.front(), space, o.name.empty() ? chosen.front()->name : o.name);
  if (!text) return fail_input(text.error());
  if (auto r = write_file(o.output, kSpaceKind, *text); !r) return fail(r.error());
  return show_space({o.output});
}

struct EnterArguments {
  std::string file, db;
  bool json = false;
};

int enter_space(const EnterArguments& o) {
  int exit = kDone;
  const auto space = named_space(o.file, exit);
  if (!space) return exit;
  auto db = open_workspace(o.db);
  if (!db) return fail(db.error());
  const auto entered = logs::enter_recorded_space(**db, *space, host_description(), stop_token());
  if (!entered) return fail(entered.error());
  if (o.json)
    print_json({{"db", o.db}, {"session", entered->session ? Json(entered->session.value) : Json(nullptr)}, {"stored", entered->stored}, {"failures", entered->failures}});
  else
    print("{} trials of '{}' stored in '{}', {} of them failures; {} were there\n", entered->stored, printable(space->task.name), printable(o.db), entered->failures,
          static_cast<int64_t>(space->records.size()) - entered->stored);
  return kDone;
}

}  // namespace

void add_space(Subcommand app, Run& run) {
  Subcommand space = app.group("space", "Recorded spaces: every point measured once, for searches to run against instead of a machine");
  auto l = std::make_shared<ListArguments>();
  space.command(run, "list", "Names the spaces that come with the program", l, list_spaces).flag("--json", l->json, "One JSON document on standard output");
  auto s = std::make_shared<ShowArguments>();
  Subcommand show = space.command(run, "show", "Says what a recorded space holds", s, show_space);
  show.option("file", s->file, "A recorded space, space:NAME, or a cache file of Kernel Tuner").required().input();
  show.flag("--json", s->json, "One JSON document on standard output");
  auto r = std::make_shared<RecordArguments>();
  Subcommand record = space.command(run, "record", "Measures a space whole, or many of its points, and stores them as a session; the same command goes on with what is not done", r, record_space);
  add_network_options(record, r->network);
  record.option("--db", r->db, "Database to store in").required().input();
  record.option("--task", r->filters, "Only tasks whose name contains this or whose key begins with it; may be repeated");
  record.option("--space", r->space, "Template whose space is measured; all that a search goes through if absent");
  record.option("--points", r->points, "So many points of each task, drawn at random; 0: all of them, in their order").range(int64_t{0}, int64_t{1} << 40).show_default();
  record.option("--seed", r->seed, "Of the points that are drawn").range(int64_t{0}, int64_t{1} << 40).show_default();
  record.option("--device", r->device, "What measures, as `tw tune`").show_default();
  record.option("--jobs", r->workers.jobs, "Candidates built at once; 0: one per processor").range(0, 4096);
  record.flag("--json", r->json, "One JSON document on standard output");
  auto w = std::make_shared<WriteArguments>();
  Subcommand write = space.command(run, "write", "Writes the trials of a task's space into one small file", w, write_space);
  write.option("--db", w->db, "Database that has the trials").required().input();
  write.option("--task", w->task, "The task, by a part of its name or the beginning of its key; may be left out where there is one");
  write.option("--space", w->space, "The template whose space it is; may be left out where there is one");
  write.option("--name", w->name, "What the space is called; the task's name if absent");
  write.option("-o,--output", w->output, "File to write, such as matmul.twspace").required().output(kSpaceKind);
  auto e = std::make_shared<EnterArguments>();
  Subcommand enter = space.command(run, "import", "Stores a recorded space in a workspace, as trials that a log claims", e, enter_space);
  enter.option("file", e->file, "A recorded space, space:NAME, or a cache file of Kernel Tuner").required().input();
  enter.option("--db", e->db, "Database to store in").required().input();
  enter.flag("--json", e->json, "One JSON document on standard output");
}

}  // namespace tw::cli
