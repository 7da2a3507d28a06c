// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/sketch_search.h"
#include "engine/tune/strategies/strategies.h"

namespace tw::tune {

const SketchParts& pruner_offline_parts() {
  static const SketchParts kParts{"tenset-mlp", "pam", "pam", cost::PretrainedFor::itself, false, pruner_defaults};
  return kParts;
}

StrategyDef pruner_offline_strategy() {
  return sketch_strategy<pruner_offline_parts>(
      "pruner-offline",
      "Pruner with a network that was fitted beforehand, on the device that is tuned for, and learns nothing more: no time goes into fitting.",
      "Qiao et al., \"Pruner: a draft-then-verify exploration mechanism to accelerate tensor program tuning\", arXiv 2402.02361, with the parameters of its release");
}

}  // namespace tw::tune
