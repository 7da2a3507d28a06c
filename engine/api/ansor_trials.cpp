// SPDX-License-Identifier: Apache-2.0
#include "engine/api/ansor_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/base/json.h"
#include "engine/records/ansor_steps.h"
#include "engine/records/topi.h"
#include "engine/schedule/fingerprint.h"
#include "engine/space/sketch/choices.h"
#include "engine/space/sketch/packing.h"

namespace tw::api {

Expected<records::Task> ansor_task(const records::AnsorRecord& line, const Target& target) {
  if (line.target.starts_with("cuda") != target.gpu.has_value())
    return Error(ErrorCode::unsupported, "Expected a record for a target like " + target.str() + ", found one for " + line.target.substr(0, 60));
  TW_TRY(te::DagPtr dag, records::topi_definition(line.workload_key));
  return records::make_task(records::ansor_task_name(line.workload_key), std::move(dag), target);
}

Expected<records::Record> ansor_trial(const records::Task& task, const records::AnsorRecord& line, ClaimChecker& claims) {
  TW_TRY(const Json json, parse_json(line.record.candidate.config));
  TW_TRY(const std::vector<schedule::Step> theirs, schedule::steps_from_json(json));
  TW_TRY(std::vector<schedule::Step> steps, records::steps_from_ansor(task.dag, theirs));
  TW_TRY(const schedule::Schedule schedule, schedule::Schedule::replay(task.dag, steps));
  records::Record record;
  record.task_key = task.key;
  record.candidate = {space::kSketchSpace, -1, space::choices_of(schedule, "ansor"), std::move(steps), schedule::fingerprint(schedule)};
  record.result = claims.as_foreign_claim(task, line.record.result);
  record.origin = line.record.origin;
  record.claimed = true;
  return record;
}

Expected<std::string> ansor_line_of(const records::Task& task, const records::Record& record) {
  records::Record plain = record;
  plain.candidate.steps = space::without_packing(*task.dag, plain.candidate.steps);
  return records::ansor_line(task, plain, plain.candidate.steps.size() < record.candidate.steps.size());
}

AnsorRecords::AnsorRecords(std::span<const records::Task> tasks, const std::vector<NamedLog>& logs) {
  struct Found {
    double seconds;
    const records::AnsorRecord* line;
    const std::string* log;
  };
  std::map<std::string, std::vector<Found>> lines;  // by key
  std::set<std::string> targets;                    // that they name
  for (const NamedLog& log : logs)
    for (const records::AnsorRecord& line : log.log.records) {
      if (!line.record.result.ok()) continue;
      lines[records::ansor_task_key(line)].push_back({line.record.result.seconds(), &line, &log.name});
      targets.insert(line.target);
    }
  ClaimChecker claims;
  for (const records::Task& task : tasks) {
    std::vector<Found> found;
    for (const std::string& key : lines.empty() ? std::vector<std::string>() : records::tvm_workload_keys(*task.dag))
      for (const std::string& target : targets) {
        if (target.starts_with("cuda") != task.target.gpu.has_value()) continue;
        const auto at = lines.find(records::ansor_task_key({.workload_key = key, .target = target}));
        if (at != lines.end()) found.insert(found.end(), at->second.begin(), at->second.end());
      }
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.seconds < b.seconds; });
    for (const Found& f : found) {
      auto trial = ansor_trial(task, *f.line, claims);
      if (!trial) {
        problems_.push_back(fmt::format("{}, line {}: {}", *f.log, f.line->line, trial.error().message));
        continue;
      }
      if (!task.target.gpu) {
        const auto s = schedule::Schedule::replay(task.dag, trial->candidate.steps);
        if (s) trial->candidate.steps = space::with_packed_constants(*s).steps();
      }
      trial->origin = fmt::format("{}, line {}", *f.log, f.line->line);
      best_.emplace(task.key, *std::move(trial));
      break;
    }
  }
}

Expected<std::optional<records::Record>> AnsorRecords::best(const std::string& task_key, records::Weights) {
  const auto at = best_.find(task_key);
  return at == best_.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace tw::api
