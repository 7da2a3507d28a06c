// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/records/record.h"
#include "engine/records/task.h"
#include "engine/space/template.h"

namespace tw::tune {

/// What a task runs with untuned.
records::Candidate default_candidate(const records::Task& task);

/// A candidate that is to be measured. What cannot be had as a schedule has no steps and comes with the reason.
struct Proposal {
  records::Candidate candidate;
  std::string refused;  ///< one sentence, empty if there are steps
  std::optional<records::Prediction> prediction = {};
};
/// A point of a template's space.
Proposal point_candidate(const records::Task& task, const space::Template& t, const space::ConfigEntity& point);

}  // namespace tw::tune
