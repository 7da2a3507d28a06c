// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/domain.h"

#include <algorithm>

#include "engine/lower/launch.h"

namespace tw::lower {

using arith::Linear;
using ir::Expr;
using ir::VarNode;
using schedule::ComputeLocation;
using schedule::Stage;

Expected<void> DomainInference::run() {
  for (int i = static_cast<int>(stages_.size()) - 1; i >= 0; --i) {
    const Stage& st = stages_[static_cast<size_t>(i)];
    if (st.op.is_placeholder() || st.location == ComputeLocation::inlined) continue;
    infer_region(i);
    resolve_loops(i);
  }
  return {};
}

DomainInference::FixedVars DomainInference::fixed_vars(int stage) const {
  FixedVars fixed;
  for (const LoopRef& l : loops_around(stages_, stage))
    if (l.stage != stage) fixed.insert(stages_[static_cast<size_t>(l.stage)].iters[l.loop].var.get());
  return fixed;
}

std::map<schedule::Annotation, DomainInference::ThreadLoop> DomainInference::thread_loops(int stage) const {
  std::map<schedule::Annotation, ThreadLoop> out;
  for (const LoopRef& l : loops_around(stages_, stage)) {
    const schedule::Iter& it = stages_[static_cast<size_t>(l.stage)].iters[l.loop];
    const bool thread =
        it.annotation == schedule::Annotation::thread_x || it.annotation == schedule::Annotation::thread_y || it.annotation == schedule::Annotation::thread_z;
    if (l.stage != stage && thread)
      out.insert_or_assign(it.annotation, ThreadLoop{it.var, domains_[static_cast<size_t>(l.stage)].loop_extent.at(it.var.get())});
  }
  return out;
}

bool DomainInference::only_fixed(const Expr& e, const FixedVars& fixed) const {
  bool ok = true;
  ir::walk(e, [&](const Expr& x) {
    if (const auto* v = ir::as<VarNode>(x)) ok = ok && fixed.count(v) != 0;
    // What an array holds may be computed after the region is chosen, and the region's own stage would have to read it too.
    ok = ok && !ir::as<ir::LoadNode>(x);
  });
  return ok;
}

std::optional<DomainInference::Span> DomainInference::relax(const Expr& e, const FixedVars& fixed) const {
  const Linear l = analyzer_.joined(e);  // so that what fused loops take apart and the index joins again is one run
  Span out;
  out.fixed.constant = l.constant;
  for (const Linear::Term& t : l.terms) {
    if (only_fixed(t.atom, fixed)) {
      out.fixed.add_term(t.atom, t.coeff);
      continue;
    }
    const auto part = relax_atom(t.atom, fixed);
    if (!part) return std::nullopt;
    out.fixed.add(part->fixed, t.coeff);
    out.lo += (t.coeff > 0 ? part->lo : part->hi) * t.coeff;
    out.hi += (t.coeff > 0 ? part->hi : part->lo) * t.coeff;
  }
  return out;
}

std::optional<DomainInference::Span> DomainInference::relax_atom(const Expr& atom, const FixedVars& fixed) const {
  Span out;
  const auto* b = ir::as<ir::BinaryNode>(atom);
  const auto c = b ? ir::as_int(b->b) : std::nullopt;
  if (b && c && *c > 0 && (b->op == ir::BinaryOp::floor_div || b->op == ir::BinaryOp::floor_mod)) {
    const auto x = relax(b->a, fixed);
    if (!x) return std::nullopt;
    const Expr base = x->fixed.to_expr();
    const bool aligned = ir::is_int(analyzer_.simplify(ir::floor_mod(base, ir::index(*c))), 0);
    if (b->op == ir::BinaryOp::floor_mod) {
      const bool whole = aligned && x->lo >= 0 && x->hi < *c;
      out.lo = whole ? x->lo : 0;
      out.hi = whole ? x->hi : *c - 1;
    } else if (aligned) {
      out.fixed = analyzer_.linear(ir::floor_div(base, ir::index(*c)));
      out.lo = arith::floor_div_int(x->lo, *c);
      out.hi = arith::floor_div_int(x->hi, *c);
    } else {
      out.fixed = analyzer_.linear(ir::floor_div(base + x->lo, ir::index(*c)));
      out.hi = (x->hi - x->lo) / *c + 1;
    }
    return out;
  }
  const arith::Bounds bounds = analyzer_.bounds(atom);
  if (!bounds.finite()) return std::nullopt;
  out.lo = bounds.lo;
  out.hi = bounds.hi;
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

  const FixedVars fixed = fixed_vars(stage);
  const auto threads = thread_loops(stage);
  std::vector<std::optional<Span>> region(rank);
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
        const auto span = relax(own.empty() ? at : ir::substitute(at, own), fixed);
        if (!span) {
          whole[k] = true;
        } else if (!region[k]) {
          region[k] = span;
        } else {
          Linear gap = span->fixed;
          gap.add(region[k]->fixed, -1);
          whole[k] = whole[k] || !gap.is_constant();
          region[k]->lo = std::min(region[k]->lo, span->lo + gap.constant);
          region[k]->hi = std::max(region[k]->hi, span->hi + gap.constant);
        }
      }
    });
  }
  for (size_t k = 0; k < rank; ++k) {
    if (whole[k] || !region[k] || region[k]->hi - region[k]->lo + 1 >= st.op.axes[k].extent) continue;
    region[k]->fixed.constant += region[k]->lo;
    d.min[k] = region[k]->fixed.to_expr();
    d.extent[k] = region[k]->hi - region[k]->lo + 1;
  }
}

