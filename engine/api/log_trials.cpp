// SPDX-License-Identifier: Apache-2.0
#include "engine/api/log_trials.h"

#include "engine/api/logged_task.h"

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/records/autotvm_task.h"
#include "engine/records/best.h"
#include "engine/space/fallback.h"
#include "engine/space/template.h"

namespace tw::api {
namespace {

/// The task that a line of ours describes. Errors: not_found if it describes none; what is wrong with its text, or a key that is not the text's.
Expected<records::Task> described_task(const records::AutotvmRecord& line) {
  if (line.dag_text.empty()) return Error(ErrorCode::not_found, "No task at hand has this computation, and the line does not describe it");
  TW_TRY(auto dag, te::parse_dag(line.dag_text));
  TW_TRY(const Target target, parse_target(line.target));
  records::Task task = records::make_task(line.task_name, std::move(dag), target);
  if (task.key != line.record.task_key) return Error(ErrorCode::corrupt, "The line's task is not the one that it describes");
  return task;
}

Error no_space(const records::Task& task, const records::AutotvmRecord& line) {
  return Error(ErrorCode::unsupported, fmt::format("Task '{}' has no space '{}' for this target", task.name, printable(line.record.candidate.space)));
}

/// The trial as a point of `space`, with its steps.
Expected<records::Record> point_of(const records::Task& task, const records::AutotvmRecord& line, const space::Template& t, const space::ConfigSpace& space) {
  records::Record record = line.record;
  record.task_key = task.key;
  TW_TRY(const auto entity, space.from_json(record.candidate.config));
  if (const std::string reason = space.filtered_reason(entity); !reason.empty()) return Error(ErrorCode::resource_limit, "The point is invalid: " + reason);
  TW_TRY(const auto schedule, t.apply(task.dag, task.target, entity));
  record.candidate.index = entity.index();
  record.candidate.config = entity.to_json();
  record.candidate.steps = schedule.steps();
  return record;
}

class Matcher {
 public:
  Matcher(std::span<const records::Task> known, const std::string& name, const Target* target)
      : known_(known.begin(), known.end()), name_(name), target_(target) {}

  void take(const records::AutotvmRecord& line) {
    const std::vector<const records::Task*> tasks = records::find_tasks(known_, line);
    for (const records::Task* task : tasks) add(line, *task);
    if (!tasks.empty()) return;
    auto task = described_task(line);
    if (!task && target_ && line.dag_text.empty() && line.record.task_key.empty()) {
      if (auto logged = logged_task(line, *target_)) task = std::move(logged);
    }
    if (!task) return problem(line, "unknown_task", task.error().text());
    known_.push_back(*task);
    add(line, *task);
  }
  LogTrials finish() && { return std::move(result_); }

 private:
  void add(const records::AutotvmRecord& line, const records::Task& task) {
    auto record = line.record.task_key.empty() ? in_space(task, line) : as_trial(task, line);
    if (!record) {
      const bool no_space = record.error().code == ErrorCode::unsupported, outside = record.error().code == ErrorCode::invalid_argument;
      return problem(line, no_space ? "unknown_space" : outside ? "not_in_space" : "invalid_point", record.error().text());
    }
    record->origin = fmt::format("{}, line {}", name_, line.line);
    const auto [place, fresh_task] = places_.try_emplace(task.key, result_.tasks.size());
    if (fresh_task) result_.tasks.push_back({task, {}});
    std::vector<records::Record>& records = result_.tasks[place->second].records;
    const records::Candidate& c = record->candidate;
    const std::string point = c.index < 0 ? dump_json(schedule::to_json(c.steps)) : fmt::format("{} #{}", c.space, c.index);
    const auto [at, fresh] = points_.try_emplace({place->second, point}, records.size());
    if (fresh) {
      records.push_back(std::move(*record));
      return;
    }
    if (record->result.decided_s() < records[at->second].result.decided_s()) records[at->second] = std::move(*record);
    problem(line, "duplicate", "A second trial of the same point");
  }

  /// as_trial() with the task's spaces made once.
  Expected<records::Record> in_space(const records::Task& task, const records::AutotvmRecord& line) {
    const auto [at, fresh] = spaces_.try_emplace({task.key, line.record.candidate.space});
    if (fresh) {
      at->second.first = space::find_template(*task.dag, task.target, line.record.candidate.space);
      if (at->second.first) at->second.second = at->second.first->space(*task.dag, task.target);
    }
    if (!at->second.first) return no_space(task, line);
    return point_of(task, line, *at->second.first, at->second.second);
  }

  void problem(const records::AutotvmRecord& line, const char* kind, const std::string& reason) {
    result_.problems.push_back({line.line, 0, kind, fmt::format("'{}': {}", printable(line.name), reason)});
  }

