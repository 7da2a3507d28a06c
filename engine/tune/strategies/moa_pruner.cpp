// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/sketch_search.h"
#include "engine/tune/strategies/strategies.h"

namespace tw::tune {

const SketchParts& moa_pruner_parts() {
  static const SketchParts kParts{"tenset-mlp", "pam", "pam", cost::PretrainedFor::others, true, [] {
                                    Json out = pruner_defaults();
                                    out.update({{"momentum", 0.99}, {"every", 4}});
                                    return out;
                                  }};
  return kParts;
}

StrategyDef moa_pruner_strategy() {
  return sketch_strategy<moa_pruner_parts>(
      "moa-pruner",
      "Pruner that begins with a network from another device: every fourth round a copy of it learns from the trials and predicts from then on, and the network itself follows by a hundredth.",
      "Qiao et al., \"Pruner: a draft-then-verify exploration mechanism to accelerate tensor program tuning\", arXiv 2402.02361, with the parameters of its release");
}

}  // namespace tw::tune
