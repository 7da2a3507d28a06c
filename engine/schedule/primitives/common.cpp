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

void move_attached(State& s, int stage, const ir::Var& from, const ir::Var& to) {
  for (Stage& st : s.stages)
    if (st.location == ComputeLocation::at && st.at_stage == stage && st.at_iter->same_as(from)) st.at_iter = to;
}

Expected<void> split_loop(State& s, int stage, int iter, const std::vector<int64_t>& lengths, const char* primitive) {
  TW_TRY(Stage * st, computed_stage(s, stage, primitive));
  if (iter < 0 || iter >= static_cast<int>(st->iters.size()))
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a loop below {} of stage '{}' for '{}', found {}", st->iters.size(), st->op.name, primitive, iter));
  const Iter old = st->iters[static_cast<size_t>(iter)];
  if (old.annotation != Annotation::none)
    return Error(ErrorCode::illegal_schedule,
                 fmt::format("Expected a loop without annotation for '{}', found '{}' of stage '{}'", primitive, old.var->name, st->op.name));
  int64_t inner = 1;
  for (const int64_t l : lengths) {
    if (l < 1) return Error(ErrorCode::invalid_argument, fmt::format("Expected lengths of at least 1 for '{}', found {}", primitive, l));
    if (l > kMaxExtent / inner)
      return Error(ErrorCode::invalid_argument, fmt::format("Expected lengths whose product is at most 2^48 for '{}' of '{}'", primitive, old.var->name));
    inner *= l;
  }
  SplitRelation relation{old.var, {}, lengths};
  std::vector<Iter> made;
  const int64_t outer = (old.extent - 1) / inner + 1;
  for (size_t k = 0; k <= lengths.size(); ++k) {
    const int64_t extent = k == 0 ? outer : lengths[k - 1];
    made.push_back({ir::make_var(fmt::format("{}_{}", old.var->name, k)), extent, old.kind});
    relation.children.push_back(made.back().var);
  }
  const auto at = st->iters.begin() + iter;
  st->iters.insert(st->iters.erase(at), made.begin(), made.end());
  st->relations.push_back(std::move(relation));
  move_attached(s, stage, old.var, made.back().var);
  return {};
}

Expected<std::vector<int64_t>> split_lengths(const State& s, int source, const char* primitive) {
  if (source < 0 || source >= static_cast<int>(s.splits.size()) || s.splits[static_cast<size_t>(source)].empty())
    return Error(ErrorCode::invalid_argument, fmt::format("Expected the number of an earlier split for '{}', found {}", primitive, source));
  return s.splits[static_cast<size_t>(source)];
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
