// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/sketch_search.h"
#include "engine/tune/strategies/strategies.h"

namespace tw::tune {

const SketchParts& ansor_parts() {
  static const SketchParts kParts{"boosted-trees", "boosted-trees", nullptr, std::nullopt, true, [] {
                                    return Json{{"loss", "reg"},          {"max_depth", 10},     {"eta", 0.2},            {"gamma", 0.001}, {"min_child_weight", 0.0},
                                                {"least_weight", 0.0}, {"tree_method", "hist"}, {"rounds", 300}, {"patience", 50}};
                                  }};
  return kParts;
}

StrategyDef ansor_strategy() {
  return sketch_strategy<ansor_parts>(
      "ansor",
      "Derives sketches from what stages read, draws their numbers at random, and breeds schedules whose cost a model of boosted trees predicts from their statements. "
      "It needs no template, so it tunes what has none; beside sketches it begins with points of the templates that there are, and with the schedule by rule. Other than TVM's it lets lengths "
      "not divide, and blocks have more threads than 64 where nothing is tiled.",
      "Zheng et al., \"Ansor: generating high-performance tensor programs for deep learning\", OSDI 2020; parameters of TVM 0.9's SketchPolicy; drafts: Qiao et al., \"Pruner\", arXiv 2402.02361");
}

}  // namespace tw::tune
