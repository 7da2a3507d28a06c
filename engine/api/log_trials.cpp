// SPDX-License-Identifier: Apache-2.0
#include "engine/api/log_trials.h"

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "engine/api/claims.h"
#include "engine/api/logged_task.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/base/worker_pool.h"
#include "engine/records/autotvm_task.h"
#include "engine/records/best.h"
#include "engine/space/fallback.h"
#include "engine/space/point_texts.h"
#include "engine/space/template.h"
#include "engine/target/host.h"

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

/// A point of `space` that a line names, if the space's filters keep it.
Expected<space::ConfigEntity> kept(const space::ConfigSpace& space, Expected<space::ConfigEntity> point) {
  if (!point) return point;
  if (const std::string reason = space.filtered_reason(*point); !reason.empty()) return Error(ErrorCode::resource_limit, "The point is invalid: " + reason);
  return point;
}

/// A point with its steps.
Expected<records::Candidate> candidate_of(const records::Task& task, const records::AutotvmRecord& line, const space::Template& t, const space::ConfigEntity& point) {
  TW_TRY(const auto schedule, t.apply(task.dag, task.target, point));
  return records::Candidate{line.record.candidate.space, point.index(), point.json_text(), schedule.steps()};
}

records::Record trial_of(const records::Task& task, const records::AutotvmRecord& line, records::Candidate candidate, ClaimChecker& claims) {
  records::Record record{task.key, std::move(candidate), claims.as_foreign_claim(task, line.record.result), line.record.origin};
  record.claimed = true;
  return record;
}

/// LineProblem::kind of a line that is no trial of a task.
const char* kind_of(const Error& why) {
  switch (why.code) {
    case ErrorCode::unsupported:
      return "unknown_space";
    case ErrorCode::invalid_argument:
      return "not_in_space";
    case ErrorCode::corrupt:
      return "other_steps";
    default:
      return "invalid_point";
  }
}

class Matcher {
 public:
  Matcher(std::span<const records::Task> known, const std::string& name, const Target* target)
      : known_(known.begin(), known.end()), name_(name), target_(target) {}

  void take(std::span<const records::AutotvmRecord> lines) {
    for (size_t at = 0; at < lines.size(); at += kLinesAtOnce) take_some(lines.subspan(at, std::min(kLinesAtOnce, lines.size() - at)));
  }
  LogTrials finish() && { return std::move(result_); }

 private:
  static constexpr size_t kLinesAtOnce = 4096;  ///< whose trials are in memory twice
  static constexpr size_t kWorthThreads = 64;

  /// Tasks of `known_` that a line is a trial of, or why there are none.
  struct Found {
    std::vector<size_t> tasks;
    std::string why_none;
  };
  struct Space {
    const space::Template* source = nullptr;  ///< null: not here
    space::ConfigSpace space;
    std::optional<space::PointTexts> texts;
  };
  /// A line with a task that it is a trial of, or with none.
  struct Match {
    const records::AutotvmRecord* line;
    std::optional<size_t> task;
    std::string why_none;
    /// Of lines of other programs: the point in its space, then that with its steps.
    const Space* space = nullptr;
    std::optional<Expected<space::ConfigEntity>> point;
    std::optional<Expected<records::Candidate>> candidate;
    bool again = false;  ///< an earlier line has that point, and its steps
  };

  void take_some(std::span<const records::AutotvmRecord> lines) {
    std::vector<Match> matches;
    for (const records::AutotvmRecord& line : lines) {
      const Found found = found_for(line);
      if (found.tasks.empty()) matches.push_back({.line = &line, .task = std::nullopt, .why_none = found.why_none});
      for (const size_t task : found.tasks) matches.push_back(placed(line, task));
    }
    // Steps take most of the time, and nothing of one line depends on another's.
    const auto steps = [&](size_t i) {
      Match& m = matches[i];
      if (m.point && *m.point && !m.again) m.candidate.emplace(candidate_of(known_[*m.task], *m.line, *m.space->source, **m.point));
    };
    if (matches.size() < kWorthThreads) {
      for (size_t i = 0; i < matches.size(); ++i) steps(i);
    } else {
      if (!pool_) pool_.emplace(target::host_cores());
      pool_->run(matches.size(), steps);
    }
    for (Match& m : matches) {
      if (!m.task)
        problem(*m.line, "unknown_task", m.why_none);
      else if (const auto added = add(m); !added)
        problem(*m.line, kind_of(added.error()), added.error().text());
    }
  }

