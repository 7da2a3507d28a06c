// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/expression.h"

#include "engine/base/text.h"

namespace tw::graph {

Expected<te::DagPtr> expression_of(const Node& node) {
  TW_TRY(te::DagPtr dag, te::parse_dag(node.attrs.text("text", "")));
  if (dag->outputs.size() != 1) return Error(ErrorCode::unsupported, fmt::format("Expected an expression with one output, found {}", dag->outputs.size()));
  return dag;
}

Expected<Graph> graph_of(const std::string& name, const std::string& text) {
  Attrs attrs;
  attrs.values["text"] = text;
  TW_TRY(const te::DagPtr dag, expression_of({.name = name, .op = kExpression, .attrs = attrs}));
  GraphBuilder b(name);
  std::vector<int> inputs;
  for (const te::Op& op : dag->ops)
    if (op.is_placeholder()) inputs.push_back(b.input(op.name, {op.output->dtype, op.output->shape}));
  TW_TRY(const std::vector<int> out, b.node(kExpression, inputs, attrs, name));
  b.name_output(out[0], dag->ops[static_cast<size_t>(dag->outputs[0])].name);
  b.output(out[0]);
  return std::move(b).finish();
}

const std::string* text_of(const Graph& g) {
  if (g.nodes.size() != 1 || g.nodes[0].op != kExpression) return nullptr;
  const auto it = g.nodes[0].attrs.values.find("text");
  return it == g.nodes[0].attrs.values.end() ? nullptr : std::get_if<std::string>(&it->second);
}

}  // namespace tw::graph
