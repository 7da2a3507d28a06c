// SPDX-License-Identifier: Apache-2.0
#include "app/logs/import_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/api/log_trials.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/records/ansor_log.h"
#include "engine/records/best.h"

namespace tw::logs {
namespace {

constexpr size_t kBatch = 500;

/// A task of the log with its trials, each point once. A foreign task has no dag.
struct TaskRecords {
  records::Task task;
  std::string target;  ///< a foreign task's as the log calls it
  std::vector<records::Record> records;
};

struct Content {
  LogContent told;
  std::vector<TaskRecords> tasks;
};

Expected<std::string> read_file(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::exists(path, ec)) return Error(ErrorCode::not_found, fmt::format("Expected a log '{}', found no such file", path));
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!std::filesystem::is_regular_file(path, ec) || stream.bad()) return Error(ErrorCode::io_error, fmt::format("The log '{}' cannot be read", path));
  return std::move(text).str();
}

/// Rows of the workspace whose computation is known.
Expected<std::vector<records::Task>> known_tasks(db::Database& db) {
  TW_TRY(const auto rows, db.tasks());
  std::vector<records::Task> tasks;
  for (const db::TaskRow& row : rows) {
    if (row.dag_text.empty()) continue;
    TW_TRY(auto dag, te::parse_dag(row.dag_text));
    TW_TRY(Target target, parse_target(row.target));
    tasks.push_back({row.key, row.name, std::move(dag), std::move(target), row.flops});
  }
  return tasks;
}

/// Gathers trials of foreign tasks; of two trials of a point the faster one stays.
class Foreign {
 public:
  explicit Foreign(Content& content) : content_(content) {}

  void add(const std::string& key, const std::string& name, const std::string& target, records::Record record, int64_t line) {
    const auto [place, fresh_task] = places_.try_emplace(key, content_.tasks.size());
    if (fresh_task) {
      records::Task task;
      task.key = key;
      task.name = name;
      content_.tasks.push_back({std::move(task), target, {}});
    }
    record.task_key = key;
    std::vector<records::Record>& records = content_.tasks[place->second].records;
    const auto [at, fresh] = points_.try_emplace({key, record.candidate.space, record.candidate.index}, records.size());
    if (fresh) {
      records.push_back(std::move(record));
      return;
    }
    if (record.result.seconds() < records[at->second].result.seconds()) records[at->second] = std::move(record);
    content_.told.problems.push_back({line, 0, "duplicate", "A second trial of the same point"});
  }

 private:
  Content& content_;
  std::map<std::string, size_t> places_;
  std::map<std::tuple<std::string, std::string, int64_t>, size_t> points_;
};

void add_autotvm(Content& content, const records::AutotvmLog& log, const std::vector<records::Task>& known, const std::string& name,
                 const ImportOptions& options) {
  api::LogTrials trials = api::match_log(log, known, name, options.target);
  content.told.lines = log.lines, content.told.comments = log.comments;
  for (api::TaskTrials& t : trials.tasks) content.tasks.push_back({t.task, t.task.target.str(), std::move(t.records)});
  std::set<int64_t> without;
  for (const records::LineProblem& p : trials.problems) {
    const bool foreign = options.foreign && (p.kind == "unknown_task" || p.kind == "unknown_space");
    if (foreign)
      without.insert(p.line);
    else
      content.told.problems.push_back(p);
  }
  Foreign gathered(content);
  for (const records::AutotvmRecord& r : log.records) {
    if (!without.contains(r.line)) continue;
    records::Record record = r.record;
    record.candidate.space = r.name;
    if (record.candidate.index < 0) record.candidate.index = static_cast<int64_t>(stable_hash(dump_json(record.candidate.config)) >> 1);
    const std::string shapes = dump_json(r.args);
    gathered.add(content_key("autotvm\n" + records::workload_key(r)), printable(r.name) + " " + printable(shapes.substr(0, 60)), r.target, std::move(record),
                 r.line);
  }
}

void add_ansor(Content& content, records::AnsorLog log) {
  content.told.lines = log.lines, content.told.comments = log.comments;
  content.told.problems = std::move(log.problems);
  Foreign gathered(content);
  // Key and name are parsed from a text that thousands of lines share.
  std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>> known;
  for (records::AnsorRecord& r : log.records) {
    auto& [key, name] = known[{r.workload_key, r.target}];
    if (key.empty()) key = records::ansor_task_key(r), name = records::ansor_task_name(r.workload_key);
    gathered.add(key, name, r.target, std::move(r.record), r.line);
  }
}