void DomainInference::resolve_loops(int stage) {
  const Stage& st = stages_[static_cast<size_t>(stage)];
  StageDomain& d = domains_[static_cast<size_t>(stage)];
  auto& extent = d.loop_extent;
  for (size_t k = 0; k < st.op.axes.size(); ++k) extent[st.op.axes[k].var.get()] = d.extent[k];
  for (const te::Axis& a : st.op.reduce_axes) extent[a.var.get()] = a.extent;

  // Downwards: extents. Inner lengths shrink to a region smaller than they are.
  std::unordered_map<const VarNode*, std::vector<int64_t>> lengths;
  for (const schedule::Relation& r : st.relations) {
    if (const auto* split = std::get_if<schedule::SplitRelation>(&r)) {
      int64_t rest = extent.at(split->parent.get());
      std::vector<int64_t> inner = split->lengths;
      for (size_t k = inner.size(); k-- > 0;) {
        inner[k] = std::max<int64_t>(1, std::min(inner[k], rest));
        rest = (rest + inner[k] - 1) / inner[k];
      }
      extent[split->children[0].get()] = rest;
      for (size_t k = 0; k < inner.size(); ++k) extent[split->children[k + 1].get()] = inner[k];
      lengths[split->parent.get()] = std::move(inner);
    } else {
      const auto& fuse = std::get<schedule::FuseRelation>(r);
      int64_t product = 1;
      for (const ir::Var& p : fuse.parents) product *= extent.at(p.get());
      extent[fuse.child.get()] = product;
    }
  }

  // Upwards: every axis over the loops.
  ir::VarMap value;
  for (const schedule::Iter& it : st.iters) {
    const int64_t n = extent.at(it.var.get());
    value.emplace(it.var.get(), n == 1 ? ir::index(0) : ir::to_expr(it.var));
    analyzer_.bind(it.var.get(), {0, std::max<int64_t>(0, n - 1)});
  }
  std::vector<std::pair<Expr, int64_t>> splits;
  for (size_t i = st.relations.size(); i-- > 0;) {
    if (const auto* split = std::get_if<schedule::SplitRelation>(&st.relations[i])) {
      const std::vector<int64_t>& inner = lengths.at(split->parent.get());
      Expr v = value.at(split->children[0].get());
      int64_t covered = extent.at(split->children[0].get());
      for (size_t k = 0; k < inner.size(); ++k) {
        v = v * inner[k] + value.at(split->children[k + 1].get());
        covered *= inner[k];
      }
      const int64_t real = extent.at(split->parent.get());
      if (covered > real) splits.emplace_back(v, real);
      value.insert_or_assign(split->parent.get(), v);
    } else {
      const auto& fuse = std::get<schedule::FuseRelation>(st.relations[i]);
      Expr rest = value.at(fuse.child.get());
      // The fused loop runs over real iterations only (guards leave out others), so that what is left for the outermost parent is below its extent.
      size_t outermost = 0;
      while (outermost + 1 < fuse.parents.size() && extent.at(fuse.parents[outermost].get()) == 1) ++outermost;
      for (size_t k = fuse.parents.size(); k-- > 0;) {
        const int64_t n = extent.at(fuse.parents[k].get());
        value.insert_or_assign(fuse.parents[k].get(), n == 1 ? ir::index(0) : k == outermost ? rest : ir::floor_mod(rest, ir::index(n)));
        rest = ir::floor_div(rest, ir::index(n));
      }
    }
  }
  for (size_t k = 0; k < st.op.axes.size(); ++k) {
    const VarNode* axis = st.op.axes[k].var.get();
    d.axis_value.insert_or_assign(axis, analyzer_.simplify(d.min[k] + value.at(axis)));
  }
  for (const te::Axis& a : st.op.reduce_axes) d.axis_value.insert_or_assign(a.var.get(), analyzer_.simplify(value.at(a.var.get())));
  add_guards(stage, splits);
}

void DomainInference::add_guards(int stage, const std::vector<std::pair<Expr, int64_t>>& splits) {
  const Stage& st = stages_[static_cast<size_t>(stage)];
  StageDomain& d = domains_[static_cast<size_t>(stage)];
  const auto require = [&](const Expr& cond) {
    const Expr c = analyzer_.simplify(cond);
    if (ir::is_int(c, 1)) return;
    for (const Expr& g : d.guards)
      if (arith::same_atom(g, c)) return;
    d.guards.push_back(c);
  };
  for (const auto& [value, real] : splits) require(value < ir::index(real));
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
