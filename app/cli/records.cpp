// SPDX-License-Identifier: Apache-2.0
// `tw records`: trials in and out of a database as AutoTVM's JSON lines.
#include <map>
#include <span>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/host.h"
#include "app/cli/table.h"
#include "app/cli/tuning.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/records/autotvm_log.h"
#include "engine/space/template.h"

namespace tw::cli {
namespace {

struct Options {
  std::string db, file, format = "autotvm";
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

/// A line's trial as a record of our task: steps from the line itself, or from our template at the line's point.
Expected<records::Record> record_for(const records::Task& task, const records::AutotvmRecord& line) {
  records::Record record = line.record;
  record.task_key = task.key;
  if (!record.candidate.steps.empty() || record.candidate.space == "default") return record;
  const space::Template* t = space::find_template(*task.dag, task.target);
  if (t == nullptr) return Error(ErrorCode::not_applicable, fmt::format("Task '{}' has no template", task.name));
  TW_TRY(const auto entity, t->space(*task.dag, task.target).from_json(record.candidate.config));
  TW_TRY(const auto schedule, t->apply(task.dag, task.target, entity));
  record.candidate.space = t->name;
  record.candidate.index = entity.index();
  record.candidate.steps = schedule.steps();
  return record;
}

/// Trials of one task for one session, which measures each point once: of two trials of a point the faster stays.
class Batch {
 public:
  /// False if the point was there already.
  bool add(records::Record record) {
    const records::Candidate& c = record.candidate;
    const std::pair point(c.index, c.index < 0 ? dump_json(schedule::to_json(c.steps)) : std::string());
    const auto [at, is_new] = places_.try_emplace(point, records_.size());
    if (is_new) {
      records_.push_back(std::move(record));
    } else if (record.result.seconds() < records_[at->second].result.seconds()) {
      records_[at->second] = std::move(record);
    }
    return is_new;
  }
  const std::vector<records::Record>& records() const { return records_; }

 private:
  std::map<std::pair<int64_t, std::string>, size_t> places_;
  std::vector<records::Record> records_;
};

/// The first model that has one of the tasks; a session belongs to a model.
Expected<ModelId> model_with(db::Database& db, const std::map<const records::Task*, Batch>& tasks) {
  TW_TRY(const auto models, db.models());
  for (const db::ModelRow& m : models) {
    TW_TRY(const auto rows, db.tasks_of(m.id));
    for (const db::ModelTaskRow& row : rows)
      for (const auto& [task, batch] : tasks)
        if (task->key == row.task.key) return m.id;
  }
  return Error(ErrorCode::invalid_argument, "No network of the database has these tasks; name it with --model");
}

struct Imported {
  int64_t stored = 0;
  std::vector<std::string> skipped;  ///< one sentence each
};

Expected<std::vector<records::Task>> known_tasks(db::Database& db) {
  TW_TRY(const auto rows, db.tasks());
  std::vector<records::Task> tasks;
  for (const db::TaskRow& row : rows) {
    TW_TRY(records::Task task, task_of(row));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

Expected<Imported> import_lines(db::Database& db, ModelId model, const Options& o) {
  TW_TRY(const auto log, records::read_autotvm_file(o.file));
  TW_TRY(const auto tasks, known_tasks(db));
  Imported result;
  for (const auto& p : log.problems) result.skipped.push_back(fmt::format("line {}: {}", p.line, p.reason));
  std::map<const records::Task*, Batch> by_task;
  for (const records::AutotvmRecord& line : log.records) {
    const records::Task* task = records::find_task(tasks, line);
    if (task == nullptr) {
      result.skipped.push_back(fmt::format("'{}': no task of the database has this computation", printable(line.name)));
    } else if (auto record = record_for(*task, line); !record) {
      result.skipped.push_back(record.error().text());
    } else if (!by_task[task].add(std::move(*record))) {
      result.skipped.push_back(fmt::format("'{}': a second trial of the same point", printable(line.name)));
    }
  }
  if (by_task.empty()) return result;
  if (!model) {
    TW_TRY(model, model_with(db, by_task));
  }
  TW_TRY(const SessionId session, db.begin_session(model, "import", by_task.begin()->first->target.str(), {{"file", o.file}}, host_description()));
  for (const records::Task& task : tasks) {
    const auto found = by_task.find(&task);
    if (found == by_task.end()) continue;
    TW_TRY(const TaskId id, db.put_task(task));
    TW_CHECK(db.put_trials(session, id, found->second.records()));
    result.stored += static_cast<int64_t>(found->second.records().size());
  }
  TW_CHECK(db.end_session(session, "done"));
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
  for (const std::string& s : result->skipped) note("skipped: " + s);
  if (o.json) {
    print_json({{"stored", result->stored}, {"skipped", result->skipped.size()}});
  } else {
    fmt::print("{} records stored, {} skipped\n", result->stored, result->skipped.size());
  }
  return result->stored == 0 && !result->skipped.empty() ? kBadInput : kDone;
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
  sub.option("--model", i->network.model, "ONNX file whose tasks are added first, for a database that does not have them yet");
  sub.option("--target", i->network.target, "Target of the model's tasks").show_default();
  sub.flag("--json", i->json, "One JSON document on standard output");
  auto b = std::make_shared<Options>();
  sub = add_common(records, run, "best", "The fastest verified trial of every task", b, best_records);
  sub.option("file", b->file, "Writes JSON lines to this file instead of a table");
  sub.option("--task", b->filters, task_help);
  sub.flag("--json", b->json, "One JSON document on standard output");
}

}  // namespace tw::cli
