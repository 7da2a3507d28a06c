// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Asks a model of data that it did not learn from. Errors: as of CostModel::predict.
Expected<Judged> judge(const cost::CostModel& model, const cost::Dataset& test);

Table judged_table();
void add_row(Table& table, const Judged& j);
Json to_json(const Judged& j);

}  // namespace tw::cli
