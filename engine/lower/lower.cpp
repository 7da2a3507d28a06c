// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/lower/domain.h"
#include "engine/lower/launch.h"
#include "engine/lower/prepare.h"
#include "engine/schedule/primitives/primitives.h"
#include "engine/tir/clone.h"
#include "engine/tir/visit.h"

namespace tw::lower {

namespace {

using ir::Buffer;
using ir::Expr;
using schedule::ComputeLocation;
using schedule::LayoutStep;
using schedule::Stage;
using tir::Stmt;

std::vector<int64_t> physical_shape(const std::vector<int64_t>& shape, const std::vector<LayoutStep::Piece>& layout) {
  if (layout.empty()) return shape;
  std::vector<int64_t> inner(shape.size(), 1), out;
  for (const auto& p : layout)
    if (p.factor) inner[static_cast<size_t>(p.dim)] *= p.factor;
  for (const auto& p : layout) {
    const auto d = static_cast<size_t>(p.dim);
    out.push_back(p.factor ? p.factor : (shape[d] + inner[d] - 1) / inner[d]);
  }
  return out;
}

std::vector<Expr> physical_indices(const std::vector<Expr>& logical, const std::vector<LayoutStep::Piece>& layout) {
  if (layout.empty()) return logical;
  std::vector<int64_t> inner(logical.size(), 1);
  std::vector<Expr> out(layout.size(), ir::index(0));
  for (size_t k = layout.size(); k-- > 0;) {
    const auto d = static_cast<size_t>(layout[k].dim);
    const Expr rest = ir::floor_div(logical[d], ir::index(inner[d]));
    out[k] = layout[k].factor ? ir::floor_mod(rest, ir::index(layout[k].factor)) : rest;
    inner[d] *= layout[k].factor ? layout[k].factor : 1;
  }
  return out;
}

/// More elements than any array of ours has; products below it cannot overflow.
constexpr int64_t kMaxElements = int64_t{1} << 48;

/// Where the elements of an array lie. Without gaps and slots: row-major in `shape`. With gaps an array is addressed by `strides` in one dimension.
struct Placement {
  std::vector<LayoutStep::Piece> layout;  ///< empty means row-major
  std::vector<int64_t> shape;             ///< of the buffer
  std::vector<int64_t> strides = {};      ///< per physical dimension where there are gaps
  std::optional<Expr> slot = {};          ///< which of the arrays in turn, for a stage that is computed ahead
  /// The dimensions of rows and columns of a tile that the threads of a warp hold together, in their parts [rows / 8, columns / 8, 2].
  std::optional<std::pair<size_t, size_t>> warp_tile = {};

  std::vector<Expr> indices(const std::vector<Expr>& logical) const {
    if (warp_tile) {
      const Expr &row = logical[warp_tile->first], &column = logical[warp_tile->second];
      return {ir::floor_div(row, ir::index(8)), ir::floor_div(column, ir::index(8)), ir::floor_mod(column, ir::index(2))};
    }
    std::vector<Expr> out = physical_indices(logical, layout);
    if (!strides.empty()) {
      Expr at = ir::index(0);
      for (size_t k = 0; k < out.size(); ++k) at = at + out[k] * strides[k];
      out = {at};
    }
    if (slot) out.insert(out.begin(), *slot);
    return out;
  }
};

/// Strides of the physical dimensions, outermost first, each enlarged until its alignment holds; the last number is that of all elements.
/// Nothing if there are more than kMaxElements.
std::optional<std::vector<int64_t>> aligned_strides(const std::vector<int64_t>& shape, const std::vector<LayoutStep::Piece>& layout,
                                                    const std::vector<schedule::Alignment>& alignments) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t k = shape.size(); k-- > 0;) {
    for (const schedule::Alignment& a : alignments) {
      const bool here = layout.empty() ? static_cast<size_t>(a.dim) == k : layout[k].dim == a.dim && layout[k].factor == 0;
      if (here) stride += arith::floor_mod_int(a.offset - stride, a.factor);
    }
    strides[k] = stride;
    if (shape[k] > kMaxElements / stride) return std::nullopt;
    stride *= shape[k];
  }
  strides.push_back(stride);
  return strides;
}

