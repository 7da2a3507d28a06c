// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cost/cost_model.h"

/// The rows of models_table.cpp.
namespace tw::cost {

ModelDef boosted_trees_model();
ModelDef felix_model();
ModelDef pam_model();
ModelDef random_model();
ModelDef symbols_model();
ModelDef tenset_mlp_model();

}  // namespace tw::cost
