// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/graph/passes/rules/rule.h"

namespace tw::graph::rules {

namespace {

/// x * tanh(softplus(x)), which takes one exponential where the three take two functions more.
Expected<Outcome> mish(Site& s) {
  for (const size_t slot : {size_t{0}, size_t{1}}) {
    const Node* outer = s.made_by(s.input(slot), "tanh");
    const Node* inner = outer ? s.made_by(outer->inputs[0], "softplus") : nullptr;
    if (inner && inner->inputs[0] == s.input(1 - slot)) return Outcome(Draft{"mish", {s.input(1 - slot)}});
  }
  return nothing();
}

}  // namespace

std::span<const Rule> activations() {
  static const std::array kRules = {
      Rule{"mul", mish, "x * tanh(softplus(x)) is mish(x)"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
