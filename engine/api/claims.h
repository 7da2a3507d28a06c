// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "engine/records/record.h"
#include "engine/space/template.h"

/// A result that was measured elsewhere is a claim: anybody can write a line. It is never called verified, its times must be possible, and a point's steps must
/// be those that its space gives it. So the worst that a wrong line can do is to have a slow kernel compiled, which says where it comes from.
namespace tw::api {

/// The least time in which any machine of a target can run a task, in seconds: its operations at a peak that none exceeds, or the stores of its results.
double least_seconds(const te::Dag& dag, const Target& target);

/// Looks at claims, many of the same tasks.
class ClaimChecker {
 public:
  /// A result as a claim: not verified; times that no machine of the target reaches, of samples or of finals, make it a failure (bad_timing).
  records::MeasureResult as_claim(const records::Task& task, records::MeasureResult result);
  /// The same of a log of another system, whose machine may have more cores and wider vectors than the task's target: what no processor reaches is a failure.
  records::MeasureResult as_foreign_claim(const records::Task& task, records::MeasureResult result);
  /// Whether a candidate's steps are those of its point: a template's at its index, with the knobs that it names; the rule's for the default schedule; without
  /// either, steps that can be replayed. Errors: unsupported if the target has no such space; invalid_argument for points outside it; corrupt for other steps;
  /// those of the template and of replaying.
  Expected<void> check_steps(const records::Task& task, const records::Candidate& candidate);

 private:
  struct Space {
    const space::Template* source = nullptr;  ///< null: not here
    space::ConfigSpace space;
  };
  std::map<std::string, double> least_, foreign_;                ///< by task key
  std::map<std::pair<std::string, std::string>, Space> spaces_;  ///< by task key and name
};

/// A claim about a task whose computation is not known: no call takes less than a nanosecond.
records::MeasureResult as_claim(records::MeasureResult result);

}  // namespace tw::api
