// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/records/measure_result.h"
#include "engine/records/task.h"
#include "engine/schedule/step.h"

namespace tw::records {

/// A point of a space, before measuring.
struct Candidate {
  std::string space;                  ///< template name, such as "conv2d_nchwc.cpu"; "default" for the default schedule
  int64_t index = -1;                 ///< position in the config space, -1 if it has none
  std::string config;                 ///< AutoTVM's entity list as JSON text, such as [["tile_x","sp",[-1,8]]]; empty if it has none
  std::vector<schedule::Step> steps;  ///< what is lowered
};

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
