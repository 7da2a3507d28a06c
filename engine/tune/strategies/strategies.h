// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tune/strategy.h"

namespace tw::tune {

// One row of the table each; the file is named after the row.
StrategyDef ansor_strategy();
StrategyDef felix_strategy();
StrategyDef genetic_strategy();
StrategyDef grid_strategy();
StrategyDef moa_pruner_strategy();
StrategyDef pruner_strategy();
StrategyDef pruner_offline_strategy();
StrategyDef random_strategy();
StrategyDef tenset_mlp_strategy();
StrategyDef xgb_strategy();

}  // namespace tw::tune