/// Tiles up to this size live on the stack, where those with constant indices become registers; larger ones come from the workspace.
constexpr int64_t kLocalBytes = 32 * 1024;

/// Threads of a warp.
constexpr int64_t kWarp = 32;

int64_t tile_bytes(const std::vector<int64_t>& shape, DType t) {
  int64_t n = t.bytes();
  for (const int64_t d : shape) n *= d;
  return n;
}

class Lowering {
 public:
  Lowering(const schedule::Schedule& s, std::vector<Stage> stages) : outputs_(s.outputs()), stages_(std::move(stages)), domains_(stages_) {}

  Expected<tir::Func> run(const std::string& name) {
    domains_.run();
    launches_.emplace(stages_, domains_);
    TW_CHECK(launches_->check());
    tir::Func f{name, {}, static_cast<int>(outputs_.size()), tir::nop()};
    TW_CHECK(place_buffers(f));
    std::vector<Stmt> body;
    for (size_t i = 0; i < stages_.size(); ++i)
      if (!stages_[i].op.is_placeholder() && stages_[i].location == ComputeLocation::root) body.push_back(launch(static_cast<int>(i)));
    if (error_) return *error_;
    f.body = tir::seq(std::move(body));
    for (size_t i = stages_.size(); i-- > 0;)
      if (is_root_intermediate(static_cast<int>(i))) f.body = tir::alloc(buffers_.at(stages_[i].op.output.get()), f.body, {static_cast<int>(i), -1});
    return f;
  }

 private:
  bool is_output(int i) const { return std::find(outputs_.begin(), outputs_.end(), i) != outputs_.end(); }
  bool is_root_intermediate(int i) const {
    const Stage& st = stages_[static_cast<size_t>(i)];
    return !st.op.is_placeholder() && st.location == ComputeLocation::root && !is_output(i);
  }

  Expected<void> place_buffers(tir::Func& f) {
    for (size_t i = 0; i < stages_.size(); ++i) {
      const Stage& st = stages_[i];
      const Buffer& logical = st.op.output;
      if (st.location == ComputeLocation::inlined) {
        placements_.emplace_back();
        continue;
      }
      const bool at = st.location == ComputeLocation::at;
      const bool param = st.op.is_placeholder() || is_output(static_cast<int>(i));
      placements_.push_back({at && st.layout.empty() ? loop_order_layout(static_cast<int>(i)) : st.layout, {}});
      Placement& place = placements_.back();
      place.shape = physical_shape(at ? domains_.of(static_cast<int>(i)).extent : logical->shape, place.layout);
      auto strides = aligned_strides(place.shape, place.layout, st.alignments);
      if (!strides)
        return Error(ErrorCode::resource_limit,
                     fmt::format("Expected an array of at most 2^48 elements for '{}', found {}", st.op.name, shape_text(place.shape)));
      if (!st.alignments.empty()) {
        place.shape = {strides->back()};
        strides->pop_back();
        place.strides = std::move(*strides);
      }
      place.slot = slot_of(static_cast<int>(i));
      if (place.slot) place.shape.insert(place.shape.begin(), slots(static_cast<int>(i)));
      DType type = logical->dtype;
      if (st.warp_product) {
        TW_CHECK(place_warp_tile(static_cast<int>(i), place));
        type = target::mma_sum(schedule::product_of_loads(*st.op.body).first->dtype);
      }
      if (st.pipeline > 0 && (st.scope != ir::Scope::shared || !launches_->has(static_cast<int>(i))))
        return Error(ErrorCode::illegal_schedule, fmt::format("Expected a stage that a block of threads shares for 'pipeline', found '{}'", st.op.name));
      ir::Scope scope = param ? ir::Scope::param : st.scope;
      if (scope != ir::Scope::param && !at && launches_->any()) scope = ir::Scope::global;  // crosses launches
      if (at && !launches_->has(static_cast<int>(i)) && tile_bytes(place.shape, logical->dtype) <= kLocalBytes) scope = ir::Scope::local;
      if (scope == ir::Scope::local && launches_->has(static_cast<int>(i))) type = sum_type(st);
      if (scope == ir::Scope::global && !at && launches_->any() && is_16_bit_float(type)) type = kFloat32;  // parts of sums that the next launch adds up
      widened_ = widened_ || (type != logical->dtype && is_16_bit_float(logical->dtype));
      buffers_.emplace(logical.get(), ir::make_buffer(logical->name, type, place.shape, scope));
      stage_of_.emplace(logical.get(), static_cast<int>(i));
      if (st.op.is_placeholder()) f.params.push_back(buffers_.at(logical.get()));
    }
    for (const int o : outputs_) f.params.push_back(buffers_.at(stages_[static_cast<size_t>(o)].op.output.get()));
    return {};
  }