Expected<Content> read_content(db::Database& db, const std::string& path, const ImportOptions& options, const StopToken& stop) {
  Content content;
  TW_TRY(content.told.format, sniff_log(path));
  TW_TRY(const std::string text, read_file(path));
  if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Reading the log was cancelled");
  if (content.told.format == LogFormat::ansor) {
    add_ansor(content, records::read_ansor(text));
  } else {
    TW_TRY(const auto known, known_tasks(db));
    add_autotvm(content, records::read_autotvm(text), known, path, options);
  }
  std::stable_sort(content.told.problems.begin(), content.told.problems.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  for (const TaskRecords& t : content.tasks) {
    const auto failures = std::count_if(t.records.begin(), t.records.end(), [](const records::Record& r) { return !r.result.ok(); });
    content.told.tasks.push_back({t.task.name, t.target, static_cast<int64_t>(t.records.size()), failures, t.task.dag != nullptr});
  }
  if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Reading the log was cancelled");
  return content;
}

Expected<TaskId> put_task(db::Database& db, const TaskRecords& t) {
  return t.task.dag ? db.put_task(t.task) : db.put_foreign_task(t.task.key, t.task.name, t.target);
}

/// The first model that has all of the tasks, else a model that stands for the log and has them.
Expected<ModelId> model_with(db::Database& db, const Content& content, const std::string& file) {
  TW_TRY(const auto models, db.models());
  for (const db::ModelRow& m : models) {
    TW_TRY(const auto rows, db.tasks_of(m.id));
    const bool has_all = std::all_of(content.tasks.begin(), content.tasks.end(), [&](const TaskRecords& t) {
      return std::any_of(rows.begin(), rows.end(), [&](const db::ModelTaskRow& row) { return row.task.key == t.task.key; });
    });
    if (has_all) return m.id;
  }
  std::error_code ec;
  const std::string path = std::filesystem::weakly_canonical(file, ec).string();
  TW_TRY(const ModelId log, db.put_model("log " + std::filesystem::path(file).filename().string(), path, content_key("log " + path),
                                         Json{{"log", format_name(content.told.format)}}));
  for (const TaskRecords& t : content.tasks) {
    TW_TRY(const TaskId id, put_task(db, t));
    TW_CHECK(db.link_task(log, id, 1));
  }
  return log;
}

/// A session searches one space. Names of the trials' spaces; trials without an index go with the first.
std::vector<std::string> spaces_of(const std::vector<TaskRecords>& tasks) {
  std::vector<std::string> spaces;
  for (const TaskRecords& t : tasks)
    for (const records::Record& r : t.records)
      if (r.candidate.index >= 0 && std::find(spaces.begin(), spaces.end(), r.candidate.space) == spaces.end()) spaces.push_back(r.candidate.space);
  if (spaces.empty()) spaces.emplace_back("default");
  return spaces;
}

/// Stores the trials of one session in batches. False: stopped.
Expected<bool> store(db::Database& db, SessionId session, const TaskRecords& t, const std::vector<records::Record>& trials, ImportedLog& result,
                     const StopToken& stop, ImportProgress& progress) {
  TW_TRY(const TaskId id, put_task(db, t));
  for (size_t begin = 0; begin < trials.size(); begin += kBatch) {
    if (stop.stop_requested()) return false;
    const std::vector<records::Record> batch(trials.begin() + static_cast<std::ptrdiff_t>(begin),
                                             trials.begin() + static_cast<std::ptrdiff_t>(std::min(trials.size(), begin + kBatch)));
    TW_CHECK(db.put_trials(session, id, batch));
    TW_CHECK(db.put_finals(session, id, batch));
    result.stored += static_cast<int64_t>(batch.size());
    progress.stored += static_cast<int64_t>(batch.size());
    for (const records::Record& r : batch) result.failures += r.result.ok() ? 0 : 1;
  }
  return true;
}

}  // namespace

const char* format_name(LogFormat format) { return format == LogFormat::ansor ? "ansor" : "autotvm"; }

Expected<LogFormat> sniff_log(const std::string& path) {
  constexpr int64_t kLines = 1000;
  std::optional<LogFormat> found;
  TW_CHECK(records::for_each_line(path, [&](const records::Line& line) {
    const std::string_view text = trim(line.text);
    if (found || line.number > kLines || text.empty() || text.starts_with('#')) return;
    if (records::parse_autotvm_line(text))
      found = LogFormat::autotvm;
    else if (records::parse_ansor_line(text))
      found = LogFormat::ansor;
  }));
  return found.value_or(LogFormat::autotvm);
}

Expected<LogContent> preview_log(db::Database& db, const std::string& path, const ImportOptions& options, StopToken stop) {
  TW_TRY(Content content, read_content(db, path, options, stop));
  return std::move(content.told);
}

Expected<ImportedLog> import_log(db::Database& db, const std::string& path, const ImportOptions& options, StopToken stop, ImportProgress& progress) {
  TW_TRY(Content content, read_content(db, path, options, stop));
  int64_t records = 0;
  for (const TaskRecords& t : content.tasks) records += static_cast<int64_t>(t.records.size());
  progress.records = records;
  ImportedLog result;
  result.content = content.told;
  if (content.tasks.empty()) return result;
  result.model = options.model;
  if (!result.model) {
    TW_TRY(result.model, model_with(db, content, path));
  }
  const std::vector<std::string> spaces = spaces_of(content.tasks);
  for (const std::string& space : spaces) {
    const Json session_options = {{"file", path}, {"space", space}, {"format", format_name(content.told.format)}};
    TW_TRY(const SessionId session, db.begin_session(result.model, "import", content.tasks.front().target, session_options, options.host));
    result.sessions.push_back(session);
    for (const TaskRecords& t : content.tasks) {
      std::vector<records::Record> trials;
      std::copy_if(t.records.begin(), t.records.end(), std::back_inserter(trials),
                   [&](const records::Record& r) { return r.candidate.index < 0 ? space == spaces.front() : r.candidate.space == space; });
      TW_TRY(const bool whole, store(db, session, t, trials, result, stop, progress));
      if (!whole) {
        TW_CHECK(db.end_session(session, "cancelled"));
        return result;
      }
    }
    TW_CHECK(db.end_session(session, "done"));
  }
  return result;
}

}  // namespace tw::logs
