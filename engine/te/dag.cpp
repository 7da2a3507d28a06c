// SPDX-License-Identifier: Apache-2.0
#include "engine/te/dag.h"

#include <algorithm>
#include <unordered_map>

#include "engine/ir/visit.h"

namespace tw::te {

const char* reducer_name(Reducer r) {
  switch (r) {
    case Reducer::none: return "none";
    case Reducer::sum: return "sum";
    case Reducer::prod: return "prod";
    case Reducer::max: return "max";
    case Reducer::min: return "min";
  }
  return "";
}

ir::Expr reducer_identity(Reducer r, DType t) {
  switch (r) {
    case Reducer::prod: return ir::imm(t, 1);
    case Reducer::max: return ir::lowest(t);
    case Reducer::min: return ir::highest(t);
    case Reducer::none:
    case Reducer::sum: break;
  }
  return ir::zero(t);
}

ir::Expr reducer_combine(Reducer r, ir::Expr a, ir::Expr b) {
  switch (r) {
    case Reducer::sum: return std::move(a) + std::move(b);
    case Reducer::prod: return std::move(a) * std::move(b);
    case Reducer::max: return ir::max(std::move(a), std::move(b));
    case Reducer::min: return ir::min(std::move(a), std::move(b));
    case Reducer::none: break;
  }
  TW_UNREACHABLE("combine without a reducer");
}

int Dag::op_of(const ir::BufferNode* buffer) const {
  for (size_t i = 0; i < ops.size(); ++i)
    if (ops[i].output.get() == buffer) return static_cast<int>(i);
  return -1;
}

int Dag::find(std::string_view name) const {
  for (size_t i = 0; i < ops.size(); ++i)
    if (ops[i].name == name) return static_cast<int>(i);
  return -1;
}

std::vector<int> Dag::consumers(int i) const {
  std::vector<int> out;
  for (size_t j = 0; j < ops.size(); ++j) {
    if (!ops[j].body) continue;
    bool reads = false;
    ir::walk(*ops[j].body, [&](const ir::Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      reads = reads || (l && l->buffer.get() == ops[i].output.get());
    });
    if (reads) out.push_back(static_cast<int>(j));
  }
  return out;
}

std::string DagBuilder::unique(const std::string& name) {
  const std::string base = name.empty() ? "t" : name;
  if (names_.emplace(base, 0).second) return base;
  for (int n = 1;; ++n) {
    const std::string candidate = base + "_" + std::to_string(n);
    if (names_.emplace(candidate, 0).second) return candidate;
  }
}

Tensor DagBuilder::placeholder(const std::string& name, std::vector<int64_t> shape, DType dtype, Role role) {
  const std::string n = unique(name);
  Op op{.name = n, .output = ir::make_buffer(n, dtype, std::move(shape))};
  op.role = role;
  op.tag = "placeholder";
  ops_.push_back(op);
  return Tensor(op.output);
}

namespace {

std::vector<Axis> make_axes(const std::vector<int64_t>& extents, AxisKind kind) {
  static const char* const kSpatial[] = {"i", "j", "k", "l", "m", "n", "o", "p"};
  std::vector<Axis> axes;
  for (size_t d = 0; d < extents.size(); ++d) {
    const std::string name = kind == AxisKind::reduce ? "r" + std::to_string(d) : d < std::size(kSpatial) ? kSpatial[d] : "i" + std::to_string(d);
    axes.push_back({ir::make_var(name), extents[d], kind});
  }
  return axes;
}

Indices vars_of(const std::vector<Axis>& axes) {
  Indices out;
  for (const Axis& a : axes) out.push_back(ir::to_expr(a.var));
  return out;
}

}  // namespace

Tensor DagBuilder::compute(const std::string& name, std::vector<int64_t> shape, const std::function<ir::Expr(const Indices&)>& body, std::string tag,
                           std::map<std::string, std::vector<int64_t>> attrs) {
  return reduce(name, std::move(shape), {}, Reducer::none, [&](const Indices& s, const Indices&) { return body(s); }, std::move(tag), std::move(attrs));
}

Tensor DagBuilder::reduce(const std::string& name, std::vector<int64_t> shape, std::vector<int64_t> reduce_extents, Reducer reducer,
                          const std::function<ir::Expr(const Indices&, const Indices&)>& body, std::string tag,
                          std::map<std::string, std::vector<int64_t>> attrs) {
  const std::string n = unique(name);
  std::vector<Axis> axes = make_axes(shape, AxisKind::spatial);
  std::vector<Axis> reduced = make_axes(reduce_extents, AxisKind::reduce);
  const ir::Expr value = body(vars_of(axes), vars_of(reduced));
  Op op{.name = n, .output = ir::make_buffer(n, value->dtype, std::move(shape))};
  op.axes = std::move(axes);
  op.reduce_axes = std::move(reduced);
  op.reducer = reducer;
  op.body = value;
  op.tag = std::move(tag);
  op.attrs = std::move(attrs);
  ops_.push_back(op);
  return Tensor(op.output);
}

DagPtr DagBuilder::finish(const std::vector<Tensor>& outputs) && {
  std::unordered_map<const ir::BufferNode*, int> index;
  for (size_t i = 0; i < ops_.size(); ++i) index[ops_[i].output.get()] = static_cast<int>(i);
  std::vector<bool> needed(ops_.size(), false);
  for (const Tensor& t : outputs) needed[static_cast<size_t>(index.at(t.buffer().get()))] = true;
  for (size_t i = ops_.size(); i-- > 0;) {
    if (!needed[i] || !ops_[i].body) continue;
    ir::walk(*ops_[i].body, [&](const ir::Expr& e) {
      if (const auto* l = ir::as<ir::LoadNode>(e)) needed[static_cast<size_t>(index.at(l->buffer.get()))] = true;
    });
  }
  auto dag = std::make_shared<Dag>();
  for (const Op& op : ops_)
    if (op.is_placeholder()) dag->ops.push_back(op);
  for (size_t i = 0; i < ops_.size(); ++i)
    if (!ops_[i].is_placeholder() && needed[i]) dag->ops.push_back(ops_[i]);
  for (const Tensor& t : outputs) dag->outputs.push_back(dag->op_of(t.buffer().get()));
  return dag;
}

}  // namespace tw::te
