// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "engine/cost/cost_model.h"

/// Data and models for tests of cost models.
namespace tw::cost::fixture {

inline std::unique_ptr<CostModel> model(const char* name, const Json& given = Json::object()) {
  const ModelDef* def = find_model(name);
  return def->make(*def, *find_feature(def->feature != nullptr ? def->feature : "knob"), resolve_params(def->params, given).value());
}

/// Candidates of tasks, each of some rows of three numbers: two that say how fast it is, summed up over the rows, and one that says nothing.
inline Dataset hills(int tasks, int samples, int most_rows, uint64_t seed) {
  Rng rng(seed);
  Dataset data;
  for (int t = 0; t < tasks; ++t) {
    for (int i = 0; i < samples; ++i) {
      FeatureRows rows{{}, static_cast<size_t>(rng.range(1, most_rows))};
      double speed = 0;
      for (size_t r = 0; r < rows.count; ++r) {
        const double x = rng.uniform_real() * 4 - 2, y = rng.uniform_real() * 4 - 2;
        rows.values.insert(rows.values.end(), {static_cast<float>(x), static_cast<float>(y), static_cast<float>(rng.uniform_real())});
        speed += std::exp(-(x - 0.5) * (x - 0.5) - y * y);
      }
      data.add(std::to_string(t), std::move(rows), speed * (t + 1));
    }
  }
  return data;
}

}  // namespace tw::cost::fixture
