// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/curve.h"
#include "engine/cost/features/features.h"
#include "engine/cost/features/felix.h"
#include "engine/cost/features/itervar.h"
#include "engine/cost/features/knob.h"
#include "engine/cost/features/pam.h"
#include "engine/cost/features/store_costs.h"
#include "engine/cost/features/stores.h"
#include "engine/cost/draft/draft.h"

namespace tw::cost {

const std::vector<FeatureDef>& features() {
  static const std::vector<FeatureDef> kFeatures = {
      {"knob", 1, RowsPer::candidate, 0, knob_features, "The values of the knobs themselves. Costs microseconds, and means nothing for another shape.",
       "AutoTVM's feature type \"knob\" (Chen et al., NeurIPS 2018)"},
      {"itervar", 1, RowsPer::candidate, 0, itervar_features,
       "For every loop: its length, depth, kind, arithmetic, and how each array is reused in it. Costs a lowering for each candidate, and carries over to "
       "other shapes.",
       "Loop context features of Chen et al., NeurIPS 2018, appendix A; AutoTVM's feature type \"itervar\""},
      {"curve", 1, RowsPer::candidate, 0, curve_features,
       "For every array: how reuse, footprint and trip counts grow from loop to loop, sampled at fixed points, so that the number of loops does not matter.",
       "Relation features of Chen et al., NeurIPS 2018; AutoTVM's feature type \"curve\""},
      {"stores", 1, RowsPer::store, kStoreColumns, stores_features,
       "For every statement that stores, a row of its own: how often it runs, in what kinds of loops, and what it touches of each array, near and far. Rows add up, "
       "and mean the same in every task.",
       "In the manner of Ansor's features of innermost statements (Zheng et al., OSDI 2020)"},
      {"ansor", 1, RowsPer::store, kAnsorColumns, ansor_features,
       "Ansor's 164 numbers for every stage that stores: operations, marks of loops, threads, five arrays with the distances of their reuse, arithmetic intensity. "
       "Worked out from the loops' lengths alone, thousands in a second.",
       "Per-store features of Ansor (Zheng et al., OSDI 2020) as TVM 0.9 counts them", ansor_program},
      {"tenset", 1, RowsPer::store, kAnsorColumns, tenset_features,
       "The same as TenSet counts them, for models that learned from its measurements: reuse over all loops that move nothing, the nearest arrays first.",
       "TenSet's fork of TVM (Zheng et al., NeurIPS 2021 datasets)", tenset_program},
      {"felix", 1, RowsPer::store, kFelixColumns, felix_features,
       "Ansor's numbers without the samples of arithmetic intensity, as smooth formulas of the schedule's numbers: what gradient descent goes downhill on, at a candidate.",
       "Felix (Zhao et al., ASPLOS 2024)"},
      {"pam", 1, RowsPer::store, kPamColumns, pam_features,
       "TenSet's numbers with flags of the task and, where shared memory feeds a product in registers, what its four statements do with each array. For the neural networks.",
       "TenSet (Zheng et al., NeurIPS 2021 datasets) and Pruner (Qiao et al., arXiv 2402.02361)", pam_program},
      {"symbols", 1, RowsPer::store, kDraftColumns, symbol_features,
       "What a formula needs of every stage that stores: operations, registers, what blocks copy, and the time that our own formula makes of it. For the model symbols.",
       "Pruner's symbol-based analyzer (Qiao et al., arXiv 2402.02361), and beside it our own for GPUs and processors", symbol_program},
  };
  return kFeatures;
}

Expected<schedule::Schedule> FeatureInput::schedule() const {
  if (steps != nullptr) return schedule::Schedule::replay(dag, *steps);
  TW_ASSERT(space != nullptr && space_template != nullptr, "a candidate has steps or a point of its template's space");
  TW_TRY(const space::ConfigEntity entity, space->get(point));
  return space_template->apply(dag, target, entity);
}

Expected<FeatureRows> by_program(const FeatureInput& input, FeatureRows (*of_program)(const space::Program&, const space::Evaluated&, const Target&)) {
  TW_TRY(const schedule::Schedule s, input.schedule());
  TW_TRY(const space::Program program, space::Program::make(input.dag, s.steps()));
  const lower::LoopExtents extents(s);
  if (!extents.ok()) return Error(ErrorCode::illegal_schedule, "Expected a schedule that can be lowered, found one that a later step made illegal");
  TW_TRY(const space::Evaluated e, program.evaluate(space::numbers_of(s.steps()), &extents));
  TW_CHECK(program.check(e, input.target));
  return of_program(program, e, input.target);
}

const FeatureDef* find_feature(std::string_view name) {
  for (const FeatureDef& def : features()) {
    if (name == def.name) return &def;
  }
  return nullptr;
}

}  // namespace tw::cost
