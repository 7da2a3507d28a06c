// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/warp_tiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/schedule/primitives/primitives.h"
#include "engine/target/gpu.h"

namespace tw::lower {

using ir::Buffer;
using ir::Expr;
using schedule::Stage;
using tir::Stmt;

namespace {

/// Threads of a warp.
constexpr int64_t kWarp = 32;

/// The three innermost loops of a stage that a warp computes: over rows, columns and terms.
struct WarpLoops {
  const ir::VarNode *row, *column, *term;
  int64_t rows, columns, depth;
};
WarpLoops warp_loops(const Plan& plan, int i) {
  const Stage& st = plan.stage(i);
  const size_t at = static_cast<size_t>(schedule::position_of(st, st.warp_product->get()));
  const auto extent = [&](size_t k) { return plan.domains.of(i).loop_extent.at(st.iters[k].var.get()); };
  return {st.iters[at].var.get(), st.iters[at + 1].var.get(), st.iters[at + 2].var.get(), extent(at), extent(at + 1), extent(at + 2)};
}

}  // namespace

Error warp_error(const Plan& plan, int i, const std::string& expected) {
  return Error(ErrorCode::illegal_schedule, fmt::format("Expected {} for 'tensorize', found stage '{}'", expected, plan.stage(i).op.name));
}

Expected<void> place_warp_tile(const Plan& plan, int i, Placement& place) {
  const Stage& st = plan.stage(i);
  if (!plan.launches.has(i) || plan.launches.threads(i, tir::ForKind::thread_x) != kWarp) return warp_error(plan, i, "32 threads along threadIdx.x");
  const WarpLoops w = warp_loops(plan, i);
  if (w.rows % tir::kMmaRows != 0 || w.columns % tir::kMmaColumns != 0) return warp_error(plan, i, "multiples of 16 rows and 16 columns");
  if (!plan.domains.of(i).guards.empty()) return warp_error(plan, i, "tiles without surplus");
  std::pair<size_t, size_t> dims{st.op.axes.size(), st.op.axes.size()};
  for (size_t d = 0; d < st.op.axes.size(); ++d) {
    const Expr local = plan.domains.analyzer().simplify(plan.domains.of(i).axis_value.at(st.op.axes[d].var.get()) - plan.domains.of(i).min[d]);
    if (local.get() == w.row) dims.first = d;
    if (local.get() == w.column) dims.second = d;
    if (local.get() != w.row && local.get() != w.column && plan.domains.of(i).extent[d] != 1)
      return warp_error(plan, i, "rows and columns that are whole loops");
  }
  if (dims.first == st.op.axes.size() || dims.second == st.op.axes.size()) return warp_error(plan, i, "rows and columns that are whole loops");
  place.warp_tile = dims;
  place.shape = {w.rows / 8, w.columns / 8, 2};
  return {};
}

Expected<Stmt> warp_product(const Plan& plan, const Arrays& arrays, int i) {
  const Stage& st = plan.stage(i);
  const WarpLoops w = warp_loops(plan, i);
  const auto loads = schedule::product_of_loads(*st.op.body);
  std::optional<tir::MmaOperand> a, b;
  for (const ir::LoadNode* l : {loads.first, loads.second}) {
    std::vector<Expr> logical;
    for (const Expr& e : l->indices) logical.push_back(ir::substitute(e, plan.domains.of(i).axis_value));
    auto [buffer, indices] = arrays.access(l->buffer.get(), std::move(logical));
    Expr flat = ir::index(0);
    for (size_t d = 0; d < indices.size(); ++d) flat = flat * buffer->shape[d] + indices[d];
    const arith::Linear at = plan.domains.analyzer().linear(plan.domains.analyzer().simplify(flat));
    const auto step = [&](const ir::VarNode* v) {
      int64_t coefficient = 0;
      for (const auto& t : at.terms) {
        if (t.atom.get() == v)
          coefficient = t.coeff;
        else if (ir::uses_var(t.atom, v))
          return int64_t{-1};
      }
      return coefficient;
    };
    const int64_t row = step(w.row), column = step(w.column), term = step(w.term), line = std::max(row, column);
    const bool one_side = (row > 0) != (column > 0) && std::min(row, column) == 0;
    if (buffer->scope != ir::Scope::shared || !one_side || term < 1 || (line != 1 && term != 1))
      return warp_error(plan, i, "operands in shared memory that lie in rows");
    const int64_t whole = tir::kMmaLine / l->dtype.bytes();
    const bool aligned = at.constant % whole == 0 && std::all_of(at.terms.begin(), at.terms.end(), [&](const auto& t) {
                           const auto* v = t.atom.get();
                           return t.coeff % whole == 0 || (t.coeff == 1 && (v == w.row || v == w.column || v == w.term));
                         });
    if (!aligned) return warp_error(plan, i, "operands whose lines begin at multiples of 16 bytes");
    for (Expr& e : indices) e = plan.domains.analyzer().simplify(ir::substitute(e, {{w.row, ir::index(0)}, {w.column, ir::index(0)}, {w.term, ir::index(0)}}));
    (row > 0 ? a : b) = tir::MmaOperand{ir::load(buffer, std::move(indices)), term == 1 ? line : term, term != 1};
  }
  const Buffer& sums = arrays.of(i);
  const int depth = target::mma_depth(loads.first->dtype, loads.second->dtype);
  if (!a || !b || depth == 0 || w.depth % depth != 0)
    return warp_error(plan, i, fmt::format("operands of rows and of columns, and a multiple of {} terms", depth));
  return tir::make_mma(ir::load(sums, {ir::index(0), ir::index(0), ir::index(0)}), *a, *b, static_cast<int>(w.rows), static_cast<int>(w.columns),
                       static_cast<int>(w.depth), {i});
}

Stmt clear_warp_tile(const Arrays& arrays, int i) {
  const Buffer& sums = arrays.of(i);
  std::vector<Expr> at;
  std::vector<ir::Var> vars;
  for (const char* name : {"rows", "columns", "pair"}) {
    vars.push_back(ir::make_var(name));
    at.push_back(ir::to_expr(vars.back()));
  }
  Stmt body = tir::store(sums, at, te::reducer_identity(te::Reducer::sum, sums->dtype), {i});
  for (size_t d = 3; d-- > 0;) body = tir::make_for(vars[d], ir::index(0), ir::index(sums->shape[d]), tir::ForKind::unrolled, std::move(body), {i});
  return body;
}

bool holds_element(const Plan& plan, int i, const Expr& row, const Expr& column) {
  const Stage& st = plan.stage(i);
  const auto x = std::find_if(st.iters.begin(), st.iters.end(), [](const schedule::Iter& it) { return it.annotation == schedule::Annotation::thread_x; });
  if (x == st.iters.end()) return false;
  const Expr lane = ir::floor_mod(row, ir::index(8)) * 4 + ir::floor_div(ir::floor_mod(column, ir::index(8)), ir::index(2));
  const arith::Linear l = plan.domains.analyzer().linear(plan.domains.analyzer().simplify(lane));
  return l.constant == 0 && l.terms.size() == 1 && l.terms[0].coeff == 1 && l.terms[0].atom.get() == x->var.get();
}

}  // namespace tw::lower
