// SPDX-License-Identifier: Apache-2.0
#include "app/cli/judged.h"

#include <fmt/format.h>

#include <limits>

#include "engine/base/json.h"

namespace tw::cli {

Expected<Judged> judge(const cost::CostModel& model, const cost::Dataset& test, const std::map<std::string, int>& weights) {
  Judged j{.name = model.name(), .learned = model.samples(), .tested = test.size(), .scores_are_speeds = model.params().value("loss", "") == "reg"};
  if (test.size() == 0) return j;
  TW_TRY(const std::vector<float> said, model.predict(test.matrix()));
  const std::vector<double> labels = test.labels();
  std::vector<std::vector<double>> seconds;
  for (const cost::Dataset::Task& t : test.tasks()) {
    std::vector<double>& of_task = seconds.emplace_back();
    for (const auto& s : t.samples) of_task.push_back(s.speed > 0 ? 1 / s.speed : std::numeric_limits<double>::infinity());
  }
  std::vector<cost::JudgedTask> tasks;
  size_t at = 0;
  for (size_t i = 0; i < seconds.size(); ++i) {
    const auto weight = weights.find(test.tasks()[i].key);
    tasks.push_back({weight == weights.end() ? 1.0 : weight->second, seconds[i], {said.data() + at, seconds[i].size()}});
    at += seconds[i].size();
  }
  j.quality = cost::quality(tasks, labels, said);
  return j;
}

Table judged_table() { return Table({"model", ">learned", ">tested", ">pairs in order", ">best of 1", ">best of 8", ">RMSE", ">R2"}); }

void add_row(Table& table, const Judged& j) {
  if (j.tested == 0) {
    table.row({j.name, std::to_string(j.learned), "0", "-", "-", "-", "-", "-"});
  } else {
    table.row({j.name, std::to_string(j.learned), std::to_string(j.tested), fmt::format("{:.1f} %", 100 * j.quality.pairs), fmt::format("{:.3f}", j.quality.best_of_1),
               fmt::format("{:.3f}", j.quality.best_of_8), j.scores_are_speeds ? fmt::format("{:.3f}", j.quality.rmse) : "-",
               j.scores_are_speeds ? fmt::format("{:.2f}", j.quality.r_squared) : "-"});
  }
}

Json to_json(const Judged& j) {
  return {{"model", j.name},
          {"learned", j.learned},
          {"tested", j.tested},
          {"pairs_in_order", j.quality.pairs},
          {"best_of_1", j.quality.best_of_1},
          {"best_of_8", j.quality.best_of_8},
          {"rmse", j.scores_are_speeds ? Json(j.quality.rmse) : Json()},
          {"r_squared", j.scores_are_speeds ? Json(j.quality.r_squared) : Json()}};
}

}  // namespace tw::cli
