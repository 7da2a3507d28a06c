// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cuda/tensorcore.h"

namespace tw::space::cuda {

namespace {

std::optional<cpu::Anchor> dense_of(const te::Dag& dag, const Target& target) { return tensorcore_anchor(dag, target, "dense", te::Role::constant); }

bool dense_tensorcore_matches(const te::Dag& dag, const Target& target) { return dense_of(dag, target).has_value(); }

ConfigSpace dense_tensorcore_space(const te::Dag& dag, const Target& target) { return tensorcore_space(dag, target, *dense_of(dag, target)); }

Expected<schedule::Schedule> dense_tensorcore_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return tensorcore_apply(dag, target, *dense_of(*dag, target), e);
}

ConfigEntity dense_tensorcore_fallback(const te::Dag& dag, const Target& target) { return tensorcore_fallback(dag, target, *dense_of(dag, target)); }

}  // namespace

Template dense_tensorcore() {
  return {"dense_tensorcore.cuda",
          dense_tensorcore_matches,
          dense_tensorcore_space,
          dense_tensorcore_apply,
          dense_tensorcore_fallback,
          "AutoTVM's dense layer for tensor cores, of 16-bit floats, bytes, or float32 rounded to TF32. Warps compute tiles of the result from tiles that are "
          "copied ahead.",
          kAutotvm};
}

}  // namespace tw::space::cuda
