// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/sketch_search.h"
#include "engine/tune/strategies/strategies.h"

namespace tw::tune {

const SketchParts& pruner_parts() {
  static const SketchParts kParts{"tenset-mlp", "pam", "pam", std::nullopt, true, pruner_defaults};
  return kParts;
}

StrategyDef pruner_strategy() {
  return sketch_strategy<pruner_parts>(
      "pruner",
      "A formula over symbols drafts some hundred schedules without measuring, then a network that learns from the trials verifies them: few generations of a large population, where Ansor "
      "breeds four by its model. On GPUs the network is Pruner's, on processors, where no shared memory feeds products, TenSet's, and the formula is our own.",
      "Qiao et al., \"Pruner: a draft-then-verify exploration mechanism to accelerate tensor program tuning\", arXiv 2402.02361, with the parameters of its release");
}

}  // namespace tw::tune
