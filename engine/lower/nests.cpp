// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/nests.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/lower/warp_tiles.h"
#include "engine/tir/clone.h"
#include "engine/tir/visit.h"

namespace tw::lower {

using ir::Buffer;
using ir::Expr;
using schedule::ComputeLocation;
using schedule::Stage;
using tir::Stmt;

namespace {

/// As an array or a sum of that type takes it; the factors of terms are multiplied without rounding.
Expr in_type(DType t, const Expr& e) {
  if (e->dtype == t) return e;
  const auto* b = ir::as<ir::BinaryNode>(e);
  return b && b->op == ir::BinaryOp::mul && is_16_bit_float(e->dtype) ? in_type(t, b->a) * in_type(t, b->b) : ir::cast(t, e);
}

class NestWriter {
 public:
  NestWriter(const Plan& plan, const Arrays& arrays) : plan_(plan), arrays_(arrays) {}

  Expected<Stmt> write(int root) const {
    Stmt body = nest(root);
    if (error_) return *error_;
    if (!plan_.launches.has(root)) return body;
    std::vector<std::pair<int, Buffer>> shared;
    const auto add = [&](int stage, const Buffer& array) {
      if (array->scope == ir::Scope::shared && std::none_of(shared.begin(), shared.end(), [&](const auto& a) { return a.second.same_as(array); }))
        shared.emplace_back(stage, array);
    };
    tir::walk(body, [&](const Stmt& s) {
      if (const auto* st = tir::as<tir::StoreNode>(s)) add(st->origin.stage, st->buffer);
    });
    for (size_t i = 0; i < plan_.stages.size(); ++i)  // what is never stored may be read under a condition that never holds
      if (plan_.stages[i].location == ComputeLocation::at && stage_around(static_cast<int>(i)) == root) add(static_cast<int>(i), arrays_.of(static_cast<int>(i)));
    return plan_.launches.wrap(root, std::move(body), shared);
  }

 private:
  /// The outermost one that a stage is computed in.
  int stage_around(int i) const { return plan_.stage(i).location == ComputeLocation::at ? stage_around(plan_.stage(i).at_stage) : i; }

  /// What is computed from a sum that a thread keeps in float32 is computed in float32 as well, and rounded where it is stored.
  Expr rewrite_children(int i, const Expr& e) const {
    std::vector<Expr> children;
    bool widens = false;
    ir::for_each_child(e, [&](const Expr& c) {
      children.push_back(rewrite_reads(i, c));
      widens = widens || children.back()->dtype != c->dtype;
    });
    size_t k = 0;
    return ir::map_children(e, [&](const Expr&) {
      const Expr& c = children[k++];
      return widens && is_16_bit_float(c->dtype) ? ir::cast(kFloat32, c) : c;
    });
  }

  /// The body of stage i with reads of stages replaced by reads of their arrays.
  Expr rewrite_reads(int i, const Expr& e) const {
    const Expr x = arrays_.widened() ? rewrite_children(i, e) : ir::map_children(e, [&](const Expr& c) { return rewrite_reads(i, c); });
    if (!ir::as<ir::LoadNode>(e)) return x;  // of a cast to what the array has anyway, its rewritten load is left
    const auto* l = ir::as<ir::LoadNode>(x);
    const int from = arrays_.stage_of(l->buffer.get());
    std::vector<Expr> at = l->indices;
    if (const auto& tile = arrays_.placement(from).warp_tile) {
      for (Expr& e : at) e = plan_.domains.analyzer().simplify(e);
      const std::vector<Expr>& min = plan_.domains.of(from).min;
      if (!holds_element(plan_, i, at[tile->first] - min[tile->first], at[tile->second] - min[tile->second]))
        fail(warp_error(plan_, from, fmt::format("a reader '{}' whose threadIdx.x is the lane that holds the element", plan_.stage(i).op.name)));
    }
    auto [buffer, indices] = arrays_.access(l->buffer.get(), std::move(at));
    const Expr value = ir::load(buffer, std::move(indices));
    return value->dtype == l->dtype || is_16_bit_float(l->dtype) ? value : ir::cast(l->dtype, value);
  }