  static bool is_16_bit_float(DType t) { return t.is_float() && t.bits == 16; }
  /// What a thread on a GPU adds up in: 16-bit floats in float32.
  static DType sum_type(const Stage& st) {
    const DType t = st.op.output->dtype;
    return st.op.reducer == te::Reducer::sum && is_16_bit_float(t) ? kFloat32 : t;
  }
  /// As an array or a sum of that type takes it; the factors of terms are multiplied without rounding.
  static Expr in_type(DType t, const Expr& e) {
    if (e->dtype == t) return e;
    const auto* b = ir::as<ir::BinaryNode>(e);
    return b && b->op == ir::BinaryOp::mul && is_16_bit_float(e->dtype) ? in_type(t, b->a) * in_type(t, b->b) : ir::cast(t, e);
  }

  /// Arrays of a stage that is computed ahead of the loop that it is computed in; 1 for others, and where that loop runs once.
  int64_t slots(int i) const {
    const Stage& st = stages_[static_cast<size_t>(i)];
    if (!st.double_buffer && st.pipeline == 0) return 1;
    return std::min<int64_t>(st.double_buffer ? 2 : st.pipeline, domains_.of(st.at_stage).loop_extent.at(st.at_iter->get()));
  }
  /// Which of its arrays such a stage uses in an iteration of that loop.
  std::optional<Expr> slot_of(int i) const {
    if (slots(i) == 1) return std::nullopt;
    return ir::floor_mod(ir::to_expr(*stages_[static_cast<size_t>(i)].at_iter), ir::index(slots(i)));
  }

  /// The three innermost loops of a stage that a warp computes: over rows, columns and terms.
  struct WarpLoops {
    const ir::VarNode *row, *column, *term;
    int64_t rows, columns, depth;
  };
  WarpLoops warp_loops(int i) const {
    const Stage& st = stages_[static_cast<size_t>(i)];
    const size_t at = static_cast<size_t>(schedule::position_of(st, st.warp_product->get()));
    const auto extent = [&](size_t k) { return domains_.of(i).loop_extent.at(st.iters[k].var.get()); };
    return {st.iters[at].var.get(), st.iters[at + 1].var.get(), st.iters[at + 2].var.get(), extent(at), extent(at + 1), extent(at + 2)};
  }
  Error warp_error(int i, const std::string& expected) const {
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected {} for 'tensorize', found stage '{}'", expected, stages_[static_cast<size_t>(i)].op.name));
  }

