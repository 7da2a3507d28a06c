// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/candidate.h"

namespace tw::tune {

records::Candidate default_candidate(const records::Task& task) {
  records::Candidate c;
  c.space = records::kDefaultSpace;
  c.steps = space::default_schedule(task.dag, task.target).steps();
  return c;
}

Proposal point_candidate(const records::Task& task, const space::Template& t, const space::ConfigEntity& point) {
  Proposal result;
  result.candidate.space = t.name;
  result.candidate.index = point.index();
  result.candidate.config = point.json_text();
  const auto schedule = t.apply(task.dag, task.target, point);
  if (schedule) {
    result.candidate.steps = schedule->steps();
  } else {
    result.refused = schedule.error().text();
  }
  return result;
}

}  // namespace tw::tune
