// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/space_search.h"
#include "engine/tune/strategies/strategies.h"

namespace tw::tune {

const std::vector<StrategyDef>& strategies() {
  static const std::vector<StrategyDef> kStrategies = {
      random_strategy(),
      grid_strategy(),
      genetic_strategy(),
      xgb_strategy(),
      ansor_strategy(),
      tenset_mlp_strategy(),
      pruner_strategy(),
      moa_pruner_strategy(),
      pruner_offline_strategy(),
      felix_strategy(),
  };
  return kStrategies;
}

const StrategyDef* find_strategy(std::string_view name) {
  for (const StrategyDef& def : strategies()) {
    if (name == def.name) return &def;
  }
  return nullptr;
}

std::unique_ptr<Strategy> make_strategy(const StrategyDef& def, const StrategyInput& input) {
  return def.make_points ? std::make_unique<SpaceSearch>(def, input) : def.make(input);
}

}  // namespace tw::tune