  Found found_for(const records::AutotvmRecord& line) {
    if (!line.record.task_key.empty() || !line.dag_text.empty()) return find(line);
    // Thousands of lines name the same workload.
    std::string workload = line.target.substr(0, line.target.find(' ')) + " " + line.name + " " + line.args;
    const auto known = found_.find(workload);
    if (known != found_.end()) return known->second;
    Found found = find(line);
    return found_.emplace(std::move(workload), std::move(found)).first->second;
  }

  Match placed(const records::AutotvmRecord& line, size_t task) {
    Match m{.line = &line, .task = task};
    if (!line.record.task_key.empty()) return m;
    const Expected<const Space*> space = space_of(line, known_[task]);
    if (space) m.space = *space;
    m.point.emplace(space ? kept(m.space->space, m.space->texts->read(line.record.candidate.config)) : space.error());
    if (*m.point) m.again = !made_[m.space].insert((*m.point)->index()).second;
    return m;
  }

  Found find(const records::AutotvmRecord& line) {
    Found found;
    for (const records::Task* task : records::find_tasks(known_, line)) found.tasks.push_back(static_cast<size_t>(task - known_.data()));
    if (!found.tasks.empty()) return found;
    auto task = described_task(line);
    if (!task && target_ && line.dag_text.empty() && line.record.task_key.empty()) {
      if (auto logged = logged_task(line, *target_)) task = std::move(logged);
    }
    if (!task) return {{}, task.error().text()};
    known_.push_back(*std::move(task));
    found_.clear();  // what was found before may be that task too
    return {{known_.size() - 1}, {}};
  }

  Expected<void> add(Match& m) {
    const records::AutotvmRecord& line = *m.line;
    const records::Task& task = known_[*m.task];
    if (m.again && replace(m, task)) return {};
    records::Record record;
    if (m.point) {
      if (!*m.point) return m.point->error();
      if (m.again && !m.candidate) m.candidate.emplace(candidate_of(task, line, *m.space->source, **m.point));
      TW_TRY(records::Candidate candidate, *std::move(m.candidate));
      record = trial_of(task, line, std::move(candidate), claims_);
    } else {
      TW_TRY(record, as_trial(task, line, claims_));
    }
    record.origin = origin_of(line);
    const auto [place, fresh_task] = places_.try_emplace(task.key, Place{result_.tasks.size(), {}});
    if (fresh_task) result_.tasks.push_back({task, {}});
    std::vector<records::Record>& records = result_.tasks[place->second.task].records;
    const auto [known, fresh] = place->second.points.try_emplace(records::identity(record.candidate), records.size());
    if (fresh) {
      records.push_back(std::move(record));
      return {};
    }
    records::Record& kept = records[known->second];
    if (record.result.decided_s() < kept.result.decided_s()) kept = std::move(record);
    problem(line, "duplicate", "A second trial of the same point");
    return {};
  }

  /// A line whose point another one had: the faster result stays. False if that one's steps could not be made.
  bool replace(const Match& m, const records::Task& task) {
    const auto place = places_.find(task.key);
    if (place == places_.end()) return false;
    const auto known = place->second.points.find(records::identity({.space = m.line->record.candidate.space, .index = (*m.point)->index()}));
    if (known == place->second.points.end()) return false;
    records::Record& kept = result_.tasks[place->second.task].records[known->second];
    records::MeasureResult result = claims_.as_foreign_claim(task, m.line->record.result);
    if (result.decided_s() < kept.result.decided_s()) kept = {task.key, std::move(kept.candidate), std::move(result), origin_of(*m.line), std::nullopt, true};
    problem(*m.line, "duplicate", "A second trial of the same point");
    return true;
  }

  std::string origin_of(const records::AutotvmRecord& line) const { return fmt::format("{}, line {}", name_, line.line); }

