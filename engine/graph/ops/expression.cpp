// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "engine/graph/expression.h"
#include "engine/graph/ops/ops.h"
#include "engine/ir/visit.h"

namespace tw::graph::ops {

namespace {

/// Attribute text: a computation in the form of te/source.h, whose placeholders are the inputs in their order.
Types infer_expression(const OpContext& c) {
  TW_TRY(const te::DagPtr dag, expression_of(*c.node));
  std::vector<const te::Op*> inputs;
  for (const te::Op& op : dag->ops)
    if (op.is_placeholder()) inputs.push_back(&op);
  const int count = static_cast<int>(inputs.size());
  TW_CHECK(check_operands(c, count, count));
  for (int i = 0; i < count; ++i) {
    const ir::Buffer& want = inputs[static_cast<size_t>(i)]->output;
    const TensorType type{want->dtype, want->shape};
    if (operand(c, i) != type) return bad(c, fmt::format("expected operand {} of type {}, found {}", i, type.text(), operand(c, i).text()));
  }
  const ir::Buffer& out = dag->ops[static_cast<size_t>(dag->outputs[0])].output;
  return result(c, out->dtype, out->shape);
}

/// The definitions of the text, reading the operands in place of its placeholders.
Tensors expression_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  TW_TRY(const te::DagPtr dag, expression_of(*c.node));
  std::map<const ir::BufferNode*, te::Tensor> tensors;
  size_t next = 0;
  for (const te::Op& op : dag->ops) {
    if (op.is_placeholder()) {
      tensors.emplace(op.output.get(), *in[next++]);
      continue;
    }
    std::vector<int64_t> extents;
    for (const te::Axis& a : op.reduce_axes) extents.push_back(a.extent);
    const auto body = [&](const Indices& spatial, const Indices& reduced) {
      ir::VarMap vars;
      for (size_t d = 0; d < spatial.size(); ++d) vars.emplace(op.axes[d].var.get(), spatial[d]);
      for (size_t d = 0; d < reduced.size(); ++d) vars.emplace(op.reduce_axes[d].var.get(), reduced[d]);
      const std::function<Expr(const Expr&)> read = [&](const Expr& e) -> Expr {
        const Expr inner = ir::map_children(e, read);
        const auto* l = ir::as<ir::LoadNode>(inner);
        return l ? tensors.at(l->buffer.get()).at(l->indices) : inner;
      };
      return read(ir::substitute(*op.body, vars));
    };
    tensors.emplace(op.output.get(), b.reduce(op.name, op.output->shape, extents, op.reducer, body, op.tag, op.attrs));
  }
  return std::vector{tensors.at(dag->ops[static_cast<size_t>(dag->outputs[0])].output.get())};
}

}  // namespace

std::vector<OpDef> expression() {
  return {{"expression", FusionKind::opaque, infer_expression, expression_to_te, kArithmetic,
           "A computation of one's own, written as a text: its arrays, sums and indices, and what a template for it chooses"}};
}

}  // namespace tw::graph::ops
