// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

Expected<void> check_rfactor(const State& s, const Stage& st, const RfactorStep& p) {
  if (p.iter < 0 || p.iter >= static_cast<int>(st.iters.size()))
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a loop below {} of stage '{}' for 'rfactor', found {}", st.iters.size(), st.op.name, p.iter));
  if (p.factor_iter < 0 || p.factor_iter > static_cast<int>(st.op.axes.size()))
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a position of 0 to {} for the new axis of '{}' for 'rfactor', found {}", st.op.axes.size(), st.op.name, p.factor_iter));
  const Iter& factor = st.iters[static_cast<size_t>(p.iter)];
  if (factor.kind != te::AxisKind::reduce)
    return Error(ErrorCode::illegal_schedule,
                 fmt::format("Expected a reduction loop for 'rfactor', found the spatial loop '{}' of stage '{}'", factor.var->name, st.op.name));
  for (const Iter& it : st.iters) {
    const bool whole = std::any_of(st.op.axes.begin(), st.op.axes.end(), [&](const te::Axis& a) { return a.var.same_as(it.var); });
    if (it.annotation != Annotation::none || (it.kind == te::AxisKind::spatial && !whole))
      return Error(ErrorCode::illegal_schedule,
                   fmt::format("Expected 'rfactor' before the spatial loops of '{}' are split or fused and before annotations, found loop '{}'", st.op.name,
                               it.var->name));
  }
  for (const Stage& other : s.stages)
    if (other.location == ComputeLocation::at && other.at_stage == p.stage)
      return Error(ErrorCode::illegal_schedule,
                   fmt::format("Expected nothing computed inside the loops of '{}' before 'rfactor', found '{}'", st.op.name, other.op.name));
  return {};
}

Expected<void> apply_rfactor(State& s, const RfactorStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "rfactor"));
  TW_CHECK(check_rfactor(s, *st, p));
  const Iter factor = st->iters[static_cast<size_t>(p.iter)];
  const std::string name = unique_name(s, st->op.name + "_rf");

  ir::VarMap map, loops;
  std::vector<te::Axis> axes, reduce_axes;
  for (const te::Axis& a : st->op.axes) {
    axes.push_back({ir::make_var(a.var->name), a.extent, te::AxisKind::spatial});
    map.emplace(a.var.get(), ir::to_expr(axes.back().var));
  }
  const te::Axis factored{ir::make_var(factor.var->name), factor.extent, te::AxisKind::spatial};
  axes.insert(axes.begin() + p.factor_iter, factored);
  for (const Iter& it : st->iters) {
    if (it.kind != te::AxisKind::reduce) continue;
    const bool is_factor = it.var.same_as(factor.var);
    if (!is_factor) reduce_axes.push_back({ir::make_var(it.var->name), it.extent, te::AxisKind::reduce});
    loops.emplace(it.var.get(), ir::to_expr(is_factor ? factored.var : reduce_axes.back().var));
  }
  const LoopValues reduction = loop_values(*st, loop_extents(*st, axis_extents(*st), false), loops);
  for (const te::Axis& a : st->op.reduce_axes) map.insert_or_assign(a.var.get(), reduction.value.at(a.var.get()));
  ir::Expr body = ir::substitute(*st->op.body, map);
  const DType type = st->op.output->dtype;
  for (const auto& [value, extent] : reduction.surplus)
    body = ir::select(value < ir::index(extent), body, te::reducer_identity(st->op.reducer, type));

  std::vector<int64_t> shape;
  for (const te::Axis& a : axes) shape.push_back(a.extent);
  Stage partial{.op = te::Op{.name = name, .output = ir::make_buffer(name, type, std::move(shape))}, .dag_op = st->dag_op};
  partial.op.axes = std::move(axes);
  partial.op.reducer = reduce_axes.empty() ? te::Reducer::none : st->op.reducer;
  partial.op.reduce_axes = std::move(reduce_axes);
  partial.op.body = body;
  partial.op.tag = st->op.tag;
  partial.op.attrs = st->op.attrs;
  partial.iters = root_iters(partial.op);

  const te::Axis rest{ir::make_var(factor.var->name + "_v"), factor.extent, te::AxisKind::reduce};
  std::vector<ir::Expr> indices;
  for (const te::Axis& a : st->op.axes) indices.push_back(ir::to_expr(a.var));
  indices.insert(indices.begin() + p.factor_iter, ir::to_expr(rest.var));
  st->op.body = ir::load(partial.op.output, indices);
  st->op.reduce_axes = {rest};
  st->op.tag = "rfactor";
  st->iters = root_iters(st->op);
  st->relations.clear();
  st->paddings.clear();
  insert_stage(s, p.stage, std::move(partial));
  return {};
}

}  // namespace

const PrimitiveOf<RfactorStep>& RfactorStep::primitive() {
  static const PrimitiveOf<RfactorStep> row{
      .about =
          {.code = "RF",
           .words =
               {{"rfactor",
                 "Sums a part of a reduction apart, in a stage of its own, so that partial results can be computed side by side by threads or vector lanes.",
                 "Suriana et al., Parallel associative reductions in Halide, CGO 2017"}},
           .random = [](const Draw& d) -> Step {
             const std::vector<Iter>& loops = d.at().iters;
             std::vector<int> reducing;
             for (size_t k = 0; k < loops.size(); ++k)
               if (loops[k].kind == te::AxisKind::reduce) reducing.push_back(static_cast<int>(k));
             return RfactorStep{d.stage, reducing.empty() ? 0 : reducing[d.rng.uniform(reducing.size())], d.below(d.at().op.axes.size() + 1)};
           }},
      .json = in_order<&RfactorStep::stage, &RfactorStep::iter, &RfactorStep::factor_iter>(),
      .apply = apply_rfactor,
      .describe = [](const RfactorStep& s, const Names& n) {
        return fmt::format("rfactor({}, {}, axis={})", n.stage(s.stage), n.loop(s.stage, s.iter), s.factor_iter);
      }};
  return row;
}

}  // namespace tw::schedule