  /// Spaces are made once.
  Expected<const Space*> space_of(const records::AutotvmRecord& line, const records::Task& task) {
    const auto [at, fresh] = spaces_.try_emplace({task.key, line.record.candidate.space});
    Space& s = at->second;
    if (fresh) {
      s.source = space::find_template(*task.dag, task.target, line.record.candidate.space);
      if (s.source) {
        s.space = s.source->space(*task.dag, task.target);
        s.texts.emplace(s.space);
      }
    }
    if (!s.source) return no_space(task, line);
    return &s;
  }

  void problem(const records::AutotvmRecord& line, const char* kind, const std::string& reason) {
    result_.problems.push_back({line.line, 0, kind, fmt::format("'{}': {}", printable(line.name), reason)});
  }

  std::optional<WorkerPool> pool_;
  std::vector<records::Task> known_;  ///< those that lines described so far included
  const std::string& name_;
  const Target* target_;                                         ///< may be null
  std::map<std::string, Found> found_;                           ///< by target, name and arguments
  std::map<std::pair<std::string, std::string>, Space> spaces_;  ///< by task and name
  std::unordered_map<const Space*, std::unordered_set<int64_t>> made_;  ///< points that lines so far had
  ClaimChecker claims_;
  LogTrials result_;
  struct Place {
    size_t task;                                  ///< its number in the result
    std::unordered_map<uint64_t, size_t> points;  ///< places of its records, by what tells candidates apart
  };
  std::unordered_map<std::string, Place> places_;  ///< of tasks, by key
};

/// The point nearest to the lines of one of the task's templates in AutoTVM; nothing was measured there.
std::optional<records::Record> nearest_record(const records::Task& task, const std::vector<LogRecords::NamedLog>& logs) {
  for (const std::string& name : records::autotvm_task(*task.dag, task.target).names) {
    const space::Template* t = space::find_template(*task.dag, task.target, name);
    std::vector<Json> references;
    for (const LogRecords::NamedLog& named : logs)
      for (const records::AutotvmRecord& line : named.log.records) {
        if (line.name != name || !line.record.result.ok()) continue;
        if (auto config = parse_json(line.record.candidate.config)) references.push_back(*std::move(config));
      }
    if (!t || references.empty()) continue;
    const space::ConfigEntity point = space::nearest_point(t->space(*task.dag, task.target), references);
    if (point.index() < 0) continue;
    const auto schedule = t->apply(task.dag, task.target, point);
    if (!schedule) continue;
    records::Record record{task.key, {t->name, point.index(), point.json_text(), schedule->steps()}, {}, "nearest to records of other shapes"};
    record.result.status = records::Status::ok;
    record.claimed = true;
    return record;
  }
  return std::nullopt;
}

class FirstOf : public records::RecordSource {
 public:
  explicit FirstOf(std::vector<records::RecordSource*> sources) : sources_(std::move(sources)) {}
  Expected<std::optional<records::Record>> best(const std::string& task_key, records::Weights in_network) override {
    for (records::RecordSource* source : sources_) {
      auto found = source->best(task_key, in_network);
      if (!found || *found) return found;
    }
    return std::optional<records::Record>();
  }

  Expected<std::optional<records::InNetwork>> in_network(const std::string& network, const records::Record& record) override {
    for (records::RecordSource* source : sources_) {
      TW_TRY(auto judged, source->in_network(network, record));
      if (judged) return judged;
    }
    return std::optional<records::InNetwork>();
  }

 private:
  std::vector<records::RecordSource*> sources_;
};

}  // namespace

