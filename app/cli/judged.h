// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "app/cli/table.h"
#include "engine/base/json_fwd.h"
#include "engine/cost/cost_model.h"
#include "engine/cost/metrics.h"

namespace tw::cli {

/// How well a model knows what it did not learn from.
struct Judged {
  std::string name;  ///< CostModel::name
  size_t learned = 0, tested = 0;
  cost::Quality quality;
  bool scores_are_speeds = false;  ///< only then RMSE and R² say something: a model that learned orders gives scores without a scale
};

/// Asks a model of data that it did not learn from. `weights`: how often the network runs each task, by key; 1 for those that it lacks. Errors: as of CostModel::predict.
Expected<Judged> judge(const cost::CostModel& model, const cost::Dataset& test, const std::map<std::string, int>& weights = {});

Table judged_table();
void add_row(Table& table, const Judged& j);
Json to_json(const Judged& j);

}  // namespace tw::cli
