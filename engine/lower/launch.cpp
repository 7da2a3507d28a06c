// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/tir/visit.h"

namespace tw::lower {

using ir::Expr;
using schedule::Annotation;
using schedule::ComputeLocation;
using schedule::has_loops;
using schedule::Iter;
using schedule::LoopRef;
using schedule::Stage;
using tir::ForKind;

ForKind for_kind(Annotation a) {
  switch (a) {
    case Annotation::parallel:
      return ForKind::parallel;
    case Annotation::vectorize:
      return ForKind::vectorized;
    case Annotation::unroll:
      return ForKind::unrolled;
    case Annotation::unroll_explicit:
      return ForKind::unrolled_explicit;
    case Annotation::vthread:
      return ForKind::vthread;
    case Annotation::block_x:
      return ForKind::block_x;
    case Annotation::block_y:
      return ForKind::block_y;
    case Annotation::block_z:
      return ForKind::block_z;
    case Annotation::thread_x:
      return ForKind::thread_x;
    case Annotation::thread_y:
      return ForKind::thread_y;
    case Annotation::thread_z:
      return ForKind::thread_z;
    case Annotation::none:
      break;
  }
  return ForKind::serial;
}

namespace {

bool is_thread(const Iter& it) { return schedule::is_thread(it.annotation); }
bool is_block(const Iter& it) { return schedule::is_block(it.annotation); }

}  // namespace

Expected<void> check_coordinates(std::span<const Stage> stages, const LoopExtentOf& extent) {
  for (size_t i = 0; i < stages.size(); ++i) {
    const Stage& st = stages[i];
    if (!has_loops(st)) continue;
    const auto runs = [&](size_t k) { return extent(static_cast<int>(i), k); };
    bool reduces = false, in_reduction = false;
    for (size_t k = 0; k < st.iters.size(); ++k)
      reduces = reduces || (st.iters[k].kind == te::AxisKind::reduce && (is_thread(st.iters[k]) || is_block(st.iters[k])) && runs(k) > 1);
    for (size_t k = 0; k < st.iters.size(); ++k) {
      const Iter& it = st.iters[k];
      if (it.kind == te::AxisKind::reduce) {
        in_reduction = true;
        continue;
      }
      if (reduces && in_reduction && runs(k) > 1)
        return Error(ErrorCode::illegal_schedule,
                     fmt::format("Expected the loops of the result outside of the reduction of '{}', which threads combine, found '{}' inside", st.op.name,
                                 it.var->name));
      if (st.location == ComputeLocation::at && is_block(it) && runs(k) > 1)
        return Error(ErrorCode::illegal_schedule, fmt::format("Expected all of '{}' in the block that reads it, found its loop '{}' bound to {}", st.op.name,
                                                              it.var->name, schedule::annotation_name(it.annotation)));
      if (st.location == ComputeLocation::at && st.scope == ir::Scope::local && is_thread(it) && runs(k) > 1)
        return Error(ErrorCode::illegal_schedule,
                     fmt::format("Expected '{}' in scope shared, for its loop '{}' is bound to {}, found an array that every thread has for itself", st.op.name,
                                 it.var->name, schedule::annotation_name(it.annotation)));
    }
  }
  return {};
}

LaunchPlan::LaunchPlan(const std::vector<Stage>& stages, const DomainInference& domains) : stages_(stages), domains_(domains) {
  // Consumers first: a coordinate is named after the loop of the stage that comes last.
  for (size_t i = stages.size(); i-- > 0;) {
    if (!has_loops(stages[i])) continue;
    for (size_t k = 0; k < stages[i].iters.size(); ++k) {
      const Iter& it = stages[i].iters[k];
      const int64_t n = extent({static_cast<int>(i), k});
      if (!(is_thread(it) || is_block(it)) || n == 1) continue;
      Launch& launch = launches_[root(static_cast<int>(i))];
      const auto [at, made] = launch.try_emplace(for_kind(it.annotation), Coordinate{it.var, n, {static_cast<int>(i), static_cast<int>(k)}});
      if (!made && n > at->second.extent) at->second = {it.var, n, {static_cast<int>(i), static_cast<int>(k)}};
    }
  }
}

int LaunchPlan::root(int stage) const { return schedule::root_of(stages_, stage); }

int64_t LaunchPlan::extent(const LoopRef& l) const { return domains_.of(l.stage).loop_extent.at(iter(l).var.get()); }

int64_t LaunchPlan::threads(int stage, ForKind coordinate) const {
  const auto launch = launches_.find(root(stage));
  if (launch == launches_.end()) return 1;
  const auto at = launch->second.find(coordinate);
  return at == launch->second.end() ? 1 : at->second.extent;
}

bool LaunchPlan::is_coordinate(int stage, size_t loop) const {
  const Iter& it = iter({stage, loop});
  return (is_thread(it) || is_block(it)) && extent({stage, loop}) > 1;
}

std::vector<ForKind> LaunchPlan::reducing(int stage) const {
  std::vector<ForKind> out;
  const Stage& st = stages_[static_cast<size_t>(stage)];
  for (size_t k = 0; k < st.iters.size(); ++k)
    if (st.iters[k].kind == te::AxisKind::reduce && is_coordinate(stage, k)) out.push_back(for_kind(st.iters[k].annotation));
  return out;
}

Expected<void> LaunchPlan::check() const {
  return check_coordinates(stages_, [this](int stage, size_t loop) { return extent({stage, loop}); });
}

std::vector<Expr> LaunchPlan::conditions(int stage, ir::Scope scope, bool reduced) const {
  std::vector<Expr> out;
  const auto launch = launches_.find(root(stage));
  if (launch == launches_.end()) return out;
  const std::vector<LoopRef> around = schedule::loops_around(stages_, stage);
  for (const auto& [kind, coordinate] : launch->second) {
    const auto covers = std::find_if(around.begin(), around.end(), [&](const LoopRef& l) {
      const bool combined = reduced && l.stage == stage && iter(l).kind == te::AxisKind::reduce;
      return !combined && for_kind(iter(l).annotation) == kind && extent(l) > 1;
    });
    if (covers != around.end()) {
      if (extent(*covers) < coordinate.extent) out.push_back(ir::to_expr(coordinate.var) < ir::index(extent(*covers)));
    } else if (scope == ir::Scope::param || scope == ir::Scope::global || (scope == ir::Scope::shared && tir::is_thread(kind))) {
      out.push_back(ir::equal(ir::to_expr(coordinate.var), ir::index(0)));  // one of those that would do the same
    }
  }
  return out;
}

tir::Stmt LaunchPlan::wrap(int root_stage, tir::Stmt body, const std::vector<std::pair<int, ir::Buffer>>& shared) const {
  const Launch& launch = launches_.at(root_stage);
  ir::VarMap same;
  for (size_t i = 0; i < stages_.size(); ++i) {
    if (!has_loops(stages_[i]) || root(static_cast<int>(i)) != root_stage) continue;
    for (size_t k = 0; k < stages_[i].iters.size(); ++k) {
      if (!is_coordinate(static_cast<int>(i), k)) continue;
      const Iter& it = stages_[i].iters[k];
      const ir::Var& var = launch.at(for_kind(it.annotation)).var;
      if (!var.same_as(it.var)) same.emplace(it.var.get(), ir::to_expr(var));
    }
  }
  if (!same.empty()) body = tir::substitute(body, same);
  const auto loop = [&](ForKind kind) {
    const auto at = launch.find(kind);
    if (at != launch.end()) body = tir::make_for(at->second.var, ir::index(0), ir::index(at->second.extent), kind, std::move(body), at->second.origin);
  };
  for (const ForKind k : {ForKind::thread_x, ForKind::thread_y, ForKind::thread_z}) loop(k);
  for (size_t k = shared.size(); k-- > 0;) body = tir::alloc(shared[k].second, std::move(body), {shared[k].first});
  for (const ForKind k : {ForKind::block_x, ForKind::block_y, ForKind::block_z}) loop(k);
  return body;
}

}  // namespace tw::lower