  std::vector<records::Task> known_;  ///< those that lines described so far included
  const std::string& name_;
  const Target* target_;                                                                                         ///< may be null
  std::map<std::pair<std::string, std::string>, std::pair<const space::Template*, space::ConfigSpace>> spaces_;  ///< by task and name; no template: not here
  LogTrials result_;
  std::map<std::string, size_t> places_;                     ///< of tasks, by key
  std::map<std::pair<size_t, std::string>, size_t> points_;  ///< of records, by task and point
};

/// The point nearest to the lines of one of the task's templates in AutoTVM; nothing was measured there.
std::optional<records::Record> nearest_record(const records::Task& task, const std::vector<LogRecords::NamedLog>& logs) {
  for (const std::string& name : records::autotvm_task(*task.dag).names) {
    const space::Template* t = space::find_template(*task.dag, task.target, name);
    std::vector<Json> references;
    for (const LogRecords::NamedLog& named : logs)
      for (const records::AutotvmRecord& line : named.log.records)
        if (line.name == name && line.record.result.ok()) references.push_back(line.record.candidate.config);
    if (!t || references.empty()) continue;
    const space::ConfigEntity point = space::nearest_point(t->space(*task.dag, task.target), references);
    if (point.index() < 0) continue;
    const auto schedule = t->apply(task.dag, task.target, point);
    if (!schedule) continue;
    records::Record record{task.key, {t->name, point.index(), point.to_json(), schedule->steps()}, {}, "nearest to records of other shapes"};
    record.result.status = records::Status::ok;
    return record;
  }
  return std::nullopt;
}

class FirstOf : public records::RecordSource {
 public:
  explicit FirstOf(std::vector<records::RecordSource*> sources) : sources_(std::move(sources)) {}
  Expected<std::optional<records::Record>> best(const std::string& task_key) override {
    for (records::RecordSource* source : sources_) {
      auto found = source->best(task_key);
      if (!found || *found) return found;
    }
    return std::optional<records::Record>();
  }

 private:
  std::vector<records::RecordSource*> sources_;
};

}  // namespace

LogRecords::LogRecords(std::span<const records::Task> tasks, const std::vector<NamedLog>& logs, bool nearest) {
  records::HistoryBest history;
  std::vector<records::Record> ours;
  for (const NamedLog& named : logs) {
    for (const records::AutotvmRecord& line : named.log.records) {
      const std::string origin = fmt::format("{}, line {}", named.name, line.line);
      if (line.record.task_key.empty()) {
        records::AutotvmRecord theirs = line;
        theirs.record.origin = origin;
        history.load(theirs);
      } else {
        ours.push_back(line.record);
        ours.back().origin = origin;
      }
    }
  }
  for (const records::Task& task : tasks) {
    const records::Record* measured = records::best_of(ours, task.key);
    std::optional<records::Record> record = measured ? std::optional(*measured) : applied(task, history);
    if (!record && nearest) record = nearest_record(task, logs);
    if (record) best_.emplace(task.key, std::move(*record));
  }
}

std::optional<records::Record> LogRecords::applied(const records::Task& task, const records::HistoryBest& history) {
  const records::AutotvmTask named = records::autotvm_task(*task.dag);
  const records::AutotvmRecord* best = nullptr;
  for (const std::string& name : named.names) {
    const records::AutotvmRecord* found = history.query(task.target.str(), name, named.args);
    if (found && (!best || found->record.result.seconds() < best->record.result.seconds())) best = found;
  }
  if (!best) return std::nullopt;
  auto record = as_trial(task, *best);
  if (record) return *std::move(record);
  problems_.push_back(fmt::format("{}: {}", best->record.origin, record.error().text()));
  return std::nullopt;
}

Expected<std::optional<records::Record>> LogRecords::best(const std::string& task_key) {
  const auto found = best_.find(task_key);
  return found == best_.end() ? std::nullopt : std::optional(found->second);
}

std::unique_ptr<records::RecordSource> first_of(std::vector<records::RecordSource*> sources) { return std::make_unique<FirstOf>(std::move(sources)); }

std::map<std::string, int64_t> LogTrials::by_kind() const {
  std::map<std::string, int64_t> counts;
  for (const records::LineProblem& p : problems) ++counts[p.kind];
  return counts;
}

Expected<records::Record> as_trial(const records::Task& task, const records::AutotvmRecord& line) {
  if (!line.record.task_key.empty()) {
    records::Record record = line.record;
    record.task_key = task.key;
    return record;
  }
  const space::Template* t = space::find_template(*task.dag, task.target, line.record.candidate.space);
  return t ? point_of(task, line, *t, t->space(*task.dag, task.target)) : no_space(task, line);
}

LogTrials match_log(const records::AutotvmLog& log, std::span<const records::Task> known, const std::string& name, const Target* target) {
  Matcher matcher(known, name, target);
  for (const records::AutotvmRecord& line : log.records) matcher.take(line);
  LogTrials result = std::move(matcher).finish();
  result.problems.insert(result.problems.begin(), log.problems.begin(), log.problems.end());
  return result;
}

}  // namespace tw::api
