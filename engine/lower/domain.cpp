// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/domain.h"

#include <algorithm>

#include "engine/schedule/loops.h"

namespace tw::lower {

using ir::Expr;
using ir::VarNode;
using schedule::ComputeLocation;
using schedule::Stage;

void DomainInference::run() {
  for (int i = static_cast<int>(stages_.size()) - 1; i >= 0; --i) {
    const Stage& st = stages_[static_cast<size_t>(i)];
    if (!schedule::has_loops(st)) continue;
    infer_region(i);
    resolve_loops(i);
  }
}

arith::FixedVars DomainInference::fixed_vars(int stage) const {
  arith::FixedVars fixed;
  for (const schedule::LoopRef& l : schedule::loops_around(stages_, stage))
    if (l.stage != stage) fixed.insert(stages_[static_cast<size_t>(l.stage)].iters[l.loop].var.get());
  return fixed;
}

std::map<schedule::Annotation, DomainInference::ThreadLoop> DomainInference::thread_loops(int stage) const {
  std::map<schedule::Annotation, ThreadLoop> out;
  for (const schedule::LoopRef& l : schedule::loops_around(stages_, stage)) {
    const schedule::Iter& it = stages_[static_cast<size_t>(l.stage)].iters[l.loop];
    if (l.stage != stage && schedule::is_thread(it.annotation))
      out.insert_or_assign(it.annotation, ThreadLoop{it.var, domains_[static_cast<size_t>(l.stage)].loop_extent.at(it.var.get())});
  }
  return out;
}

void DomainInference::infer_region(int stage) {
  const Stage& st = stages_[static_cast<size_t>(stage)];
  StageDomain& d = domains_[static_cast<size_t>(stage)];
  const size_t rank = st.op.axes.size();
  for (const te::Axis& a : st.op.axes) {
    d.min.push_back(ir::index(0));
    d.extent.push_back(a.extent);
  }
  if (st.location != ComputeLocation::at) return;

  const arith::FixedVars fixed = fixed_vars(stage);
  const auto threads = thread_loops(stage);
  std::vector<std::optional<arith::Span>> region(rank);
  std::vector<bool> whole(rank, false);  // no bound could be found: compute everything
  const ir::BufferNode* buffer = st.op.output.get();
  for (size_t c = static_cast<size_t>(stage) + 1; c < stages_.size(); ++c) {
    if (!stages_[c].op.body || stages_[c].location == ComputeLocation::inlined) continue;
    // What a thread keeps for itself it reads itself: where a reader is bound to a coordinate, that of the loop around.
    ir::VarMap own;
    if (st.scope == ir::Scope::local)
      for (const schedule::Iter& it : stages_[c].iters)
        if (const auto l = threads.find(it.annotation); l != threads.end() && l->second.extent == domains_[c].loop_extent.at(it.var.get()))
          own.emplace(it.var.get(), ir::to_expr(l->second.var));
    std::vector<std::unordered_set<const ir::ExprNode*>> seen(rank);  // reads of one body share many of their indices
    ir::walk(*stages_[c].op.body, [&](const Expr& e) {
      const auto* load = ir::as<ir::LoadNode>(e);
      if (!load || load->buffer.get() != buffer) return;
      for (size_t k = 0; k < rank; ++k) {
        if (!seen[k].insert(load->indices[k].get()).second) continue;
        const Expr at = ir::substitute(load->indices[k], domains_[c].axis_value);
        const auto span = arith::span_of(own.empty() ? at : ir::substitute(at, own), fixed, analyzer_);
        if (!span)
          whole[k] = true;
        else if (!region[k])
          region[k] = span;
        else
          whole[k] = !arith::unite(*region[k], *span) || whole[k];
      }
    });
  }
  for (size_t k = 0; k < rank; ++k) {
    if (whole[k] || !region[k] || region[k]->extent() >= st.op.axes[k].extent) continue;
    region[k]->fixed.constant += region[k]->lo;
    d.min[k] = region[k]->fixed.to_expr();
    d.extent[k] = region[k]->extent();
  }
}

void DomainInference::resolve_loops(int stage) {
  const Stage& st = stages_[static_cast<size_t>(stage)];
  StageDomain& d = domains_[static_cast<size_t>(stage)];
  schedule::Extents axes;
  for (size_t k = 0; k < st.op.axes.size(); ++k) axes[st.op.axes[k].var.get()] = d.extent[k];
  for (const te::Axis& a : st.op.reduce_axes) axes[a.var.get()] = a.extent;
  d.loop_extent = schedule::loop_extents(st, std::move(axes), true);

  ir::VarMap of_loops;
  for (const schedule::Iter& it : st.iters) {
    const int64_t n = d.loop_extent.at(it.var.get());
    of_loops.emplace(it.var.get(), n == 1 ? ir::index(0) : ir::to_expr(it.var));
    analyzer_.bind(it.var.get(), {0, std::max<int64_t>(0, n - 1)});
  }
  const schedule::LoopValues values = schedule::loop_values(st, d.loop_extent, std::move(of_loops));
  for (size_t k = 0; k < st.op.axes.size(); ++k) {
    const VarNode* axis = st.op.axes[k].var.get();
    d.axis_value.insert_or_assign(axis, analyzer_.simplify(d.min[k] + values.value.at(axis)));
  }
  for (const te::Axis& a : st.op.reduce_axes) d.axis_value.insert_or_assign(a.var.get(), analyzer_.simplify(values.value.at(a.var.get())));
  add_guards(stage, values.surplus);
}

void DomainInference::add_guards(int stage, const std::vector<std::pair<Expr, int64_t>>& surplus) {
  const Stage& st = stages_[static_cast<size_t>(stage)];
  StageDomain& d = domains_[static_cast<size_t>(stage)];
  const auto require = [&](const Expr& cond) {
    const Expr c = analyzer_.simplify(cond);
    if (ir::is_int(c, 1)) return;
    for (const Expr& g : d.guards)
      if (arith::same_atom(g, c)) return;
    d.guards.push_back(c);
  };
  for (const auto& [value, real] : surplus) require(value < ir::index(real));
  if (st.location != ComputeLocation::at) return;
  for (size_t k = 0; k < st.op.axes.size(); ++k) {
    const te::Axis& a = st.op.axes[k];
    const Expr& v = d.axis_value.at(a.var.get());
    // Under the guards above the region is not left; where all of it lies inside the array, there is nothing more to ask.
    const arith::Bounds first = analyzer_.bounds(d.min[k]);
    if (first.hi == arith::Bounds::kPosInf || first.hi + d.extent[k] > a.extent) require(v < ir::index(a.extent));
    if (first.lo < 0) require(ir::index(0) <= v);
  }
}

}  // namespace tw::lower
