// SPDX-License-Identifier: Apache-2.0
#include "app/logs/import_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <unordered_map>

#include "db/session_workspace.h"
#include "engine/api/ansor_trials.h"
#include "engine/api/log_trials.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/records/ansor_log.h"
#include "engine/records/best.h"
#include "engine/records/meta_schedule_log.h"

namespace tw::logs {
namespace {

/// Trials of one transaction: each waits for the disk, and a stop waits for it.
constexpr size_t kBatch = 2000;

/// Rows of the workspace whose computation is known.
Expected<std::vector<records::Task>> known_tasks(db::Database& db) {
  TW_TRY(const auto rows, db.tasks());
  std::vector<records::Task> tasks;
  for (const db::TaskRow& row : rows) {
    if (row.dag_text.empty()) continue;
    if (auto task = db::readable_task(db, row)) tasks.push_back(*std::move(task));
  }
  return tasks;
}

/// Gathers trials by tasks; of two trials of a point the faster one stays.
class Gathered {
 public:
  explicit Gathered(Log& log) : log_(log) {}

  void add(const std::string& key, const std::string& name, const std::string& target, records::Record record, int64_t line) {
    record.task_key = key;
    record.result = api::as_claim(std::move(record.result));
    record.claimed = true;
    Place& place = placeOf(key, [&] {
      records::Task foreign;
      foreign.key = key;
      foreign.name = name;
      return LoggedTask{std::move(foreign), target, {}};
    });
    add(place, std::move(record), line);
  }
  /// A trial of a task that can be lowered.
  void add(const records::Task& of, const std::string& target, records::Record record, int64_t line) {
    add(placeOf(of.key, [&] { return LoggedTask{of, target, {}}; }), std::move(record), line);
  }

 private:
  struct Place {
    size_t task;                                  ///< its number in the log
    std::unordered_map<uint64_t, size_t> points;  ///< places of records by what tells candidates apart
  };

  template <class Make>
  Place& placeOf(const std::string& key, const Make& make) {
    const auto [at, fresh] = places_.try_emplace(key, Place{log_.tasks.size(), {}});
    if (fresh) log_.tasks.push_back(make());
    return at->second;
  }
  void add(Place& place, records::Record record, int64_t line) {
    std::vector<records::Record>& records = log_.tasks[place.task].records;
    const auto [at, fresh] = place.points.try_emplace(records::identity(record.candidate), records.size());
    if (fresh) {
      records.push_back(std::move(record));
      return;
    }
    if (record.result.seconds() < records[at->second].result.seconds()) records[at->second] = std::move(record);
    log_.content.problems.push_back({line, 0, "duplicate", "A second trial of the same point"});
  }

