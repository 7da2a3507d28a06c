// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/text.h"
#include "engine/ir/type_rules.h"
#include "engine/ir/visit.h"
#include "engine/te/dag.h"

namespace tw::te {

namespace {

/// More elements than any memory holds; products below it cannot overflow.
constexpr int64_t kMaxElements = int64_t{1} << 48;

Error op_error(const Op& op, std::string message) { return Error(ErrorCode::internal, std::move(message), "op '" + printable(op.name) + "'"); }

Expected<void> check_shape(const Op& op) {
  int64_t elements = 1;
  for (const int64_t d : op.output->shape) {
    if (d < 1 || d > kMaxElements / elements)
      return op_error(op, fmt::format("Expected a shape of 1 to 2^48 elements, found {}", shape_text(op.output->shape)));
    elements *= d;
  }
  if (!op.output->dtype.is_scalar()) return op_error(op, "Expected a scalar element type, found " + op.output->dtype.name());
  return {};
}

Expected<void> check_axes(const Op& op, std::unordered_set<const ir::VarNode*>& vars) {
  if (op.axes.size() != op.output->shape.size())
    return op_error(op, fmt::format("Expected {} spatial axes for shape {}, found {}", op.output->shape.size(), shape_text(op.output->shape), op.axes.size()));
  if (op.reducer == Reducer::none && !op.reduce_axes.empty()) return op_error(op, "Expected a reducer for the reduce axes, found none");
  int64_t points = op.output->num_elements();
  const auto check = [&](const Axis& a, AxisKind kind) {
    return a.kind == kind && a.var->dtype == ir::kIndex && a.extent >= 1 && vars.insert(a.var.get()).second;
  };
  for (size_t d = 0; d < op.axes.size(); ++d)
    if (!check(op.axes[d], AxisKind::spatial) || op.axes[d].extent != op.output->shape[d])
      return op_error(op, fmt::format("Expected a spatial int64 axis of its own and of extent {} for dimension {}, found '{}' of extent {}",
                                      op.output->shape[d], d, op.axes[d].var->name, op.axes[d].extent));
  for (const Axis& a : op.reduce_axes) {
    if (!check(a, AxisKind::reduce) || a.extent > kMaxElements / points)
      return op_error(op,
                      fmt::format("Expected a reduce int64 axis of its own in a domain of 1 to 2^48 points, found '{}' of extent {}", a.var->name, a.extent));
    points *= a.extent;
  }
  return {};
}

/// Buffers of earlier ops and variables of the op's own axes only, every index in place, scalars throughout.
class BodyCheck {
 public:
  BodyCheck(const Op& op, const std::unordered_set<const ir::BufferNode*>& defined, const std::unordered_set<const ir::VarNode*>& vars)
      : op_(op), defined_(defined), vars_(vars) {}

  std::optional<std::string> run(const ir::Expr& e) {
    if (!seen_.insert(e.get()).second) return std::nullopt;
    if (!e->dtype.is_scalar()) return "Expected scalar expressions, found type " + e->dtype.name();
    if (const auto* v = ir::as<ir::VarNode>(e); v && !vars_.contains(v)) return "Expected an axis of the op, found variable '" + v->name + "'";
    if (const auto* l = ir::as<ir::LoadNode>(e)) {
      if (!defined_.contains(l->buffer.get())) return "Expected a load from an earlier op, found one from '" + l->buffer->name + "'";
      if (l->indices.size() != l->buffer->shape.size())
        return fmt::format("Expected {} indices for '{}', found {}", l->buffer->shape.size(), l->buffer->name, l->indices.size());
    }
    std::optional<std::string> problem;
    ir::for_each_child(e, [&](const ir::Expr& c) {
      if (!problem) problem = run(c);
    });
    return problem;
  }

 private:
  const Op& op_;
  const std::unordered_set<const ir::BufferNode*>& defined_;
  const std::unordered_set<const ir::VarNode*>& vars_;
  std::unordered_set<const ir::ExprNode*> seen_;
};

Expected<void> check_compute(const Op& op, const std::unordered_set<const ir::BufferNode*>& defined) {
  std::unordered_set<const ir::VarNode*> vars;
  TW_CHECK(check_axes(op, vars));
  const ir::Expr& body = *op.body;
  if (body->dtype != op.output->dtype) return op_error(op, fmt::format("Expected a body of type {}, found {}", op.output->dtype.name(), body->dtype.name()));
  if (op.reducer != Reducer::none && body->dtype.is_bool() && (op.reducer == Reducer::sum || op.reducer == Reducer::prod))
    return op_error(op, fmt::format("Expected max or min as reducer of bool, found {}", reducer_name(op.reducer)));
  if (auto problem = BodyCheck(op, defined, vars).run(body)) return op_error(op, std::move(*problem));
  if (auto types = ir::check_types(body); !types) return op_error(op, types.error().message).note("in " + types.error().where);
  return {};
}

Expected<void> check_outputs(const Dag& dag) {
  if (dag.outputs.empty()) return Error(ErrorCode::internal, "Expected at least one output, found none");
  std::set<int> seen;
  for (const int o : dag.outputs) {
    if (o < 0 || static_cast<size_t>(o) >= dag.ops.size())
      return Error(ErrorCode::internal, fmt::format("Expected outputs below {}, found {}", dag.ops.size(), o));
    if (dag.ops[static_cast<size_t>(o)].is_placeholder())
      return op_error(dag.ops[static_cast<size_t>(o)], "Expected a computed op as output, found a placeholder");
    if (!seen.insert(o).second) return op_error(dag.ops[static_cast<size_t>(o)], "Expected every output once, found this one twice");
  }
  return {};
}

}  // namespace

Expected<void> verify(const Dag& dag) {
  std::set<std::string_view> names;
  std::unordered_set<const ir::BufferNode*> defined;
  bool computing = false;
  for (const Op& op : dag.ops) {
    if (op.name.empty() || !names.insert(op.name).second) return op_error(op, "Expected a name of its own for every op");
    TW_CHECK(check_shape(op));
    if (op.is_placeholder()) {
      if (computing) return op_error(op, "Expected placeholders before all other ops");
      if (!op.axes.empty() || !op.reduce_axes.empty()) return op_error(op, "Expected a placeholder without axes");
    } else {
      computing = true;
      TW_CHECK(check_compute(op, defined));
    }
    if (!defined.insert(op.output.get()).second) return op_error(op, "Expected a buffer of its own for every op");
  }
  return check_outputs(dag);
}

}  // namespace tw::te
