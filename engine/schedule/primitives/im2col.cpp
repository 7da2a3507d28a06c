// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

using ir::Expr;

constexpr int64_t kMostMultiple = int64_t{1} << 20;

int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

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

Expected<void> apply_im2col(State& s, const Im2colStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "im2col"));
  TW_TRY(const Product product, find_product(*st));
  const te::Axis* term = nullptr;
  if (p.term >= 0) {
    TW_TRY(term, whole_axis(*st, p.term, "im2col"));
    if (term->kind != te::AxisKind::reduce)
      return Error(ErrorCode::illegal_schedule,
                   fmt::format("Expected a loop of the reduction to round up for 'im2col', found '{}' of stage '{}'", term->var->name, st->op.name));
  }
  for (const int64_t unit : {p.pixels, p.filters, p.terms})
    if (unit < 1 || unit > kMostMultiple || (!term && unit != 1))
      return Error(ErrorCode::invalid_argument,
                   fmt::format("Expected multiples of 1 to {} for 'im2col', and of 1 without a term, found {}", kMostMultiple, unit));
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

  // The axes of the terms in a new stage, and the old ones over them: all as one, or each with one of them rounded up.
  const auto terms_in = [&](te::AxisKind kind, ir::VarMap& values) {
    std::vector<te::Axis> axes;
    if (!term) {
      const auto [k, at] = new_axis("k", product.k.extent(), kind);
      product.k.split(at, values);
      return std::vector{k};
    }
    for (const te::Axis& r : st->op.reduce_axes) {
      const auto [k, at] = new_axis(r.var->name.c_str(), &r == term ? round_up(r.extent, p.terms) : r.extent, kind);
      values.insert_or_assign(r.var.get(), at);
      axes.push_back(k);
    }
    return axes;
  };
  const auto gather = [&](const char* suffix, const ir::LoadNode& load, const Flat& flat, const char* name, int64_t unit) {
    ir::VarMap values;
    std::vector<te::Axis> axes = terms_in(te::AxisKind::spatial, values);
    const auto [line, at] = new_axis(name, round_up(flat.extent(), unit));
    flat.split(at, values);
    axes.push_back(line);
    Expr value = load_at(load, values);
    const auto inside = [&](const Expr& x, int64_t real, int64_t padded) {
      if (padded > real) value = ir::select(x < ir::index(real), value, te::reducer_identity(te::Reducer::sum, value->dtype));
    };
    if (term) inside(values.at(term->var.get()), term->extent, round_up(term->extent, p.terms));
    inside(at, flat.extent(), line.extent);
    return add(suffix, load.buffer->dtype, std::move(axes), std::move(value));
  };
  const te::Tensor col = gather("_col", *product.pixels, product.p, "p", p.pixels);
  const te::Tensor filter = gather("_filter", *product.filters, product.o, "o", p.filters);

  // In the order that the result has in memory.
  const bool pixels_first = product.o.axes.back().var.same_as(st->op.axes.back().var);
  const auto [out_o, oo] = new_axis("o", filter.shape().back());
  const auto [out_p, op] = new_axis("p", col.shape().back());
  ir::VarMap values;
  const std::vector<te::Axis> out_terms = terms_in(te::AxisKind::reduce, values);
  const auto read = [&](const te::Tensor& matrix, const Expr& line) {
    std::vector<Expr> at;
    for (const te::Axis& k : out_terms) at.push_back(ir::to_expr(k.var));
    at.push_back(line);
    return matrix.at(at);
  };
  Expr body = replace_reads(*st->op.body, product.filters->buffer.get(), [&, o = oo](const std::vector<Expr>&) { return read(filter, o); });
  body = replace_reads(body, product.pixels->buffer.get(), [&, q = op](const std::vector<Expr>&) { return read(col, q); });
  const te::Tensor sums = add("_product", st->op.output->dtype, pixels_first ? std::vector{out_p, out_o} : std::vector{out_o, out_p}, body, out_terms);

  const Expr o = product.o.joined(), q = product.p.joined();
  st->op.body = pixels_first ? sums(q, o) : sums(o, q);
  st->op.reduce_axes.clear();
  st->op.reducer = te::Reducer::none;
  st->iters = root_iters(st->op);
  int at = p.stage;
  for (Stage& stage : made) insert_stage(s, at++, std::move(stage));
  return {};
}

}  // namespace

const PrimitiveOf<Im2colStep>& Im2colStep::primitive() {
  static const PrimitiveOf<Im2colStep> row{
      .about = {.code = "IM",
                .words = {{"im2col",
                           "Computes a convolution as a product of two matrices: one row of weights for each output channel, one column of the image for each "
                           "pixel. The columns "
                           "need not exist as a whole; tiles of them are gathered where they are used.",
                           "Chellapilla et al., IWFHR 2006; implicit products as in cuDNN, Chetlur et al., arXiv:1410.0759, 2014"}},
                .random = [](const Draw& d) -> Step {
                  // Often a sum, and its terms apart.
                  int sum = d.stage;
                  for (size_t k = 0; k < d.stages(); ++k)
                    if (d.schedule.stages()[k].op.reducer == te::Reducer::sum && d.rng.uniform(2)) sum = static_cast<int>(k);
                  if (d.rng.uniform(2)) return Im2colStep{sum};
                  const int loops = static_cast<int>(d.schedule.stages()[static_cast<size_t>(sum)].iters.size());
                  return Im2colStep{sum, std::max(0, loops - 1 - d.below(3)), d.rng.range(1, 5), d.rng.range(1, 5), d.rng.range(1, 5)};
                }},
      .json = {[](StepWriter& write, const Im2colStep& s) { s.term < 0 ? write(s.stage) : write(s.stage, s.term, s.pixels, s.filters, s.terms); },
               [](StepReader& read) -> Expected<Im2colStep> {
                 Im2colStep s;
                 read(s.stage);
                 if (!read.more()) return s;
                 read(s.term);
                 for (int64_t* unit : {&s.pixels, &s.filters, &s.terms}) read(*unit);
                 return s;
               }},
      .apply = apply_im2col,
      .describe = [](const Im2colStep& s, const Names& n) {
        if (s.term < 0) return fmt::format("im2col({})", n.stage(s.stage));
        return fmt::format("im2col({}, {}, pixels={}, filters={}, terms={})", n.stage(s.stage), n.loop(s.stage, s.term), s.pixels, s.filters, s.terms);
      }};
  return row;
}

}  // namespace tw::schedule
