// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/schedule/primitives/primitives.h"

namespace tw::schedule {

namespace {

using ir::Expr;

/// Some axes of an op, as one axis of a matrix.
struct Flat {
  std::vector<te::Axis> axes;

  int64_t extent() const {
    int64_t n = 1;
    for (const te::Axis& a : axes) n *= a.extent;
    return n;
  }
  /// The axis of the matrix at the values of these, row-major.
  Expr joined() const {
    Expr at = ir::to_expr(axes.front().var);
    for (size_t k = 1; k < axes.size(); ++k) at = at * axes[k].extent + ir::to_expr(axes[k].var);
    return at;
  }
  /// These at a value of the matrix's axis.
  void split(const Expr& at, ir::VarMap& values) const {
    std::vector<int64_t> extents;
    for (const te::Axis& a : axes) extents.push_back(a.extent);
    const std::vector<Expr> each = unflatten(at, extents);
    for (size_t k = 0; k < axes.size(); ++k) values.insert_or_assign(axes[k].var.get(), each[k]);
  }
};

bool reads_axis(const ir::LoadNode& load, const te::Axis& axis) {
  bool found = false;
  for (const Expr& i : load.indices) ir::walk(i, [&](const Expr& e) { found = found || ir::as<ir::VarNode>(e) == axis.var.get(); });
  return found;
}

struct Product {
  const ir::LoadNode *filters, *pixels;
  Flat o, p, k;
};

Expected<Product> find_product(const Stage& st) {
  const auto illegal = [&](const char* expected) {
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected {} for 'im2col', found '{}'", expected, st.op.name));
  };
  if (!is_untouched(st)) return illegal("a stage without earlier steps");
  const auto [a, b] = product_of_loads(*st.op.body);
  if (!a || !b || st.op.reducer != te::Reducer::sum || a->buffer.same_as(b->buffer)) return illegal("a sum of products of two arrays");
  Product out{b, a, {}, {}, {st.op.reduce_axes}};
  for (const te::Axis& axis : st.op.axes) {
    const bool in_a = reads_axis(*a, axis), in_b = reads_axis(*b, axis);
    if (in_a && in_b && axis.extent > 1) return illegal("operands that share no axis of the result, as they do in groups,");
    (in_b ? out.o : out.p).axes.push_back(axis);
  }
  if (out.o.axes.empty() || out.p.axes.empty()) return illegal("an axis of the result for each of two operands");
  return out;
}

/// An axis of extent `n` and a value on it.
std::pair<te::Axis, Expr> new_axis(const char* name, int64_t n, te::AxisKind kind = te::AxisKind::spatial) {
  te::Axis axis{ir::make_var(name), n, kind};
  Expr at = ir::to_expr(axis.var);
  return {std::move(axis), std::move(at)};
}

}  // namespace

Expected<void> apply_im2col(State& s, const Im2colStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "im2col"));
  TW_TRY(const Product product, find_product(*st));
  std::vector<Stage> made;
  const auto add = [&](const char* suffix, DType type, std::vector<te::Axis> axes, Expr body, std::vector<te::Axis> reduced = {}) {
    const std::string name = unique_name(s, st->op.name + suffix);
    std::vector<int64_t> shape;
    for (const te::Axis& a : axes) shape.push_back(a.extent);
    Stage stage{.op = te::Op{.name = name, .output = ir::make_buffer(name, type, std::move(shape))}, .dag_op = st->dag_op};
    stage.op.axes = std::move(axes);
    stage.op.tag = "im2col";
    stage.op.body = std::move(body);
    if (!reduced.empty()) stage.op.reducer = te::Reducer::sum;
    stage.op.reduce_axes = std::move(reduced);
    stage.iters = root_iters(stage.op);
    made.push_back(std::move(stage));
    return te::Tensor(made.back().op.output);
  };
  const auto load_at = [](const ir::LoadNode& load, const ir::VarMap& values) {
    std::vector<Expr> indices;
    for (const Expr& i : load.indices) indices.push_back(ir::substitute(i, values));
    return ir::load(load.buffer, indices);
  };

  ir::VarMap values;
  const auto [col_k, ck] = new_axis("k", product.k.extent());
  const auto [col_p, cp] = new_axis("p", product.p.extent());
  product.k.split(ck, values);
  product.p.split(cp, values);
  const te::Tensor col = add("_col", product.pixels->buffer->dtype, {col_k, col_p}, load_at(*product.pixels, values));

  const auto [filter_k, fk] = new_axis("k", product.k.extent());
  const auto [filter_o, fo] = new_axis("o", product.o.extent());
  product.k.split(fk, values);
  product.o.split(fo, values);
  const te::Tensor filter = add("_filter", product.filters->buffer->dtype, {filter_k, filter_o}, load_at(*product.filters, values));

  // In the order that the result has in memory.
  const bool pixels_first = product.o.axes.back().var.same_as(st->op.axes.back().var);
  const auto [out_o, oo] = new_axis("o", product.o.extent());
  const auto [out_p, op] = new_axis("p", product.p.extent());
  const auto [out_k, ok] = new_axis("k", product.k.extent(), te::AxisKind::reduce);
  Expr body = replace_reads(*st->op.body, product.filters->buffer.get(), [&, o = oo, k = ok](const std::vector<Expr>&) { return filter(k, o); });
  body = replace_reads(body, product.pixels->buffer.get(), [&, q = op, k = ok](const std::vector<Expr>&) { return col(k, q); });
  const te::Tensor sums = add("_product", st->op.output->dtype, pixels_first ? std::vector{out_p, out_o} : std::vector{out_o, out_p}, body, {out_k});

  const Expr o = product.o.joined(), q = product.p.joined();
  st->op.body = pixels_first ? sums(q, o) : sums(o, q);
  st->op.reduce_axes.clear();
  st->op.reducer = te::Reducer::none;
  st->iters = root_iters(st->op);
  int at = p.stage;
  for (Stage& stage : made) insert_stage(s, at++, std::move(stage));
  return {};
}

}  // namespace tw::schedule
