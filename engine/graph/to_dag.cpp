// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/to_dag.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/expression.h"
#include "engine/graph/op.h"
#include "engine/ir/visit.h"

namespace tw::graph {

namespace {

/// Tensors of the values seen so far.
struct Scope {
  te::DagBuilder builder;
  std::map<int, te::Tensor> tensors;
  std::vector<int> inputs;

  te::Tensor read(const Graph& g, int v) {
    if (const auto it = tensors.find(v); it != tensors.end()) return it->second;
    const Value& value = g.values[static_cast<size_t>(v)];
    const te::Role role = value.constant ? te::Role::constant : te::Role::activation;
    const te::Tensor t = builder.placeholder(fmt::format("p{}", inputs.size()), value.type.shape, value.type.dtype, role);
    tensors.emplace(v, t);
    inputs.push_back(v);
    return t;
  }
};

Expected<void> add_node(Scope& s, const Graph& g, const Node& n) {
  const std::string where = fmt::format("node '{}' ({})", printable(n.name), printable(n.op));
  const OpDef* def = find_op(n.op);
  if (!def) return Error(ErrorCode::unsupported, fmt::format("Expected an operator of the table, found '{}'", printable(n.op)), where);
  std::vector<std::optional<te::Tensor>> inputs;
  for (const auto* list : {&n.inputs, &n.outputs})
    for (const int v : *list)
      if (v >= 0 && g.values[static_cast<size_t>(v)].type.num_elements() == 0)
        return Error(ErrorCode::unsupported,
                     fmt::format("Expected tensors with elements, found {}; a value without elements has to be a constant", g.values[static_cast<size_t>(v)].type.text()),
                     where);
  for (const int v : n.inputs) inputs.push_back(v < 0 ? std::nullopt : std::optional(s.read(g, v)));
  auto outputs = def->to_te(s.builder, context_of(g, n), inputs);
  if (!outputs) {
    Error e = outputs.error();
    if (e.where.empty()) e.where = where;
    return e;
  }
  TW_ASSERT(outputs->size() == n.outputs.size(), "number of tensors of operator " + n.op);
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    const TensorType& want = g.values[static_cast<size_t>(n.outputs[i])].type;
    const te::Tensor& got = (*outputs)[i];
    TW_ASSERT(got.shape() == want.shape && got.dtype() == want.dtype, "type of the tensor of " + where + ": expected " + want.text());
    s.tensors.emplace(n.outputs[i], got);
  }
  return {};
}

/// Nodes in the order in which their ops stand: a layer and what it needs come before elementwise work that it does not need, so that such work is always work after it.
std::vector<int> layers_first(const Graph& g, std::span<const int> nodes) {
  std::set<int> needed;
  const auto is_layer = [&](int n) {
    const OpDef* def = find_op(g.nodes[static_cast<size_t>(n)].op);
    return def && def->fusion == FusionKind::out_elementwise_fusable;
  };
  for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
    const Node& node = g.nodes[static_cast<size_t>(*n)];
    const bool read = std::any_of(node.outputs.begin(), node.outputs.end(), [&](int v) { return needed.count(v) > 0; });
    if (read || is_layer(*n)) needed.insert(node.inputs.begin(), node.inputs.end());
  }
  std::vector<int> order(nodes.begin(), nodes.end());
  std::stable_partition(order.begin(), order.end(), [&](int n) {
    const std::vector<int>& made = g.nodes[static_cast<size_t>(n)].outputs;
    return is_layer(n) || std::any_of(made.begin(), made.end(), [&](int v) { return needed.count(v) > 0; });
  });
  return order;
}

