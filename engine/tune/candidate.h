// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/records/record.h"
#include "engine/records/task.h"
#include "engine/space/template.h"

namespace tw::tune {

/// The default schedule of a task: space "default", index -1.
records::Candidate default_candidate(const records::Task& task);

/// A point of a template's space with its steps. A point that the template refuses has no steps and comes back with the reason.
struct PointCandidate {
  records::Candidate candidate;
  std::string refused;  ///< one sentence, empty if there are steps
  std::optional<records::Prediction> prediction = {};
};
PointCandidate point_candidate(const records::Task& task, const space::Template& t, const space::ConfigEntity& point);

}  // namespace tw::tune
