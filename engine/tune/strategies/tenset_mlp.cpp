// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/sketch_search.h"
#include "engine/tune/strategies/strategies.h"

namespace tw::tune {

const SketchParts& tenset_mlp_parts() {
  static const SketchParts kParts{"tenset-mlp", "tenset-mlp", "pam", std::nullopt, true, [] { return Json::object(); }};
  return kParts;
}

StrategyDef tenset_mlp_strategy() {
  return sketch_strategy<tenset_mlp_parts>(
      "tenset-mlp",
      "Ansor's search with TenSet's network in place of trees, which tw-learner fits and updates round by round, or which comes from a file and learns nothing more (learns=false).",
      "Zheng et al., \"TenSet\", NeurIPS Datasets and Benchmarks 2021; the search: Ansor (OSDI 2020)");
}

}  // namespace tw::tune