  static Stmt guarded(const std::vector<Expr>& conds, Stmt body, tir::Origin origin) {
    if (conds.empty()) return body;
    Expr all = conds.front();
    for (size_t k = 1; k < conds.size(); ++k) all = all && conds[k];
    return tir::if_then(all, std::move(body), std::nullopt, origin);
  }

  /// The loop around `body`, with the stages that are computed inside it before the loop's own work.
  /// A double-buffered stage runs one iteration ahead: its first before the loop, the next one's inside. Stages that are copied ahead begin as many iterations
  /// ahead as they have arrays less one; an iteration waits for its own, then begins another group, of which there is one an iteration, if an empty one.
  Stmt wrap_loop(int i, size_t loop, Stmt body) const {
    const schedule::Iter& it = plan_.stage(i).iters[loop];
    const int64_t n = plan_.domains.of(i).loop_extent.at(it.var.get());
    std::vector<int> inside, ahead, copied;
    for (size_t j = 0; j < plan_.stages.size(); ++j) {
      const Stage& st = plan_.stages[j];
      if (st.location == ComputeLocation::at && st.at_stage == i && st.at_iter->same_as(it.var))
        (n == 1 ? inside : st.pipeline > 0 ? copied : st.double_buffer ? ahead : inside).push_back(static_cast<int>(j));
    }
    std::vector<Stmt> parts, first;
    if (!copied.empty()) {
      const int64_t early = arrays_.slots(copied.front()) - 1;
      std::vector<Stmt> stages;
      for (const int j : copied) stages.push_back(nest(j));
      const Stmt all = tir::seq(std::move(stages));
      for (int64_t k = 0; k < early; ++k) first.push_back(tir::make_async(tir::clone_with(all, {{it.var.get(), ir::index(k)}}), {copied.front()}));
      const Expr next = ir::to_expr(it.var) + early;
      parts.push_back(tir::make_wait(static_cast<int>(early) - 1, {copied.front()}));
      parts.push_back(
          tir::make_async(tir::if_then(next < ir::index(n), tir::clone_with(all, {{it.var.get(), next}}), std::nullopt, {copied.front()}), {copied.front()}));
    }
    for (const int j : ahead) {
      const Stmt stage = nest(j);
      const Expr next = ir::to_expr(it.var) + int64_t{1};
      first.push_back(tir::clone_with(stage, {{it.var.get(), ir::index(0)}}));
      parts.push_back(tir::if_then(next < ir::index(n), tir::clone_with(stage, {{it.var.get(), next}}), std::nullopt, {j}));
    }
    for (const int j : inside) parts.push_back(nest(j));
    parts.push_back(std::move(body));
    Stmt out = with_arrays(inside, tir::seq(std::move(parts)));
    if (n != 1 && !plan_.launches.is_coordinate(i, loop))
      out = tir::make_for(it.var, ir::index(0), ir::index(n), for_kind(it.annotation), std::move(out), {i, static_cast<int>(loop)}, auto_unroll(i));
    if (first.empty()) return out;
    first.push_back(std::move(out));
    return with_arrays(ahead, tir::seq(std::move(first)));
  }

  /// A stage's own number of stores, else that of the stage that it is computed in.
  int64_t auto_unroll(int i) const {
    const Stage& st = plan_.stage(i);
    return st.auto_unroll >= 0 || st.location != ComputeLocation::at ? st.auto_unroll : auto_unroll(st.at_stage);
  }

  Stmt with_arrays(const std::vector<int>& stages, Stmt body) const {
    for (size_t k = stages.size(); k-- > 0;) {
      const Buffer& array = arrays_.of(stages[k]);
      if (array->scope != ir::Scope::shared) body = tir::alloc(array, body, {stages[k]});
    }
    return body;
  }

  std::vector<Expr> own_indices(int i) const {
    std::vector<Expr> out;
    for (const te::Axis& a : plan_.stage(i).op.axes) out.push_back(plan_.domains.of(i).axis_value.at(a.var.get()));
    return out;
  }

