// SPDX-License-Identifier: Apache-2.0
#include "engine/api/ansor_trials.h"

#include "engine/base/json.h"
#include "engine/records/ansor_steps.h"
#include "engine/records/topi.h"
#include "engine/schedule/fingerprint.h"
#include "engine/space/sketch/choices.h"

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
  record.result = claims.as_claim(task, line.record.result);
  record.origin = line.record.origin;
  record.claimed = true;
  return record;
}

}  // namespace tw::api
