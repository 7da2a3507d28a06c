// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/simplify_expressions.h"

#include <sstream>
#include <unordered_map>

#include "engine/graph/passes/rules/rule.h"
#include "engine/graph/rewrite.h"

namespace tw::graph {

namespace {

using rules::Draft;
using rules::Outcome;

const std::unordered_map<std::string, std::vector<const rules::Rule*>>& rules_by_op() {
  static const auto kMap = [] {
    std::unordered_map<std::string, std::vector<const rules::Rule*>> m;
    for (const auto& list : {rules::movement(), rules::arithmetic(), rules::normalisation(), rules::quantisation(), rules::convolutions(), rules::scattering(), rules::ordering(),
                             rules::products(), rules::pooling(), rules::activations()})
      for (const rules::Rule& r : list) {
        std::istringstream ops(r.ops);
        for (std::string op; ops >> op;) m[op].push_back(&r);
      }
    return m;
  }();
  return kMap;
}

/// The first rule that fits makes something of the draft.
Expected<Outcome> apply_once(GraphBuilder& b, const Draft& draft, const TensorType& result, const std::string& name, const Target& target) {
  const auto it = rules_by_op().find(draft.op);
  if (it == rules_by_op().end()) return Outcome(std::monostate{});
  rules::Site site(b, draft, result, name, target);
  for (const rules::Rule* rule : it->second) {
    TW_TRY(Outcome made, rule->apply(site));
    if (!std::holds_alternative<std::monostate>(made)) return made;
  }
  return Outcome(std::monostate{});
}

Expected<void> rewrite_node(Rewriter& rewrite, const Node& n, const Target& target) {
  const TensorType& result = rewrite.old().values[static_cast<size_t>(n.outputs[0])].type;
  GraphBuilder& b = rewrite.builder();
  rewrite.at(n);
  Draft draft{n.op, {}, n.attrs};
  for (const int v : n.inputs) draft.inputs.push_back(rewrite.value(v));
  for (;;) {
    TW_TRY(Outcome made, apply_once(b, draft, result, n.name, target));
    if (auto* next = std::get_if<Draft>(&made)) {
      draft = std::move(*next);
      continue;
    }
    if (const int* known = std::get_if<int>(&made)) {
      if (rewrite.may_alias(n.outputs[0], *known)) {
        rewrite.replace(n.outputs[0], *known);
        return {};
      }
      draft = {"identity", {*known}};  // an output of the graph needs a node of its own
    }
    break;
  }
  TW_TRY(const std::vector<int> out, b.node(draft.op, std::move(draft.inputs), std::move(draft.attrs), n.name));
  b.rename(out[0], rewrite.old().values[static_cast<size_t>(n.outputs[0])].name);
  rewrite.replace(n.outputs[0], out[0]);
  return {};
}

}  // namespace

Expected<Graph> simplify_expressions(const Graph& g, const Target& target) {
  Rewriter rewrite(g);
  for (const Node& n : g.nodes) {
    const bool looked_at = n.outputs.size() == 1 && rules_by_op().count(n.op);
    TW_CHECK(looked_at ? rewrite_node(rewrite, n, target) : rewrite.copy(n));
  }
  return std::move(rewrite).finish();
}

}  // namespace tw::graph