  Expected<void> place_warp_tile(int i, Placement& place) const {
    const Stage& st = stages_[static_cast<size_t>(i)];
    if (!launches_->has(i) || launches_->threads(i, tir::ForKind::thread_x) != kWarp) return warp_error(i, "32 threads along threadIdx.x");
    const WarpLoops w = warp_loops(i);
    if (w.rows % tir::kMmaRows != 0 || w.columns % tir::kMmaColumns != 0) return warp_error(i, "multiples of 16 rows and 16 columns");
    if (!domains_.of(i).guards.empty()) return warp_error(i, "tiles without surplus");
    std::pair<size_t, size_t> dims{st.op.axes.size(), st.op.axes.size()};
    for (size_t d = 0; d < st.op.axes.size(); ++d) {
      const Expr local = domains_.analyzer().simplify(domains_.of(i).axis_value.at(st.op.axes[d].var.get()) - domains_.of(i).min[d]);
      if (local.get() == w.row) dims.first = d;
      if (local.get() == w.column) dims.second = d;
      if (local.get() != w.row && local.get() != w.column && domains_.of(i).extent[d] != 1) return warp_error(i, "rows and columns that are whole loops");
    }
    if (dims.first == st.op.axes.size() || dims.second == st.op.axes.size()) return warp_error(i, "rows and columns that are whole loops");
    place.warp_tile = dims;
    place.shape = {w.rows / 8, w.columns / 8, 2};
    return {};
  }

  /// Adds the product of the tiles to the sums of the warp.
  Stmt warp_product(int i) const {
    const Stage& st = stages_[static_cast<size_t>(i)];
    const WarpLoops w = warp_loops(i);
    const auto loads = schedule::product_of_loads(*st.op.body);
    std::optional<tir::MmaOperand> a, b;
    for (const ir::LoadNode* l : {loads.first, loads.second}) {
      std::vector<Expr> logical;
      for (const Expr& e : l->indices) logical.push_back(ir::substitute(e, domains_.of(i).axis_value));
      auto [buffer, indices] = access(l->buffer.get(), std::move(logical));
      Expr flat = ir::index(0);
      for (size_t d = 0; d < indices.size(); ++d) flat = flat * buffer->shape[d] + indices[d];
      const arith::Linear at = domains_.analyzer().linear(domains_.analyzer().simplify(flat));
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
        return fail(warp_error(i, "operands in shared memory that lie in rows"));
      const int64_t whole = tir::kMmaLine / l->dtype.bytes();
      const bool aligned = at.constant % whole == 0 && std::all_of(at.terms.begin(), at.terms.end(), [&](const auto& t) {
                             const auto* v = t.atom.get();
                             return t.coeff % whole == 0 || (t.coeff == 1 && (v == w.row || v == w.column || v == w.term));
                           });
      if (!aligned) return fail(warp_error(i, "operands whose lines begin at multiples of 16 bytes"));
      for (Expr& e : indices) e = domains_.analyzer().simplify(ir::substitute(e, {{w.row, ir::index(0)}, {w.column, ir::index(0)}, {w.term, ir::index(0)}}));
      (row > 0 ? a : b) = tir::MmaOperand{ir::load(buffer, std::move(indices)), term == 1 ? line : term, term != 1};
    }
    const Buffer& sums = buffers_.at(st.op.output.get());
    const int depth = target::mma_depth(loads.first->dtype, loads.second->dtype);
    if (!a || !b || depth == 0 || w.depth % depth != 0)
      return fail(warp_error(i, fmt::format("operands of rows and of columns, and a multiple of {} terms", depth)));
    return tir::make_mma(ir::load(sums, {ir::index(0), ir::index(0), ir::index(0)}), *a, *b, static_cast<int>(w.rows), static_cast<int>(w.columns),
                         static_cast<int>(w.depth), {i});
  }

  Stmt fail(Error e) const {
    if (!error_) error_ = std::move(e);
    return tir::nop();
  }