  Stmt nest(int i) const {
    if (!plan_.launches.reducing(i).empty()) return reduction_by_threads(i);
    const Stage& st = plan_.stage(i);
    const auto first = std::find_if(st.iters.begin(), st.iters.end(), [](const schedule::Iter& it) { return it.kind == te::AxisKind::reduce; });
    const auto first_reduce = static_cast<size_t>(first - st.iters.begin());
    const bool reduces = st.op.reducer != te::Reducer::none;
    const size_t loops = st.warp_product ? static_cast<size_t>(schedule::position_of(st, st.warp_product->get())) : st.iters.size();
    Stmt body = st.warp_product ? product_by_warp(i) : innermost(i);
    for (size_t k = loops; k-- > 0;) {
      body = wrap_loop(i, k, std::move(body));
      if (reduces && k == first_reduce) body = tir::seq({init(i, first_reduce), std::move(body)});
    }
    if (st.warp_product && first_reduce >= loops) body = tir::seq({init(i, first_reduce), std::move(body)});
    if (reduces && first_reduce == st.iters.size()) body = tir::seq({init(i, first_reduce), std::move(body)});
    return body;
  }

  /// Every thread reduces its part into an element of its own, then they combine them.
  Stmt reduction_by_threads(int i) const {
    const Stage& st = plan_.stage(i);
    const tir::Origin origin{i};
    const auto first = std::find_if(st.iters.begin(), st.iters.end(), [](const schedule::Iter& it) { return it.kind == te::AxisKind::reduce; });
    const auto first_reduce = static_cast<size_t>(first - st.iters.begin());
    const Buffer part = ir::make_buffer(st.op.name + "_part", sum_type(st), {1}, ir::Scope::local);
    const std::vector<Expr> element{ir::index(0)};
    const Expr term = in_type(part->dtype, rewrite_reads(i, ir::substitute(*st.op.body, plan_.domains.of(i).axis_value)));
    Stmt body = guarded(with(plan_.domains.of(i).guards, plan_.launches.conditions(i, ir::Scope::local, false)),
                        tir::store(part, element, te::reducer_combine(st.op.reducer, ir::load(part, element), term), origin), origin);
    for (size_t k = st.iters.size(); k-- > first_reduce;) body = wrap_loop(i, k, std::move(body));
    std::vector<Stmt> parts{tir::store(part, element, te::reducer_identity(st.op.reducer, part->dtype), origin), std::move(body)};
    const Expr combined = te::reducer_combine(st.op.reducer, ir::load(part, element), ir::load(part, element));
    for (const tir::ForKind k : plan_.launches.reducing(i)) parts.push_back(tir::all_reduce(part, element, ir::as<ir::BinaryNode>(combined)->op, k, origin));
    auto [buffer, indices] = arrays_.access(st.op.output.get(), own_indices(i));
    parts.push_back(guarded(with(spatial_guards(i), plan_.launches.conditions(i, buffer->scope, true)),
                            tir::store(buffer, std::move(indices), in_type(buffer->dtype, ir::load(part, element)), origin), origin));
    body = tir::alloc(part, tir::seq(std::move(parts)), origin);
    for (size_t k = first_reduce; k-- > 0;) body = wrap_loop(i, k, std::move(body));
    return body;
  }

  static std::vector<Expr> with(std::vector<Expr> conds, const std::vector<Expr>& more) {
    conds.insert(conds.end(), more.begin(), more.end());
    return conds;
  }

  /// The guards that speak of no reduction loop.
  std::vector<Expr> spatial_guards(int i) const {
    const Stage& st = plan_.stage(i);
    std::vector<Expr> out;
    for (const Expr& g : plan_.domains.of(i).guards) {
      const bool over_reduction = std::any_of(st.iters.begin(), st.iters.end(),
                                              [&](const schedule::Iter& it) { return it.kind == te::AxisKind::reduce && ir::uses_var(g, it.var.get()); });
      if (!over_reduction) out.push_back(g);
    }
    return out;
  }

