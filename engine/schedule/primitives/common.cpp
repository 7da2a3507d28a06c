// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/schedule/primitives/primitives.h"

namespace tw::schedule {

Expected<Stage*> computed_stage(State& s, int stage, const char* primitive) {
  if (stage < 0 || stage >= static_cast<int>(s.stages.size()))
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a stage below {} for '{}', found {}", s.stages.size(), primitive, stage));
  Stage& st = s.stages[static_cast<size_t>(stage)];
  if (st.op.is_placeholder())
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a computed stage for '{}', found the placeholder '{}'", primitive, st.op.name));
  if (st.location == ComputeLocation::inlined)
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a stage with loops for '{}', found the inlined stage '{}'", primitive, st.op.name));
  return &st;
}

bool is_output(const State& s, int stage) { return std::find(s.outputs.begin(), s.outputs.end(), stage) != s.outputs.end(); }

Expected<te::Axis*> whole_axis(Stage& stage, int iter, const char* primitive) {
  if (iter < 0 || iter >= static_cast<int>(stage.iters.size()))
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a loop below {} of stage '{}' for '{}', found {}", stage.iters.size(), stage.op.name, primitive, iter));
  const Iter& it = stage.iters[static_cast<size_t>(iter)];
  for (std::vector<te::Axis>* axes : {&stage.op.axes, &stage.op.reduce_axes})
    for (te::Axis& a : *axes)
      if (a.var.same_as(it.var)) return &a;
  return Error(ErrorCode::illegal_schedule, fmt::format("Expected a loop over a whole axis, neither split nor fused, for '{}', found '{}' of stage '{}'",
                                                        primitive, it.var->name, stage.op.name));
}

void insert_stage(State& s, int position, Stage stage) {
  for (Stage& st : s.stages)
    if (st.at_stage >= position) ++st.at_stage;
  for (int& o : s.outputs)
    if (o >= position) ++o;
  s.stages.insert(s.stages.begin() + position, std::move(stage));
}

std::string unique_name(const State& s, const std::string& base) {
  const auto taken = [&](const std::string& name) {
    return std::any_of(s.stages.begin(), s.stages.end(), [&](const Stage& st) { return st.op.name == name; });
  };
  std::string name = base;
  for (int n = 1; taken(name); ++n) name = fmt::format("{}_{}", base, n);
  return name;
}

bool is_untouched(const Stage& st) {
  const std::vector<Iter> first = root_iters(st.op);
  const bool whole = std::equal(st.iters.begin(), st.iters.end(), first.begin(), first.end(),
                                [](const Iter& a, const Iter& b) { return a.var.same_as(b.var) && a.annotation == b.annotation; });
  return whole && st.relations.empty() && st.paddings.empty() && st.location == ComputeLocation::root;
}

std::vector<ir::Expr> unflatten(ir::Expr flat, const std::vector<int64_t>& extents) {
  std::vector<ir::Expr> out(extents.size(), flat);
  for (size_t k = extents.size(); k-- > 0;) {
    const ir::Expr n = ir::index(extents[k]);
    out[k] = k == 0 ? flat : ir::floor_mod(flat, n);
    flat = ir::floor_div(flat, n);
  }
  return out;
}

std::vector<Iter> root_iters(const te::Op& op) {
  std::vector<Iter> iters;
  for (const te::Axis& a : op.axes) iters.push_back({a.var, a.extent, a.kind});
  for (const te::Axis& a : op.reduce_axes) iters.push_back({a.var, a.extent, a.kind});
  return iters;
}

Expected<ir::Scope> parse_scope(const std::string& name) {
  if (name == "local") return ir::Scope::local;
  if (name == "global") return ir::Scope::global;
  if (name == "shared") return ir::Scope::shared;
  return Error(ErrorCode::invalid_argument, "Expected the scope 'local', 'shared' or 'global', found '" + name + "'");
}

}  // namespace tw::schedule
