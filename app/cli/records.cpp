// SPDX-License-Identifier: Apache-2.0
// `tw records`: trials in and out of a database as AutoTVM's JSON lines.
#include <algorithm>
#include <filesystem>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/host.h"
#include "app/cli/table.h"
#include "app/cli/tuning.h"
#include "engine/api/log_trials.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/records/best.h"

namespace tw::cli {
namespace {

struct Options {
  std::string db, file, output, format = "autotvm";
  std::vector<std::string> filters;
  int64_t session = 0;
  NetworkOptions network;
  bool json = false;
};

bool matches(const db::TaskRow& row, const std::vector<std::string>& filters) {
  if (filters.empty()) return true;
  for (const std::string& f : filters)
    if (row.name.find(f) != std::string::npos || row.key.starts_with(f)) return true;
  return false;
}

/// Lines to the file, or to standard output when there is none.
Expected<void> put_lines(const std::string& path, const std::string& lines) {
  if (!path.empty()) return write_file(path, lines);
  fmt::print("{}", lines);
  std::fflush(stdout);
  return {};
}

Expected<void> export_lines(db::Database& db, const Options& o, int64_t& count) {
  TW_TRY(const auto rows, db.tasks());
  std::string lines;
  for (const db::TaskRow& row : rows) {
    if (!matches(row, o.filters)) continue;
    TW_TRY(const records::Task task, task_of(row));
    TW_TRY(const auto trials, db.trials(o.session > 0 ? std::optional(SessionId{o.session}) : std::nullopt, row.id, {}, -1, true));
    for (const db::TrialRow& t : trials) lines += records::autotvm_line(records::to_autotvm(task, t.record)) + "\n";
    count += static_cast<int64_t>(trials.size());
  }
  return put_lines(o.file, lines);
}

int export_records(const Options& o) {
  auto db = db::Database::open(o.db, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  int64_t count = 0;
  if (auto r = export_lines(**db, o, count); !r) return fail(r.error());
  note(fmt::format("{} records", count));
  return kDone;
}

int best_records(const Options& o) {
  auto db = db::Database::open(o.db, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  const auto rows = (*db)->tasks();
  if (!rows) return fail(rows.error());
  std::string lines;
  Json list = Json::array();
  Table table({"task", "key", ">best", ">rate", "space", ">point"});
  for (const db::TaskRow& row : *rows) {
    if (!matches(row, o.filters)) continue;
    const auto best = (*db)->best(row.key);
    if (!best) return fail(best.error());
    if (!*best) continue;
    const auto task = task_of(row);
    if (!task) return fail(task.error());
    const records::Record& record = **best;
    const double seconds = record.result.decided_s();
    const double rate = static_cast<double>(row.flops) / seconds;
    lines += records::autotvm_line(records::to_autotvm(*task, record)) + "\n";
    list.push_back({{"task", row.name},
                    {"key", row.key},
                    {"best_s", seconds},
                    {"flop_per_s", rate},
                    {"space", record.candidate.space},
                    {"index", record.candidate.index}});
    table.row({row.name, row.key.substr(0, 10), time_text(seconds), si_text(rate, "FLOP/s"), record.candidate.space, std::to_string(record.candidate.index)});
  }
  if (o.json) {
    print_json({{"best", list}});
  } else if (o.file.empty()) {
    fmt::print("{}", table.text());
  } else if (auto r = put_lines(o.file, lines); !r) {
    return fail(r.error());
  }
  return kDone;
}

Expected<std::vector<records::Task>> known_tasks(db::Database& db) {
  TW_TRY(const auto rows, db.tasks());
  std::vector<records::Task> tasks;
  for (const db::TaskRow& row : rows) {
    TW_TRY(records::Task task, task_of(row));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// What a session of imported trials belongs to: the first model that has one of the tasks, else a model that stands for the log.
Expected<ModelId> model_with(db::Database& db, const std::vector<api::TaskTrials>& tasks, const std::string& file) {
  TW_TRY(const auto models, db.models());
  for (const db::ModelRow& m : models) {
    TW_TRY(const auto rows, db.tasks_of(m.id));
    for (const db::ModelTaskRow& row : rows)
      for (const api::TaskTrials& t : tasks)
        if (t.task.key == row.task.key) return m.id;
  }
  std::error_code ec;
  const std::string path = std::filesystem::weakly_canonical(file, ec).string();
  TW_TRY(const ModelId log, db.put_model("log " + std::filesystem::path(file).filename().string(), path, content_key("log " + path), Json::object()));
  for (const api::TaskTrials& t : tasks) {
    TW_TRY(const TaskId id, db.put_task(t.task));
    TW_CHECK(db.link_task(log, id, 1));
  }
  return log;
}

struct Imported {
  api::LogTrials trials;
  int64_t lines = 0, comments = 0, stored = 0, failures = 0;
};

/// A session searches one space: points are told apart by their index in it. Names of the trials' spaces; trials without an index go with the first.
std::vector<std::string> spaces_of(const std::vector<api::TaskTrials>& tasks) {
  std::vector<std::string> spaces;
  for (const api::TaskTrials& t : tasks)
    for (const records::Record& r : t.records)
      if (r.candidate.index >= 0 && std::find(spaces.begin(), spaces.end(), r.candidate.space) == spaces.end()) spaces.push_back(r.candidate.space);
  if (spaces.empty()) spaces.emplace_back("default");
  return spaces;
}

Expected<Imported> import_lines(db::Database& db, ModelId model, const Options& o) {
  TW_TRY(const auto log, records::read_autotvm_file(o.file));
  TW_TRY(const auto known, known_tasks(db));
  Imported result{api::match_log(log, known, o.file), log.lines, log.comments};
  const auto& tasks = result.trials.tasks;
  if (tasks.empty()) return result;
  if (!model) {
    TW_TRY(model, model_with(db, tasks, o.file));
  }
  const std::vector<std::string> spaces = spaces_of(tasks);
  for (const std::string& space : spaces) {
    const Json options = {{"file", o.file}, {"space", space}};
    TW_TRY(const SessionId session, db.begin_session(model, "import", tasks.front().task.target.str(), options, host_description()));
    for (const api::TaskTrials& t : tasks) {
      std::vector<records::Record> trials;
      std::copy_if(t.records.begin(), t.records.end(), std::back_inserter(trials),
                   [&](const records::Record& r) { return r.candidate.index < 0 ? space == spaces.front() : r.candidate.space == space; });
      if (trials.empty()) continue;
      TW_TRY(const TaskId id, db.put_task(t.task));
      TW_CHECK(db.put_trials(session, id, trials));
      TW_CHECK(db.put_finals(session, id, trials));
      result.stored += static_cast<int64_t>(trials.size());
      for (const records::Record& r : trials) result.failures += r.result.ok() ? 0 : 1;
    }
    TW_CHECK(db.end_session(session, "done"));
  }
  return result;
}

int import_records(const Options& o) {
  if (auto readable = read_file(o.file); !readable) return fail_input(readable.error());
  std::optional<LoadedNetwork> loaded;
  if (!o.network.model.empty()) {
    int exit = kDone;
    loaded = load_network(o.network, exit);
    if (!loaded) return exit;
  }
  auto db = db::Database::open(o.db);
  if (!db) return fail(db.error());
  ModelId model;
  if (loaded) {
    const auto stored = store_network(**db, *loaded, o.network.model, api::network_tasks(loaded->network, loaded->target));
    if (!stored) return fail(stored.error());
    model = stored->model;
  }
  const auto result = import_lines(**db, model, o);
  if (!result) return fail_input(result.error());
  const auto& problems = result->trials.problems;
  for (const records::LineProblem& p : problems) note(fmt::format("skipped: line {}: {}", p.line, p.reason));
  Json reasons = Json::object();
  std::vector<std::string> counts;
  for (const auto& [kind, count] : result->trials.by_kind()) {
    reasons[kind] = count;
    counts.push_back(fmt::format("{} {}", count, kind));
  }
  if (o.json) {
    print_json({{"lines", result->lines},
                {"comments", result->comments},
                {"tasks", result->trials.tasks.size()},
                {"stored", result->stored},
                {"stored_failures", result->failures},
                {"skipped", problems.size()},
                {"skipped_by_reason", reasons}});
  } else {
    fmt::print("{} records of {} tasks stored, {} of them failures; {} skipped{}\n", result->stored, result->trials.tasks.size(), result->failures,
               problems.size(), counts.empty() ? "" : fmt::format(": {}", fmt::join(counts, ", ")));
  }
  return result->stored == 0 && !problems.empty() ? kBadInput : kDone;
}

/// A log file's records; lines of no use are notes.
Expected<records::AutotvmLog> read_log(const std::string& path) {
  if (auto readable = read_file(path); !readable) return readable.error();
  TW_TRY(auto log, records::read_autotvm_file(path));
  for (const records::LineProblem& p : log.problems) note(fmt::format("skipped: line {}: {}", p.line, p.reason));
  return log;
}

int pick_records(const Options& o) {
  const auto log = read_log(o.file);
  if (!log) return fail_input(log.error());
  const auto best = records::pick_best(log->records);
  std::string lines;
  for (const records::AutotvmRecord& r : best) lines += records::autotvm_line(r) + "\n";
  if (auto r = put_lines(o.output, lines); !r) return fail(r.error());
  note(fmt::format("{} of {} records are the best of their workload", best.size(), log->records.size()));
  return best.empty() && !log->problems.empty() ? kBadInput : kDone;
}

int split_records(const Options& o) {
  const auto log = read_log(o.file);
  if (!log) return fail_input(log.error());
  const auto workloads = records::split_workloads(log->records);
  Json files = Json::array();
  Table table({"file", ">records", "workload"});
  for (size_t i = 0; i < workloads.size(); ++i) {
    const std::string path = fmt::format("{}.{:03}.wkl", o.output.empty() ? o.file : o.output, i);
    std::string lines;
    for (const records::AutotvmRecord& r : workloads[i]) lines += records::autotvm_line(r) + "\n";
    if (auto r = write_file(path, lines); !r) return fail(r.error());
    const records::AutotvmRecord& first = workloads[i].front();
    const std::string& name = first.task_name.empty() ? first.name : first.task_name;
    files.push_back({{"file", path}, {"records", workloads[i].size()}, {"workload", name}});
    table.row({path, std::to_string(workloads[i].size()), printable(name)});
  }
  if (o.json) {
    print_json({{"files", files}, {"skipped", log->problems.size()}});
  } else {
    fmt::print("{}", table.text());
  }
  return workloads.empty() && !log->problems.empty() ? kBadInput : kDone;
}

Subcommand add_common(Subcommand app, Run& run, const char* name, const char* help, const std::shared_ptr<Options>& o, int (*work)(const Options&)) {
  Subcommand sub = app.command(run, name, help, o, work);
  sub.option("--db", o->db, "Database").required();
  sub.option("--format", o->format, "Form of the lines: autotvm (JSON lines, protocol 0.2)").one_of({"autotvm"}).show_default();
  return sub;
}

}  // namespace

void add_records(Subcommand app, Run& run) {
  Subcommand records = app.group("records", "Trials in and out of a database");
  const char* task_help = "Only tasks whose name contains this or whose key begins with it; may be repeated";
  auto e = std::make_shared<Options>();
  Subcommand sub = add_common(records, run, "export", "Writes every trial as a JSON line", e, export_records);
  sub.option("file", e->file, "File to write; standard output if absent");
  sub.option("--task", e->filters, task_help);
  sub.option("--session", e->session, "Only the trials of this session");
  auto i = std::make_shared<Options>();
  sub = add_common(records, run, "import", "Stores the trials of a log; lines that cannot be used are named and skipped", i, import_records);
  sub.option("file", i->file, "File with JSON lines").required();
  sub.option("--model", i->network.model, "ONNX file whose tasks are added first; a log of another program needs it in a database that does not have them yet");
  sub.option("--target", i->network.target, "Target of the model's tasks").show_default();
  sub.flag("--json", i->json, "One JSON document on standard output");
  auto b = std::make_shared<Options>();
  sub = add_common(records, run, "best", "The fastest verified trial of every task", b, best_records);
  sub.option("file", b->file, "Writes JSON lines to this file instead of a table");
  sub.option("--task", b->filters, task_help);
  sub.flag("--json", b->json, "One JSON document on standard output");
  auto p = std::make_shared<Options>();
  sub = records.command(run, "pick", "The best line of each workload of a log", p, pick_records);
  sub.option("log", p->file, "File with JSON lines").required();
  sub.option("file", p->output, "File to write; standard output if absent");
  auto w = std::make_shared<Options>();
  sub = records.command(run, "split", "A log as one file for each workload: LOG.000.wkl, LOG.001.wkl and so on; repeated points once", w, split_records);
  sub.option("log", w->file, "File with JSON lines").required();
  sub.option("-o,--output", w->output, "Beginning of the files' names instead of LOG");
  sub.flag("--json", w->json, "One JSON document on standard output");
}

}  // namespace tw::cli