  Stmt innermost(int i) const {
    const Stage& st = plan_.stage(i);
    const tir::Origin origin{i};
    auto [buffer, indices] = arrays_.access(st.op.output.get(), own_indices(i));
    Expr value = rewrite_reads(i, ir::substitute(*st.op.body, plan_.domains.of(i).axis_value));
    value = in_type(buffer->dtype, value);
    if (st.op.reducer != te::Reducer::none) value = te::reducer_combine(st.op.reducer, ir::load(buffer, indices), value);
    const std::vector<Expr> conds = with(plan_.domains.of(i).guards, plan_.launches.conditions(i, buffer->scope, false));
    return guarded(conds, tir::store(buffer, std::move(indices), std::move(value), origin), origin);
  }

  /// Sets the elements that the reduction loops below update; spatial loops inside them are repeated with variables of their own.
  Stmt init(int i, size_t first_reduce) const {
    const Stage& st = plan_.stage(i);
    if (st.warp_product) return clear_warp_tile(arrays_, i);
    const tir::Origin origin{i};
    auto [buffer, indices] = arrays_.access(st.op.output.get(), own_indices(i));
    const std::vector<Expr> conds = with(spatial_guards(i), plan_.launches.conditions(i, buffer->scope, false));
    Stmt body = guarded(conds, tir::store(buffer, std::move(indices), te::reducer_identity(st.op.reducer, buffer->dtype), origin), origin);
    ir::VarMap fresh;
    const std::vector<size_t> loops = init_loops(i, first_reduce);
    for (size_t l = loops.size(); l-- > 0;) {
      const size_t k = loops[l];
      const schedule::Iter& it = st.iters[k];
      schedule::Iter copy = it;
      copy.var = ir::make_var(it.var->name + "_init");
      const int64_t n = plan_.domains.of(i).loop_extent.at(it.var.get());
      if (n == 1) continue;
      fresh.emplace(it.var.get(), ir::to_expr(copy.var));
      body = tir::make_for(copy.var, ir::index(0), ir::index(n), for_kind(it.annotation), std::move(body), {i, static_cast<int>(k)}, auto_unroll(i));
    }
    return fresh.empty() ? body : tir::substitute(body, fresh);
  }

  /// Those loops, outermost first. What is set has no order of its own: plain loops go as their elements lie, where the reduction goes through them as suits it.
  std::vector<size_t> init_loops(int i, size_t first_reduce) const {
    const Stage& st = plan_.stage(i);
    std::vector<size_t> loops, plain;
    for (size_t k = first_reduce; k < st.iters.size(); ++k) {
      if (st.iters[k].kind == te::AxisKind::reduce || plan_.launches.is_coordinate(i, k)) continue;
      loops.push_back(k);
      if (st.iters[k].annotation == schedule::Annotation::none) plain.push_back(k);
    }
    if (!st.layout.empty()) return loops;
    const std::vector<Expr> axes = own_indices(i);
    const auto outermost_axis = [&](size_t k) {
      return std::find_if(axes.begin(), axes.end(), [&](const Expr& axis) { return ir::uses_var(axis, st.iters[k].var.get()); });
    };
    std::stable_sort(plain.begin(), plain.end(), [&](size_t a, size_t b) { return outermost_axis(a) < outermost_axis(b); });
    size_t next = 0;
    for (size_t& k : loops)
      if (st.iters[k].annotation == schedule::Annotation::none) k = plain[next++];
    return loops;
  }

  Stmt product_by_warp(int i) const {
    auto product = warp_product(plan_, arrays_, i);
    return product ? *product : fail(product.error());
  }

  Stmt fail(Error e) const {
    if (!error_) error_ = std::move(e);
    return tir::nop();
  }

  const Plan& plan_;
  const Arrays& arrays_;
  mutable std::optional<Error> error_;  ///< the first that was found while the nest was written
};

}  // namespace

Expected<Stmt> write_nest(const Plan& plan, const Arrays& arrays, int root) { return NestWriter(plan, arrays).write(root); }

}  // namespace tw::lower