/// Drops placeholders that nothing reads.
NodesDag drop_unread(const te::DagPtr& dag, const std::vector<int>& inputs) {
  std::set<const ir::BufferNode*> read;
  for (const te::Op& op : dag->ops)
    if (op.body)
      ir::walk(*op.body, [&](const ir::Expr& e) {
        if (const auto* l = ir::as<ir::LoadNode>(e)) read.insert(l->buffer.get());
      });
  auto kept = std::make_shared<te::Dag>();
  NodesDag out;
  for (size_t i = 0; i < dag->ops.size(); ++i) {
    const te::Op& op = dag->ops[i];
    if (op.is_placeholder() && !read.count(op.output.get())) continue;
    if (op.is_placeholder()) out.inputs.push_back(inputs[i]);
    kept->ops.push_back(op);
  }
  for (const int o : dag->outputs) kept->outputs.push_back(kept->op_of(dag->ops[static_cast<size_t>(o)].output.get()));
  out.dag = kept;
  return out;
}

/// Marks what stands behind op `i` and belongs to no earlier node.
void own(const te::Dag& dag, int i, int node, std::vector<int>& op_node) {
  const te::Op& op = dag.ops[static_cast<size_t>(i)];
  if (op.is_placeholder() || op_node[static_cast<size_t>(i)] >= 0) return;
  op_node[static_cast<size_t>(i)] = node;
  ir::walk(*op.body, [&](const ir::Expr& e) {
    if (const auto* l = ir::as<ir::LoadNode>(e)) own(dag, dag.op_of(l->buffer.get()), node, op_node);
  });
}

/// An expression by itself is the dag of its text, which says how to schedule it; `out` is what its definitions come to. Both have the same ops in the same
/// order unless a placeholder is a constant here, is read by two operands, or not at all.
void keep_source(const Graph& g, std::span<const int> nodes, NodesDag& out) {
  if (nodes.size() != 1 || g.nodes[static_cast<size_t>(nodes[0])].op != kExpression) return;
  const auto own = expression_of(g.nodes[static_cast<size_t>(nodes[0])]);
  if (!own || (*own)->ops.size() != out.dag->ops.size() || (*own)->outputs != out.dag->outputs) return;
  for (size_t i = 0; i < out.dag->ops.size(); ++i) {
    const te::Op &a = (*own)->ops[i], &b = out.dag->ops[i];
    if (a.is_placeholder() != b.is_placeholder() || a.role != b.role || a.output->shape != b.output->shape || a.output->dtype != b.output->dtype) return;
  }
  out.dag = *own;
}

}  // namespace

Expected<NodesDag> to_dag(const Graph& g, std::span<const int> nodes, std::span<const int> outputs) {
  Scope s;
  for (const int n : layers_first(g, nodes)) TW_CHECK(add_node(s, g, g.nodes[static_cast<size_t>(n)]));
  std::set<const ir::BufferNode*> taken;
  for (const int v : s.inputs) taken.insert(s.tensors.at(v).buffer().get());
  std::vector<te::Tensor> results;
  for (const int v : outputs) {
    te::Tensor t = s.tensors.at(v);
    if (!taken.insert(t.buffer().get()).second) {
      const te::Tensor from = t;
      t = s.builder.compute("copy", from.shape(), [&](const te::Indices& i) { return from.at(i); });
    }
    results.push_back(t);
  }
  NodesDag out = drop_unread(std::move(s.builder).finish(results), s.inputs);
  out.op_node.assign(out.dag->ops.size(), -1);
  for (const int n : nodes)
    for (const int v : g.nodes[static_cast<size_t>(n)].outputs)
      if (const int op = out.dag->op_of(s.tensors.at(v).buffer().get()); op >= 0) own(*out.dag, op, n, out.op_node);
  for (size_t k = 0; k < outputs.size(); ++k) own(*out.dag, out.dag->outputs[k], g.values[static_cast<size_t>(outputs[k])].producer, out.op_node);
  keep_source(g, nodes, out);
  return out;
}

Expected<NodesDag> to_dag(const Graph& g, const Node& node) {
  const int index = static_cast<int>(&node - g.nodes.data());
  TW_ASSERT(index >= 0 && index < static_cast<int>(g.nodes.size()), "a node of another graph");
  return to_dag(g, std::span(&index, 1), node.outputs);
}

}  // namespace tw::graph
