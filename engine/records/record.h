// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "engine/records/measure_result.h"
#include "engine/records/task.h"
#include "engine/schedule/step.h"

namespace tw::records {

/// The space of what a task runs with untuned.
inline constexpr std::string_view kDefaultSpace = "default";

/// A schedule before measuring, and how it was found.
struct Candidate {
  std::string space;                  ///< what it is a point of: a template, such as "conv2d_nchwc.cpu", or kDefaultSpace
  int64_t index = -1;                 ///< position in the config space; -1: it has none
  std::string config;                 ///< its choices by name: AutoTVM's entity list as JSON text, such as [["tile_x","sp",[-1,8]]]; empty if it has none
  std::vector<schedule::Step> steps;  ///< what is lowered
  uint64_t fingerprint = 0;           ///< schedule::fingerprint of the steps, for those without an index; 0: not known

  /// Whether it is the task's default schedule.
  bool is_default() const { return space == kDefaultSpace; }
};

/// What tells candidates of one task apart, the same over runs and machines: the index in its space; without one the fingerprint, so that lists of steps that
/// come to the same schedule are one candidate; where that is not known, steps and choices as they stand.
uint64_t identity(const Candidate& candidate);

/// What the cost model that was in use when a candidate was proposed said of it.
struct Prediction {
  double score = 0;     ///< higher is better; only scores of one model and space can be compared
  int64_t samples = 0;  ///< that the model had learned from, which tells the models of a search apart
  std::string model;    ///< its name, such as "boosted-trees/knob-1"; empty if that is not known
};

/// One trial in exchangeable form.
struct Record {
  std::string task_key;
  Candidate candidate;
  MeasureResult result;
  std::string origin;                    ///< where it was found, such as "session 2 (xgb), trial 17" or "log.json, line 12"; empty for what was just measured
  std::optional<Prediction> prediction;  ///< none if no model was asked
  bool claimed = false;                  ///< measured elsewhere, as a log says (api/claims.h)
};

}  // namespace tw::records