  /// Every thread sets the sums that it holds.
  Stmt clear_warp_tile(int i) const {
    const Buffer& sums = buffers_.at(stages_[static_cast<size_t>(i)].op.output.get());
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

  /// Whether the thread of stage i that reads element (row, column) of a warp's tile is the one that holds it.
  bool holds_element(int i, const Expr& row, const Expr& column) const {
    const Stage& st = stages_[static_cast<size_t>(i)];
    const auto x = std::find_if(st.iters.begin(), st.iters.end(), [](const schedule::Iter& it) { return it.annotation == schedule::Annotation::thread_x; });
    if (x == st.iters.end()) return false;
    const Expr lane = ir::floor_mod(row, ir::index(8)) * 4 + ir::floor_div(ir::floor_mod(column, ir::index(8)), ir::index(2));
    const arith::Linear l = domains_.analyzer().linear(domains_.analyzer().simplify(lane));
    return l.constant == 0 && l.terms.size() == 1 && l.terms[0].coeff == 1 && l.terms[0].atom.get() == x->var.get();
  }

  /// Dimensions of a tile in the order of its stage's loops, so that the innermost loop walks neighbouring elements.
  std::vector<LayoutStep::Piece> loop_order_layout(int i) const {
    const Stage& st = stages_[static_cast<size_t>(i)];
    std::vector<std::pair<int, int>> position;  // innermost loop that moves the dimension, dimension
    for (size_t d = 0; d < st.op.axes.size(); ++d) {
      int innermost = -1;
      for (size_t k = 0; k < st.iters.size(); ++k)
        if (ir::uses_var(domains_.of(i).axis_value.at(st.op.axes[d].var.get()), st.iters[k].var.get())) innermost = static_cast<int>(k);
      position.emplace_back(innermost, static_cast<int>(d));
    }
    std::sort(position.begin(), position.end());
    std::vector<LayoutStep::Piece> out;
    for (const auto& [loop, d] : position) out.push_back({d, 0});
    return out;
  }

  /// Logical indices of a stage's array to indices of the array that holds it.
  std::pair<Buffer, std::vector<Expr>> access(const ir::BufferNode* logical, std::vector<Expr> indices) const {
    const int i = stage_of_.at(logical);
    const Stage& st = stages_[static_cast<size_t>(i)];
    if (st.location == ComputeLocation::at)
      for (size_t k = 0; k < indices.size(); ++k) indices[k] = indices[k] - domains_.of(i).min[k];
    return {buffers_.at(logical), placements_[static_cast<size_t>(i)].indices(indices)};
  }

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
    const Expr x = widened_ ? rewrite_children(i, e) : ir::map_children(e, [&](const Expr& c) { return rewrite_reads(i, c); });
    const auto* l = ir::as<ir::LoadNode>(x);
    if (!l) return x;
    const int from = stage_of_.at(l->buffer.get());
    std::vector<Expr> at = l->indices;
    if (const auto& tile = placements_[static_cast<size_t>(from)].warp_tile) {
      for (Expr& e : at) e = domains_.analyzer().simplify(e);
      const std::vector<Expr>& min = domains_.of(from).min;
      if (!holds_element(i, at[tile->first] - min[tile->first], at[tile->second] - min[tile->second]))
        fail(warp_error(from, fmt::format("a reader '{}' whose threadIdx.x is the lane that holds the element", stages_[static_cast<size_t>(i)].op.name)));
    }
    auto [buffer, indices] = access(l->buffer.get(), std::move(at));
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
    const schedule::Iter& it = stages_[static_cast<size_t>(i)].iters[loop];
    const int64_t n = domains_.of(i).loop_extent.at(it.var.get());
    std::vector<int> inside, ahead, copied;
    for (size_t j = 0; j < stages_.size(); ++j) {
      const Stage& st = stages_[j];
      if (st.location == ComputeLocation::at && st.at_stage == i && st.at_iter->same_as(it.var))
        (n == 1 ? inside : st.pipeline > 0 ? copied : st.double_buffer ? ahead : inside).push_back(static_cast<int>(j));
    }
    std::vector<Stmt> parts, first;
    if (!copied.empty()) {
      const int64_t early = slots(copied.front()) - 1;
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
    if (n != 1 && !launches_->is_coordinate(i, loop))
      out = tir::make_for(it.var, ir::index(0), ir::index(n), for_kind(it.annotation), std::move(out), {i, static_cast<int>(loop)});
    if (first.empty()) return out;
    first.push_back(std::move(out));
    return with_arrays(ahead, tir::seq(std::move(first)));
  }

  Stmt with_arrays(const std::vector<int>& stages, Stmt body) const {
    for (size_t k = stages.size(); k-- > 0;) {
      const Buffer& array = buffers_.at(stages_[static_cast<size_t>(stages[k])].op.output.get());
      if (array->scope != ir::Scope::shared) body = tir::alloc(array, body, {stages[k]});
    }
    return body;
  }

  std::vector<Expr> own_indices(int i) const {
    std::vector<Expr> out;
    for (const te::Axis& a : stages_[static_cast<size_t>(i)].op.axes) out.push_back(domains_.of(i).axis_value.at(a.var.get()));
    return out;
  }

  /// The nest of a root stage, inside the loops over blocks and threads if it has any.
  Stmt launch(int root) const {
    Stmt body = nest(root);
    if (!launches_->has(root)) return body;
    std::vector<std::pair<int, Buffer>> shared;
    tir::walk(body, [&](const Stmt& s) {
      const auto* st = tir::as<tir::StoreNode>(s);
      const bool found = st && st->buffer->scope == ir::Scope::shared;
      if (found && std::none_of(shared.begin(), shared.end(), [&](const auto& a) { return a.second.same_as(st->buffer); }))
        shared.emplace_back(st->origin.stage, st->buffer);
    });
    return launches_->wrap(root, std::move(body), shared);
  }

  Stmt nest(int i) const {
    if (!launches_->reducing(i).empty()) return reduction_by_threads(i);
    const Stage& st = stages_[static_cast<size_t>(i)];
    const auto first = std::find_if(st.iters.begin(), st.iters.end(), [](const schedule::Iter& it) { return it.kind == te::AxisKind::reduce; });
    const auto first_reduce = static_cast<size_t>(first - st.iters.begin());
    const bool reduces = st.op.reducer != te::Reducer::none;
    const size_t loops = st.warp_product ? static_cast<size_t>(schedule::position_of(st, st.warp_product->get())) : st.iters.size();
    Stmt body = st.warp_product ? warp_product(i) : innermost(i);
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
    const Stage& st = stages_[static_cast<size_t>(i)];
    const tir::Origin origin{i};
    const auto first = std::find_if(st.iters.begin(), st.iters.end(), [](const schedule::Iter& it) { return it.kind == te::AxisKind::reduce; });
    const auto first_reduce = static_cast<size_t>(first - st.iters.begin());
    const Buffer part = ir::make_buffer(st.op.name + "_part", sum_type(st), {1}, ir::Scope::local);
    const std::vector<Expr> element{ir::index(0)};
    const Expr term = in_type(part->dtype, rewrite_reads(i, ir::substitute(*st.op.body, domains_.of(i).axis_value)));
    Stmt body = guarded(with(domains_.of(i).guards, launches_->conditions(i, ir::Scope::local, false)),
                        tir::store(part, element, te::reducer_combine(st.op.reducer, ir::load(part, element), term), origin), origin);
    for (size_t k = st.iters.size(); k-- > first_reduce;) body = wrap_loop(i, k, std::move(body));
    std::vector<Stmt> parts{tir::store(part, element, te::reducer_identity(st.op.reducer, part->dtype), origin), std::move(body)};
    const Expr combined = te::reducer_combine(st.op.reducer, ir::load(part, element), ir::load(part, element));
    for (const tir::ForKind k : launches_->reducing(i)) parts.push_back(tir::all_reduce(part, element, ir::as<ir::BinaryNode>(combined)->op, k, origin));
    auto [buffer, indices] = access(st.op.output.get(), own_indices(i));
    parts.push_back(guarded(with(spatial_guards(i), launches_->conditions(i, buffer->scope, true)),
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
    const Stage& st = stages_[static_cast<size_t>(i)];
    std::vector<Expr> out;
    for (const Expr& g : domains_.of(i).guards) {
      const bool over_reduction = std::any_of(st.iters.begin(), st.iters.end(),
                                              [&](const schedule::Iter& it) { return it.kind == te::AxisKind::reduce && ir::uses_var(g, it.var.get()); });
      if (!over_reduction) out.push_back(g);
    }
    return out;
  }

  Stmt innermost(int i) const {
    const Stage& st = stages_[static_cast<size_t>(i)];
    const tir::Origin origin{i};
    auto [buffer, indices] = access(st.op.output.get(), own_indices(i));
    Expr value = rewrite_reads(i, ir::substitute(*st.op.body, domains_.of(i).axis_value));
    value = in_type(buffer->dtype, value);
    if (st.op.reducer != te::Reducer::none) value = te::reducer_combine(st.op.reducer, ir::load(buffer, indices), value);
    const std::vector<Expr> conds = with(domains_.of(i).guards, launches_->conditions(i, buffer->scope, false));
    return guarded(conds, tir::store(buffer, std::move(indices), std::move(value), origin), origin);
  }

  /// Sets the elements that the reduction loops below update; spatial loops inside them are repeated with variables of their own.
  Stmt init(int i, size_t first_reduce) const {
    const Stage& st = stages_[static_cast<size_t>(i)];
    if (st.warp_product) return clear_warp_tile(i);
    const tir::Origin origin{i};
    auto [buffer, indices] = access(st.op.output.get(), own_indices(i));
    const std::vector<Expr> conds = with(spatial_guards(i), launches_->conditions(i, buffer->scope, false));
    Stmt body = guarded(conds, tir::store(buffer, std::move(indices), te::reducer_identity(st.op.reducer, buffer->dtype), origin), origin);
    ir::VarMap fresh;
    for (size_t k = st.iters.size(); k-- > first_reduce;) {
      const schedule::Iter& it = st.iters[k];
      if (it.kind == te::AxisKind::reduce || launches_->is_coordinate(i, k)) continue;
      schedule::Iter copy = it;
      copy.var = ir::make_var(it.var->name + "_init");
      const int64_t n = domains_.of(i).loop_extent.at(it.var.get());
      if (n == 1) continue;
      fresh.emplace(it.var.get(), ir::to_expr(copy.var));
      body = tir::make_for(copy.var, ir::index(0), ir::index(n), for_kind(it.annotation), std::move(body), {i, static_cast<int>(k)});
    }
    return fresh.empty() ? body : tir::substitute(body, fresh);
  }

  std::vector<int> outputs_;
  std::vector<Stage> stages_;
  DomainInference domains_;
  std::optional<LaunchPlan> launches_;  ///< once domains are known
  std::vector<Placement> placements_;   ///< per stage
  std::unordered_map<const ir::BufferNode*, Buffer> buffers_;
  std::unordered_map<const ir::BufferNode*, int> stage_of_;
  bool widened_ = false;                ///< some array's elements are wider than its stage's
  mutable std::optional<Error> error_;  ///< the first that was found while nests were written
};

/// A user says with the target whether products in float32 may be rounded.
Expected<void> refuse_tf32(const tir::Func& f) {
  bool found = false;
  tir::walk(f.body, [&](const Stmt& s) {
    const auto* n = tir::as<tir::MmaNode>(s);
    found = found || (n && n->a.first->dtype == kFloat32);
  });
  if (!found) return {};
  return Error(ErrorCode::illegal_schedule, "Expected a target with '+tf32' for products of float32 on tensor cores, found one without");
}

}  // namespace

Expected<tir::Func> lower(const schedule::Schedule& s, const std::string& name) {
  TW_TRY(std::vector<Stage> stages, prepared_stages(s));
  return Lowering(s, std::move(stages)).run(name);
}

Expected<tir::Func> lower_and_optimize(const schedule::Schedule& s, const std::string& name, const Target& target, const tir::PassHooks& hooks) {
  TW_TRY(tir::Func f, lower(s, name));
  if (target.gpu && !target.allows_tf32()) TW_CHECK(refuse_tf32(f));
  return tir::run_passes(std::move(f), target, hooks);
}

}  // namespace tw::lower