  Log& log_;
  std::unordered_map<std::string, Place> places_;  ///< of tasks, by key
};

/// What thousands of lines share is worked out once for each of these texts.
struct Named {
  std::string key, name;
};

void add_autotvm(Log& log, records::AutotvmLog lines, const std::vector<records::Task>& known, const ImportOptions& options) {
  api::LogTrials trials = api::match_log(lines, known, log.path, options.target);
  log.content.lines = lines.lines, log.content.comments = lines.comments;
  for (api::TaskTrials& t : trials.tasks) {
    std::string target = t.task.target.str();
    log.tasks.push_back({std::move(t.task), std::move(target), std::move(t.records)});
  }
  std::set<int64_t> without;
  for (records::LineProblem& p : trials.problems) {
    const bool foreign = options.foreign && (p.kind == "unknown_task" || p.kind == "unknown_space");
    if (foreign)
      without.insert(p.line);
    else
      log.content.problems.push_back(std::move(p));
  }
  Gathered gathered(log);
  std::map<std::string, Named> names;
  for (records::AutotvmRecord& r : lines.records) {
    if (!without.contains(r.line)) continue;
    Named& named = names[records::workload_key(r)];
    if (named.key.empty()) named = {content_key("autotvm\n" + records::workload_key(r)), printable(r.name) + " " + printable(r.args.substr(0, 60))};
    records::Candidate& candidate = r.record.candidate;
    candidate.space = r.name;
    gathered.add(named.key, named.name, r.target, std::move(r.record), r.line);
  }
}

/// Records whose key names a computation that is known are trials of its task, where a target is given; others are foreign.
void add_ansor(Log& log, records::AnsorLog lines, const ImportOptions& options) {
  log.content.lines = lines.lines, log.content.comments = lines.comments;
  log.content.problems = std::move(lines.problems);
  Gathered gathered(log);
  api::ClaimChecker claims;
  std::map<std::pair<std::string, std::string>, Expected<records::Task>> tasks;  // by workload and kind of target
  std::map<std::pair<std::string, std::string>, Named> names;
  for (records::AnsorRecord& r : lines.records) {
    if (options.target) {
      const std::pair key(r.workload_key, r.target.substr(0, r.target.find(' ')));
      auto at = tasks.find(key);
      if (at == tasks.end()) at = tasks.emplace(key, api::ansor_task(r, *options.target)).first;
      if (const Expected<records::Task>& task = at->second) {
        auto trial = api::ansor_trial(*task, r, claims);
        if (trial)
          gathered.add(*task, r.target, *std::move(trial), r.line);
        else
          log.content.problems.push_back({r.line, 0, "other_steps", trial.error().text()});
        continue;
      }
    }
    if (!options.foreign) {
      log.content.problems.push_back({r.line, 0, "unknown_task", "No computation is known that this key names"});
      continue;
    }
    Named& named = names[{r.workload_key, r.target}];
    if (named.key.empty()) named = {records::ansor_task_key(r), records::ansor_task_name(r.workload_key)};
    gathered.add(named.key, named.name, r.target, std::move(r.record), r.line);
  }
}

/// Traces of another schedule language: all are foreign. Workloads are told apart by the hashes in the file beside the log, without it by their numbers.
void add_meta_schedule(Log& log, records::MetaScheduleLog lines, const ImportOptions& options) {
  log.content.lines = lines.lines;
  log.content.problems = std::move(lines.problems);
  const auto text = read_file((std::filesystem::path(log.path).parent_path() / records::kMetaScheduleWorkloads).string());
  const std::vector<std::string> hashes = text ? records::meta_schedule_workloads(*text) : std::vector<std::string>();
  Gathered gathered(log);
  for (records::MetaScheduleRecord& r : lines.records) {
    if (!options.foreign) {
      log.content.problems.push_back({r.line, 0, "unknown_task", "A trace of MetaSchedule cannot be lowered here"});
      continue;
    }
    const auto at = static_cast<size_t>(r.workload);
    const std::string hash = at < hashes.size() ? hashes[at] : std::string();
    const std::string name = records::meta_schedule_task_name(r, hash);
    gathered.add(content_key("meta_schedule\n" + (hash.empty() ? log.path + " " + std::to_string(r.workload) : hash) + "\n" + r.arguments + "\n" + r.target), name, r.target,
                 std::move(r.record), r.line);
  }
}

Expected<TaskId> put_task(db::Database& db, const LoggedTask& t) {
  return t.task.dag ? db.put_task(t.task) : db.put_foreign_task(t.task.key, t.task.name, t.target);
}

/// The first model that has all of the tasks, else a model that stands for the log and has them.
Expected<ModelId> model_with(db::Database& db, const Log& log) {
  TW_TRY(const auto models, db.models());
  for (const db::ModelRow& m : models) {
    TW_TRY(const auto rows, db.tasks_of(m.id));
    const bool has_all = std::all_of(log.tasks.begin(), log.tasks.end(), [&](const LoggedTask& t) {
      return std::any_of(rows.begin(), rows.end(), [&](const db::ModelTaskRow& row) { return row.task.key == t.task.key; });
    });
    if (has_all) return m.id;
  }
  std::error_code ec;
  const std::string path = std::filesystem::weakly_canonical(log.path, ec).string();
  TW_TRY(const ModelId model, db.put_model("log " + std::filesystem::path(log.path).filename().string(), path, content_key("log " + path),
                                           Json{{"log", format_name(log.content.format)}}));
  for (const LoggedTask& t : log.tasks) {
    TW_TRY(const TaskId id, put_task(db, t));
    TW_CHECK(db.link_task(model, id, 1, records::Weights::unknown));
  }
  return model;
}

/// A session searches one space. Names of the trials' spaces; default schedules go with the first.
std::vector<std::string> spaces_of(const std::vector<LoggedTask>& tasks) {
  std::vector<std::string> spaces;
  for (const LoggedTask& t : tasks)
    for (const records::Record& r : t.records)
      if (!r.candidate.is_default() && std::find(spaces.begin(), spaces.end(), r.candidate.space) == spaces.end()) spaces.push_back(r.candidate.space);
  if (spaces.empty()) spaces.emplace_back(records::kDefaultSpace);
  return spaces;
}

/// The session of one space of a log, which begins with the first trial that is new.
class Import {
 public:
  Import(db::Database& db, ImportedLog& result, ImportProgress& progress, std::function<Expected<SessionId>()> begin)
      : db_(db), result_(result), progress_(progress), begin_(std::move(begin)) {}

  /// Stores what belongs to it, moved out of the log, in batches; what any session of the workspace has as it is, is only counted. False: stopped.
  Expected<bool> store(LoggedTask& t, const std::function<bool(const records::Record&)>& belongs, const StopToken& stop) {
    TW_TRY(const TaskId id, put_task(db_, t));
    // A log has each point once: where nothing of the task is stored yet, nothing of it has to be looked for.
    TW_TRY(const auto row, db_.task_by_key(t.task.key));
    const bool known = row && std::any_of(row->of_kind.begin(), row->of_kind.end(), [](const db::TaskCounts& c) { return c.trials > 0; });
    std::vector<records::Record> batch;
    for (size_t i = 0; i < t.records.size(); ++i) {
      if (belongs(t.records[i])) {
        batch.push_back(std::move(t.records[i]));
        t.records[i].candidate.space.clear();  // of no later session
      }
      if (batch.size() < kBatch && (batch.empty() || i + 1 < t.records.size())) continue;
      if (stop.stop_requested()) return false;
      TW_CHECK(store_new(id, batch, known));
      batch.clear();
    }
    return true;
  }
  Expected<void> end(const std::string& state) {
    if (!session_) return {};
    return db_.end_session(session_, state);
  }

