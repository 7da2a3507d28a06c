// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cost/pretrained.h"
#include "engine/tune/strategy.h"

/// One search over schedules of sketches: draws them, drafts by a formula if told to, breeds them by what a model says, and measures the best. Tuners are rows with other
/// parts and defaults; what one of them sets otherwise can be set with the others too.
namespace tw::tune {

/// What a tuner consists of. Its models have parameters of the same names and defaults.
struct SketchParts {
  const char* model;      ///< of cost::models(); what a processor's candidates are judged with
  const char* gpu_model;  ///< what those of a GPU are
  const char* feature;    ///< what both see; null: a parameter
  std::optional<cost::PretrainedFor> begins_with;  ///< the pretrained model that it begins with unless it is given another; nothing: it begins with nothing
  bool learns;            ///< from what is measured
  Json (*defaults)();     ///< of parameters that are not as the search or the model has them
};

ParamSchema sketch_params(const SketchParts& parts);
std::unique_ptr<Strategy> make_sketch_search(const SketchParts& parts, const StrategyInput& input);
/// What all tasks of a session share. Null where the parameters say that each task has its own.
/// Errors: as of cost::load_model, for a file of another model, and for none where the tuner needs one.
Expected<std::unique_ptr<cost::CostModel>> sketch_model(const SketchParts& parts, const Json& params, const Target& target);

/// What Pruner sets otherwise than Ansor, beside the model. Source: parameters of its release.
Json pruner_defaults();

/// Parts of the rows that are made of it.
const SketchParts& ansor_parts();
const SketchParts& moa_pruner_parts();
const SketchParts& pruner_parts();
const SketchParts& pruner_offline_parts();
const SketchParts& tenset_mlp_parts();

/// The row of a tuner, with its parts as functions of no state.
template <const SketchParts& (*parts)()>
StrategyDef sketch_strategy(const char* name, const char* summary, const char* source) {
  return {name,
          sketch_params(parts()),
          [](const StrategyInput& input) { return make_sketch_search(parts(), input); },
          nullptr,
          summary,
          source,
          [](const Json& params, const Target& target) { return sketch_model(parts(), params, target); }};
}

}  // namespace tw::tune
