// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cuda/tensorcore.h"

namespace tw::space::cuda {

namespace {

std::optional<cpu::Anchor> activations_of(const te::Dag& dag, const Target& target) {
  const auto a = tensorcore_anchor(dag, target, "batch_matmul", te::Role::activation);
  return a ? a : tensorcore_anchor(dag, target, "matmul", te::Role::activation);
}

bool batch_matmul_tensorcore_matches(const te::Dag& dag, const Target& target) { return activations_of(dag, target).has_value(); }

ConfigSpace batch_matmul_tensorcore_space(const te::Dag& dag, const Target& target) { return tensorcore_space(dag, target, *activations_of(dag, target)); }

Expected<schedule::Schedule> batch_matmul_tensorcore_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return tensorcore_apply(dag, target, *activations_of(*dag, target), e);
}

ConfigEntity batch_matmul_tensorcore_fallback(const te::Dag& dag, const Target& target) {
  return tensorcore_fallback(dag, target, *activations_of(dag, target));
}

}  // namespace

Template batch_matmul_tensorcore() {
  return {"batch_matmul_tensorcore.cuda",
          batch_matmul_tensorcore_matches,
          batch_matmul_tensorcore_space,
          batch_matmul_tensorcore_apply,
          batch_matmul_tensorcore_fallback,
          "AutoTVM's product of two activations for tensor cores, as dense_tensorcore.cuda does it.",
          kAutotvm};
}

}  // namespace tw::space::cuda
