// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/folding_builder.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/evaluate.h"

namespace tw::frontends {

namespace {

/// Constants are evaluated during import up to this many evaluated expressions; larger ones are left to the graph passes.
constexpr int64_t kFoldSteps = 1 << 20;

/// Expressions evaluated to compute everything in the dag.
double evaluation_steps(const te::Dag& dag) {
  double steps = 0;
  for (const te::Op& op : dag.ops) {
    if (op.is_placeholder()) continue;
    double n = static_cast<double>(op.output->num_elements());
    for (const te::Axis& a : op.reduce_axes) n *= static_cast<double>(a.extent);
    steps += n;
  }
  return steps;
}

}  // namespace

void refuse(ErrorCode code, const std::string& message, const std::string& where) { throw Refusal{Error(code, message, where)}; }

void FoldingBuilder::add_outputs(const std::vector<std::pair<std::string, int>>& outputs) {
  std::set<int> taken;
  for (const auto& [name, value_index] : outputs) {
    int v = value_index;
    if (value(v).type.num_elements() == 0) {  // nothing to compute: the output is a constant
      v = builder_.constant(name, HostArray::make(value(v).type.dtype, value(v).type.shape));
    } else if (value(v).producer < 0 || !taken.insert(v).second) {  // every output gets a node of its own
      v = checked(builder_.node("identity", {v}, {}, name + ".copy"))[0];
      taken.insert(v);
    }
    builder_.name_output(v, name);
    builder_.output(v);
  }
}

int FoldingBuilder::emit(const std::string& op, const std::vector<int>& inputs, graph::Attrs attrs, const std::string& name) {
  bool constant = !inputs.empty(), empty = false;
  for (const int v : inputs) {
    if (v < 0) continue;
    constant = constant && value(v).constant;
    empty = empty || value(v).type.num_elements() == 0;
  }
  if (empty && op == "concat") {  // what has no elements adds nothing
    std::vector<int> rest = inputs;
    std::erase_if(rest, [&](int v) { return value(v).type.num_elements() == 0; });
    if (!rest.empty()) return emit(op, rest, std::move(attrs), name);
  }
  if (empty && op == "dense" && inputs.size() > 2 && inputs[2] >= 0)  // of no products the bias is left
    return emit("add", {emit(op, {inputs[0], inputs[1]}, std::move(attrs), name), inputs[2]}, {}, name);
  const graph::OpDef* def = graph::find_op(op);
  TW_ASSERT(def != nullptr, "operator " + op);
  const graph::Node node{.name = op, .op = op, .inputs = inputs, .outputs = {}, .attrs = attrs};
  const graph::TensorType result = checked(def->infer(graph::context_of(builder_.graph(), node)))[0];
  if (empty || result.num_elements() == 0)
    if (auto known = without_elements(op, inputs, result)) return builder_.constant(name + ".empty", std::move(*known));
  if (constant)
    if (auto folded = evaluate(op, inputs, attrs)) return builder_.constant(name + ".folded", std::move(*folded));
  return checked(builder_.node(op, inputs, std::move(attrs), name))[0];
}

std::optional<HostArray> FoldingBuilder::without_elements(const std::string& op, const std::vector<int>& inputs, const graph::TensorType& result) const {
  HostArray out = HostArray::make(result.dtype, result.shape);
  if (result.num_elements() == 0) return out;
  const auto filled = [&](double v) {
    for (int64_t i = 0; i < out.num_elements(); ++i) out.set(i, v);
    return out;
  };
  const bool floats = result.dtype.is_float();
  // The sum, product, maximum of nothing. Integers have no infinity.
  const double widest = floats ? HUGE_VAL : result.dtype.is_signed() ? std::ldexp(1.0, result.dtype.bits - 1) : std::ldexp(1.0, result.dtype.bits);
  const double lowest = floats ? -HUGE_VAL : result.dtype.is_signed() ? -widest : 0;
  if (op == "matmul" || op == "dense" || op == "reduce_sum" || op == "reduce_l1" || op == "reduce_l2" || op == "reduce_sum_square") return out;
  if (op == "reduce_prod") return filled(1);
  if (op == "reduce_max") return filled(lowest);
  if (op == "reduce_min") return filled(floats ? widest : widest - 1);
  if (op == "reduce_log_sum" || op == "reduce_log_sum_exp") return filled(-HUGE_VAL);
  if (op == "reduce_mean" && floats) return filled(NAN);
  for (const int v : inputs)
    if (v >= 0 && value(v).type.num_elements() == 0)
      refuse(ErrorCode::unsupported, fmt::format("Operand '{}' has no elements: {}", value(v).name, value(v).type.text()));
  return std::nullopt;
}

std::optional<HostArray> FoldingBuilder::evaluate(const std::string& op, const std::vector<int>& inputs, const graph::Attrs& attrs) const {
  const graph::OpDef* def = graph::find_op(op);
  TW_ASSERT(def != nullptr, "operator " + op);
  const graph::Node node{.name = op, .op = op, .inputs = inputs, .outputs = {}, .attrs = attrs};
  graph::OpContext context = graph::context_of(builder_.graph(), node);
  context.outputs = checked(def->infer(context));
  if (op == "reshape") {  // any size: only the shape changes
    HostArray copy = *context.constants[0];
    copy.shape = context.outputs[0].shape;
    return copy;
  }
  te::DagBuilder b;
  std::vector<std::optional<te::Tensor>> operands;
  std::vector<HostArray> arrays;
  int64_t elements = 0;
  for (const auto& c : context.constants) elements += c ? c->num_elements() : 0;
  if (elements > kFoldSteps) return std::nullopt;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!context.inputs[i]) {
      operands.emplace_back();
      continue;
    }
    operands.push_back(b.placeholder("p", context.inputs[i]->shape, context.inputs[i]->dtype, te::Role::constant));
    arrays.push_back(*context.constants[i]);
  }
  const auto results = checked(def->to_te(b, context, operands));
  const te::DagPtr dag = std::move(b).finish(results);
  if (evaluation_steps(*dag) > static_cast<double>(kFoldSteps)) return std::nullopt;
  const auto is_half = [](const std::shared_ptr<const HostArray>& c) { return c && c->dtype.is_float() && c->dtype.bits == 16; };
  if (std::any_of(context.constants.begin(), context.constants.end(), is_half))
    return std::move(checked(graph::evaluate_op(op, attrs, context.constants, 1))[0]);
  return std::move(checked(te::interpret(*dag, arrays))[0]);
}

}  // namespace tw::frontends
