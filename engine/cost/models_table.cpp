// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/models/models.h"

namespace tw::cost {

const std::vector<ModelDef>& models() {
  static const std::vector<ModelDef> kModels = {
      boosted_trees_model(),
      felix_model(),
      pam_model(),
      random_model(),
      symbols_model(),
      tenset_mlp_model(),
  };
  return kModels;
}

const ModelDef* find_model(std::string_view name) {
  for (const ModelDef& def : models()) {
    if (name == def.name) return &def;
  }
  return nullptr;
}

}  // namespace tw::cost