LogRecords::LogRecords(std::span<const records::Task> tasks, const std::vector<NamedLog>& logs, bool nearest) {
  records::HistoryBest history;
  ClaimChecker claims;
  std::map<std::string, const records::Task*> known;
  std::map<std::string, const records::Task*> quickest;   // by the workload that AutoTVM names: the task that needs the least time
  std::map<std::string, const records::Task*> of_a_line;  // the same by name and arguments as logged
  for (const records::Task& task : tasks) {
    known.emplace(task.key, &task);
    const records::AutotvmTask named = records::autotvm_task(*task.dag, task.target);
    for (const std::string& name : named.names) {
      const records::Task*& least = quickest[records::workload_text(name, named.args)];
      if (least == nullptr || least_seconds(*task.dag, task.target) < least_seconds(*least->dag, least->target)) least = &task;
    }
  }
  for (const NamedLog& named : logs) {
    for (const records::AutotvmRecord& line : named.log.records) {
      records::AutotvmRecord claim = line;
      claim.record.origin = fmt::format("{}, line {}", named.name, line.line);
      if (line.record.task_key.empty()) {
        const auto [task, fresh] = of_a_line.try_emplace(line.name + " " + line.args);
        if (fresh) task->second = quickest[records::workload_text(line.name, records::args_of(line))];
        if (task->second == nullptr) continue;
        claim.record.result = claims.as_foreign_claim(*task->second, std::move(claim.record.result));
        if (line.record.result.ok() && !claim.record.result.ok()) problems_.push_back(fmt::format("{}: {}", claim.record.origin, claim.record.result.message));
        history.load(claim);
        continue;
      }
      const auto task = known.find(line.record.task_key);
      if (task == known.end()) continue;
      auto trial = as_trial(*task->second, claim, claims);
      if (!trial) {
        problems_.push_back(fmt::format("{}: {}", claim.record.origin, trial.error().text()));
        continue;
      }
      if (line.record.result.ok() && !trial->result.ok()) problems_.push_back(fmt::format("{}: {}", claim.record.origin, trial->result.message));
      measured_.push_back(*std::move(trial));
    }
  }
  for (const records::Task& task : tasks) {
    if (records::best_of(measured_, task.key)) continue;
    std::optional<records::Record> record = applied(task, history);
    if (!record && nearest) record = nearest_record(task, logs);
    if (record) applied_.emplace(task.key, std::move(*record));
  }
}

std::optional<records::Record> LogRecords::applied(const records::Task& task, const records::HistoryBest& history) {
  const records::AutotvmTask named = records::autotvm_task(*task.dag, task.target);
  const records::AutotvmRecord* best = nullptr;
  for (const std::string& name : named.names) {
    const records::AutotvmRecord* found = history.query(task.target.str(), name, named.args);
    if (found && (!best || found->record.result.seconds() < best->record.result.seconds())) best = found;
  }
  if (!best) return std::nullopt;
  ClaimChecker claims;
  auto record = as_trial(task, *best, claims);
  if (record) return *std::move(record);
  problems_.push_back(fmt::format("{}: {}", best->record.origin, record.error().text()));
  return std::nullopt;
}

Expected<std::optional<records::Record>> LogRecords::best(const std::string& task_key, records::Weights in_network) {
  if (const records::Record* measured = records::best_of(measured_, task_key, in_network)) return std::optional(*measured);
  const auto found = applied_.find(task_key);
  return found == applied_.end() ? std::nullopt : std::optional(found->second);
}

std::unique_ptr<records::RecordSource> first_of(std::vector<records::RecordSource*> sources) { return std::make_unique<FirstOf>(std::move(sources)); }

Expected<records::Record> as_trial(const records::Task& task, const records::AutotvmRecord& line, ClaimChecker& claims) {
  if (!line.record.task_key.empty()) {
    TW_CHECK(claims.check_steps(task, line.record.candidate));
    records::Record record = line.record;
    record.task_key = task.key;
    record.result = claims.as_claim(task, std::move(record.result));
    record.claimed = true;
    return record;
  }
  const space::Template* t = space::find_template(*task.dag, task.target, line.record.candidate.space);
  if (!t) return no_space(task, line);
  const space::ConfigSpace space = t->space(*task.dag, task.target);
  TW_TRY(const auto point, kept(space, space.from_json(line.record.candidate.config)));
  TW_TRY(records::Candidate candidate, candidate_of(task, line, *t, point));
  return trial_of(task, line, std::move(candidate), claims);
}

LogTrials match_log(const records::AutotvmLog& log, std::span<const records::Task> known, const std::string& name, const Target* target) {
  Matcher matcher(known, name, target);
  matcher.take(log.records);
  LogTrials result = std::move(matcher).finish();
  result.problems.insert(result.problems.begin(), log.problems.begin(), log.problems.end());
  return result;
}

}  // namespace tw::api