 private:
  /// `known`: the workspace has trials of the task from before.
  Expected<void> store_new(TaskId task, std::vector<records::Record>& batch, bool known) {
    progress_.stored += static_cast<int64_t>(batch.size());
    if (known) {
      TW_TRY(const std::vector<bool> there, db_.are_stored(task, batch));
      size_t at = 0;
      std::erase_if(batch, [&](const records::Record&) { return there[at++]; });
      result_.there += static_cast<int64_t>(there.size() - batch.size());
    }
    if (batch.empty()) return {};
    if (!session_) {
      TW_TRY(session_, begin_());
      result_.sessions.push_back(session_);
    }
    TW_CHECK(db_.put_trials(session_, task, batch));
    result_.stored += static_cast<int64_t>(batch.size());
    for (const records::Record& r : batch) result_.failures += r.result.ok() ? 0 : 1;
    return {};
  }

  db::Database& db_;
  ImportedLog& result_;
  ImportProgress& progress_;
  std::function<Expected<SessionId>()> begin_;
  SessionId session_;
};

}  // namespace

const char* format_name(LogFormat format) {
  switch (format) {
    case LogFormat::autotvm: return "autotvm";
    case LogFormat::ansor: return "ansor";
    case LogFormat::meta_schedule: return "meta_schedule";
  }
  return "";
}

LogFormat sniff_log(std::string_view text) {
  constexpr int kLines = 1000;
  for (int number = 0; number < kLines && !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.empty() || line.starts_with('#')) continue;
    if (records::parse_autotvm_line(line)) return LogFormat::autotvm;
    if (records::parse_ansor_line(line)) return LogFormat::ansor;
    if (records::parse_meta_schedule_line(line)) return LogFormat::meta_schedule;
  }
  return LogFormat::autotvm;
}

Expected<Log> read_log(db::Database& db, const std::string& path, const ImportOptions& options, const StopToken& stop) {
  const Error cancelled(ErrorCode::cancelled, "Reading the log was cancelled");
  Log log;
  log.path = path;
  TW_TRY(const std::string text, read_file(path));
  log.content.format = sniff_log(text);
  if (stop.stop_requested()) return cancelled;
  if (log.content.format == LogFormat::ansor) {
    add_ansor(log, records::read_ansor(text), options);
  } else if (log.content.format == LogFormat::meta_schedule) {
    add_meta_schedule(log, records::read_meta_schedule(text), options);
  } else {
    TW_TRY(const auto known, known_tasks(db));
    add_autotvm(log, records::read_autotvm(text), known, options);
  }
  std::vector<records::LineProblem>& problems = log.content.problems;
  std::stable_sort(problems.begin(), problems.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  for (const LoggedTask& t : log.tasks) {
    const auto failures = std::count_if(t.records.begin(), t.records.end(), [](const records::Record& r) { return !r.result.ok(); });
    log.content.tasks.push_back({t.task.name, t.target, static_cast<int64_t>(t.records.size()), failures, t.task.dag != nullptr});
  }
  if (stop.stop_requested()) return cancelled;
  return log;
}

Expected<ImportedLog> store_log(db::Database& db, Log log, const ImportOptions& options, const StopToken& stop, ImportProgress& progress) {
  for (const LoggedTask& t : log.tasks) progress.records += static_cast<int64_t>(t.records.size());
  ImportedLog result;
  result.content = log.content;
  if (log.tasks.empty()) return result;
  result.model = options.model;
  if (!result.model) {
    TW_TRY(result.model, model_with(db, log));
  }
  const std::vector<std::string> spaces = spaces_of(log.tasks);
  for (const std::string& space : spaces) {
    const Json session_options = {{"file", log.path}, {"space", space}, {"format", format_name(log.content.format)}};
    Import import(db, result, progress,
                  [&] { return db.begin_session(result.model, db::kImported, log.tasks.front().target, session_options, options.host); });
    const auto belongs = [&](const records::Record& r) { return r.candidate.is_default() ? space == spaces.front() : r.candidate.space == space; };
    for (LoggedTask& t : log.tasks) {
      TW_TRY(const bool whole, import.store(t, belongs, stop));
      if (!whole) {
        TW_CHECK(import.end("cancelled"));
        return result;
      }
    }
    TW_CHECK(import.end("done"));
  }
  return result;
}

}  // namespace tw::logs
