// SPDX-License-Identifier: Apache-2.0
#include "engine/base/winograd.h"

#include <algorithm>

#include "engine/arith/analyzer.h"
#include "engine/base/text.h"
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

using ir::Expr;
using ir::Var;
using Read = std::function<Expr(int64_t)>;

/// A convolution C[n, o, d, h, w] = sum(i, kd, kh, kw) D[n, i, at(d, kd), h + kh, w + kw] * W[o, i, kd, kh, kw] and its two operands; in the plane without d.
struct Conv {
  ir::Buffer data, weight;
  te::Indices data_at;  ///< where the data are read
  int weight_stage;
  int64_t taps;
};

/// Dimensions of a plane, which are transformed.
constexpr size_t kPlane = 2;

/// The operands if `op` is such a convolution over [N, C, H, W] or [N, C, D, H, W].
std::optional<std::pair<const ir::LoadNode*, const ir::LoadNode*>> operands(const te::Op& op) {
  const auto* product = ir::as<ir::BinaryNode>(*op.body);
  const size_t rank = op.axes.size(), spatial = rank - 2;
  if (!product || product->op != ir::BinaryOp::mul || op.reducer != te::Reducer::sum || rank < 4 || rank > 5 || op.reduce_axes.size() != spatial + 1)
    return std::nullopt;
  const auto *data = ir::as<ir::LoadNode>(product->a), *weight = ir::as<ir::LoadNode>(product->b);
  if (!data || !weight || data->indices.size() != rank || weight->indices.size() != rank) return std::nullopt;
  const arith::Analyzer analyzer;
  const auto is_sum = [&](const Expr& e, std::initializer_list<const te::Axis*> axes) {
    arith::Linear l = analyzer.linear(e);
    for (const te::Axis* a : axes) l.add_term(ir::to_expr(a->var), -1);
    return l.is_constant() && l.constant == 0;
  };
  const te::Axis* i = &op.reduce_axes[0];
  bool same = is_sum(data->indices[0], {&op.axes[0]}) && is_sum(data->indices[1], {i}) && is_sum(weight->indices[0], {&op.axes[1]}) &&
              is_sum(weight->indices[1], {i});
  for (size_t d = 0; d < spatial; ++d) {
    const te::Axis *at = &op.axes[d + 2], *tap = &op.reduce_axes[d + 1];
    const Expr& read = data->indices[d + 2];
    same = same && is_sum(weight->indices[d + 2], {tap});
    if (d + kPlane >= spatial)
      same = same && is_sum(read, {at, tap});
    else  // planes are read as a whole, in whichever steps
      for (const auto* axes : {&op.axes, &op.reduce_axes})
        for (const te::Axis& a : *axes) same = same && (&a == at || &a == tap || !ir::uses_var(read, a.var.get()));
  }
  return same ? std::optional(std::pair(data, weight)) : std::nullopt;
}

Expected<Conv> find_conv(const State& s, const Stage& st, const WinogradStep& p) {
  const auto illegal = [&](const char* expected) {
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected {} for 'winograd', found '{}'", expected, st.op.name));
  };
  if (!is_untouched(st)) return illegal("a stage without earlier steps");
  const auto reads = operands(st.op);
  if (!reads) return illegal("a convolution over planes with stride 1");
  const auto [data, weight] = *reads;
  const auto& window = st.op.reduce_axes;
  const int64_t taps = window.back().extent;
  if (p.flat && window.size() > kPlane + 1) return illegal("a two-dimensional convolution for tiles in one row");
  if (taps != window[window.size() - 2].extent || st.op.output->dtype != kFloat32 || data->buffer->dtype != kFloat32 || weight->buffer->dtype != kFloat32)
    return illegal("a square window over float32");
  if (!winograd_exists(p.tile, taps))
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a tile that a transform F(tile, {}) exists for, found {}", taps, p.tile));
  for (size_t k = 0; k < s.stages.size(); ++k) {
    const Stage& w = s.stages[k];
    if (w.op.output.get() != weight->buffer.get()) continue;
    if (!w.op.is_placeholder() || w.op.role != te::Role::constant || w.winograd != 0 || !w.layout.empty() || readers_of(s.stages, *w.op.output).size() != 1)
      return illegal("weights that are constant, of no layout yet and read by this stage only");
    return Conv{data->buffer, weight->buffer, data->indices, static_cast<int>(k), taps};
  }
  return illegal("weights of a stage");
}

/// Sum of coefficient times value; terms of coefficient 0 are left out.
Expr weighted_sum(const std::vector<double>& coefficients, const Read& value) {
  std::optional<Expr> sum;
  for (size_t k = 0; k < coefficients.size(); ++k) {
    const double c = coefficients[k];
    if (c == 0) continue;
    const Expr x = value(static_cast<int64_t>(k));
    const auto scaled = [&](double by) { return by == 1 ? x : ir::fimm(kFloat32, by) * x; };
    if (!sum)
      sum = scaled(c);
    else
      sum = c == -1 ? *sum - x : *sum + scaled(c);
  }
  return sum ? *sum : ir::fimm(kFloat32, 0);
}

/// One of the expressions, as `which` says.
Expr choose(const Expr& which, const std::vector<Expr>& values) {
  Expr out = values.back();
  for (size_t k = values.size() - 1; k-- > 0;) out = ir::select(ir::equal(which, ir::index(static_cast<int64_t>(k))), values[k], out);
  return out;
}

/// Row `which` of bt times the values. The rows of a point and of its negative are the sum and the difference of the same two parts, which code generators
/// compute once where rows are written out.
Expr forward(const Winograd& w, const Expr& which, const Read& value) {
  const size_t n = w.bt.size();
  std::vector<Expr> rows;
  for (size_t i = 0; i < n; ++i) {
    const size_t partner = i == 0 || i + 1 == n ? i : i % 2 == 1 ? i + 1 : i - 1;
    if (partner == i || partner + 1 == n) {
      rows.push_back(weighted_sum(w.bt[i], value));
      continue;
    }
    const std::vector<double>&plus = w.bt[std::min(i, partner)], &minus = w.bt[std::max(i, partner)];
    std::vector<double> common(n), opposed(n);
    for (size_t k = 0; k < n; ++k) {
      common[k] = (plus[k] + minus[k]) / 2;
      opposed[k] = (plus[k] - minus[k]) / 2;
    }
    const Expr a = weighted_sum(common, value), b = weighted_sum(opposed, value);
    rows.push_back(i < partner ? a + b : a - b);
  }
  return choose(which, rows);
}

/// Row `which` of at times the values; values of a point and of its negative are added or subtracted first, which rows share again.
Expr backward(const Winograd& w, const Expr& which, const Read& value) {
  const size_t n = w.bt.size();
  std::vector<Expr> rows;
  for (const std::vector<double>& row : w.at) {
    std::vector<double> coefficients;
    std::vector<Expr> terms;
    for (size_t k = 0; k < n; ++k) {
      const bool pair = k > 0 && k + 2 < n;
      const Expr x = value(static_cast<int64_t>(k));
      coefficients.push_back(row[k]);
      terms.push_back(!pair ? x : row[k] == row[k + 1] ? x + value(static_cast<int64_t>(k) + 1) : x - value(static_cast<int64_t>(k) + 1));
      k += pair;
    }
    rows.push_back(weighted_sum(coefficients, [&](int64_t k) { return terms[static_cast<size_t>(k)]; }));
  }
  return choose(which, rows);
}

struct StageMaker {
  const State& state;
  const Stage& conv;

  te::Tensor add(const std::string& suffix, const std::vector<std::pair<const char*, int64_t>>& axes, const std::function<Expr(const te::Indices&)>& body,
                 std::vector<te::Axis> reduced = {}) {
    std::vector<int64_t> shape;
    std::vector<te::Axis> vars;
    te::Indices indices;
    for (const auto& [name, extent] : axes) {
      shape.push_back(extent);
      vars.push_back({ir::make_var(name), extent, te::AxisKind::spatial});
      indices.push_back(ir::to_expr(vars.back().var));
    }
    const std::string name = unique_name(state, conv.op.name + suffix);
    Stage st{.op = te::Op{.name = name, .output = ir::make_buffer(name, kFloat32, std::move(shape))}, .dag_op = conv.dag_op};
    st.op.axes = std::move(vars);
    st.op.tag = "winograd" + suffix;
    st.op.body = body(indices);
    if (!reduced.empty()) {
      st.op.reducer = te::Reducer::sum;
      st.op.reduce_axes = std::move(reduced);
    }
    st.iters = root_iters(st.op);
    made.push_back(std::move(st));
    return te::Tensor(made.back().op.output);
  }

  std::vector<Stage> made = {};
};

Expected<void> apply_winograd(State& s, const WinogradStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "winograd"));
  TW_TRY(const Conv conv, find_conv(s, *st, p));
  const int64_t m = p.tile, points = m + conv.taps - 1;
  const Winograd matrices = winograd(m, conv.taps);
  const std::vector<int64_t>&out = st->op.output->shape, &in = conv.data->shape;
  const size_t rank = out.size(), deep = rank - 2 - kPlane;
  const int64_t batch = out[0], channels = st->op.reduce_axes[0].extent, rows = (out[rank - 2] + m - 1) / m, columns = (out[rank - 1] + m - 1) / m;

  Stage& weights = s.stages[static_cast<size_t>(conv.weight_stage)];
  std::vector<int64_t> stored = weights.op.output->shape;
  for (size_t d = rank - kPlane; d < rank; ++d) stored[d] = points;
  weights.op.output = ir::make_buffer(conv.weight->name, kFloat32, stored);
  weights.winograd = m;
  const te::Tensor data(conv.data), u(weights.op.output);

  // The axes of tiles, and image, row and column of a tile that they name, the first of them at position `at`.
  using Axes = std::vector<std::pair<const char*, int64_t>>;
  const Axes image = p.flat ? Axes{} : Axes{{"n", batch}}, grid = p.flat ? Axes{{"p", batch * rows * columns}} : Axes{{"th", rows}, {"tw", columns}};
  Axes planes_in, planes_out;
  for (size_t d = 2; d < 2 + deep; ++d) {
    planes_in.emplace_back("d", in[d]);
    planes_out.emplace_back("d", out[d]);
  }
  struct Tile {
    Expr n, th, tw;
  };
  const auto tile_of = [&](const te::Indices& i, size_t first, size_t at) {
    if (!p.flat) return Tile{i[first], i[at], i[at + 1]};
    return Tile{ir::floor_div(i[at], ir::index(rows * columns)), ir::floor_mod(ir::floor_div(i[at], ir::index(columns)), ir::index(rows)),
                ir::floor_mod(i[at], ir::index(columns))};
  };
  const auto axes = [](std::initializer_list<Axes> lists) {
    Axes all;
    for (const Axes& l : lists) all.insert(all.end(), l.begin(), l.end());
    return all;
  };
  const auto joined = [](std::initializer_list<te::Indices> lists) {
    te::Indices all;
    for (const te::Indices& l : lists) all.insert(all.end(), l.begin(), l.end());
    return all;
  };
  const size_t own = image.size(), many = grid.size();
  const auto part = [](const te::Indices& i, size_t first, size_t count) {
    return te::Indices(i.begin() + static_cast<std::ptrdiff_t>(first), i.begin() + static_cast<std::ptrdiff_t>(first + count));
  };

  StageMaker make{s, *st};
  const int64_t height = rows * m + conv.taps - 1, width = columns * m + conv.taps - 1;
  const te::Tensor pad = make.add("_pad", axes({{{"n", batch}, {"i", channels}}, planes_in, {{"h", height}, {"w", width}}}), [&](const te::Indices& i) {
    std::optional<Expr> inside;
    for (size_t d = rank - kPlane; d < rank; ++d)
      if (const int64_t real = out[d] + conv.taps - 1; real < (d + 1 < rank ? height : width)) {  // the image may have been padded for other reasons
        const Expr cond = i[d] < ir::index(real);
        inside = inside ? *inside && cond : cond;
      }
    return inside ? ir::select(*inside, data.at(i), ir::fimm(kFloat32, 0)) : data.at(i);
  });
  const te::Tensor by_rows = make.add("_rows", axes({image, {{"i", channels}}, planes_in, grid, {{"x", points}, {"j", points}}}), [&](const te::Indices& i) {
    const size_t at = own + 1 + deep;
    const Tile t = tile_of(i, 0, at);
    const Expr &x = i[at + many], &j = i[at + many + 1];
    return forward(matrices, x, [&](int64_t k) { return pad.at(joined({{t.n, i[own]}, part(i, own + 1, deep), {t.th * m + k, t.tw * m + j}})); });
  });
  const te::Tensor v = make.add("_data", axes({{{"x", points}, {"y", points}}, image, {{"i", channels}}, planes_in, grid}), [&](const te::Indices& i) {
    return forward(matrices, i[1], [&](int64_t k) { return by_rows.at(joined({part(i, 2, i.size() - 2), {i[0], ir::index(k)}})); });
  });
  std::vector<te::Axis> summed;  // channels, and what of the window is not transformed
  for (size_t k = 0; k < 1 + deep; ++k) {
    const te::Axis& a = st->op.reduce_axes[k];
    summed.push_back({ir::make_var(k == 0 ? "i" : "kd"), a.extent, te::AxisKind::reduce});
  }
  const te::Tensor product = make.add(
      "_product", axes({{{"x", points}, {"y", points}}, image, {{"o", out[1]}}, planes_out, grid}),
      [&](const te::Indices& i) {
        ir::VarMap here;
        te::Indices read, taps;
        for (size_t d = 0; d < deep; ++d) {
          here.insert_or_assign(st->op.axes[2 + d].var.get(), i[3 + own + d]);
          here.insert_or_assign(st->op.reduce_axes[1 + d].var.get(), ir::to_expr(summed[1 + d].var));
          taps.push_back(ir::to_expr(summed[1 + d].var));
        }
        for (size_t d = 0; d < deep; ++d) read.push_back(ir::substitute(conv.data_at[2 + d], here));
        const Expr c = ir::to_expr(summed[0].var);
        return v.at(joined({part(i, 0, 2 + own), {c}, read, part(i, 3 + own + deep, many)})) * u.at(joined({{i[2 + own], c}, taps, {i[0], i[1]}}));
      },
      summed);
  const te::Tensor by_columns = make.add("_columns", axes({image, {{"o", out[1]}}, planes_out, grid, {{"h", m}, {"y", points}}}), [&](const te::Indices& i) {
    const size_t lead = own + 1 + deep + many;
    return backward(matrices, i[lead], [&](int64_t k) { return product.at(joined({{ir::index(k), i[lead + 1]}, part(i, 0, lead)})); });
  });

  te::Indices i;
  for (const te::Axis& a : st->op.axes) i.push_back(ir::to_expr(a.var));
  const Expr tile = ir::index(m), &h = i[rank - 2], &w = i[rank - 1], th = ir::floor_div(h, tile), tw = ir::floor_div(w, tile);
  const te::Indices place =
      p.flat ? te::Indices{i[1], (i[0] * rows + th) * columns + tw} : joined({part(i, 0, 2 + deep), {th, tw}});
  st->op.body = backward(matrices, ir::floor_mod(w, tile), [&](int64_t k) {
    return by_columns.at(joined({place, {ir::floor_mod(h, tile), ir::index(k)}}));
  });
  st->op.reduce_axes.clear();
  st->op.reducer = te::Reducer::none;
  st->iters = root_iters(st->op);
  int at = p.stage;
  for (Stage& stage : make.made) insert_stage(s, at++, std::move(stage));
  return {};
}

}  // namespace

const PrimitiveOf<WinogradStep>& WinogradStep::primitive() {
  static const PrimitiveOf<WinogradStep> row{
      .about = {.code = "WG",
                .words = {{"winograd",
                           "Computes a convolution with a small window from tiles that are transformed, multiplied point by point and transformed back: fewer "
                           "multiplications, "
                           "other rounding. Weights are transformed ahead of time.",
                           "Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016"}},
                .random = [](const Draw& d) -> Step {
                  int conv = d.stage;
                  for (size_t k = 0; k < d.stages(); ++k)
                    if (d.schedule.stages()[k].op.tag == "conv2d") conv = static_cast<int>(k);
                  return WinogradStep{conv, d.rng.range(2, 4), d.rng.uniform(2) == 1};
                }},
      .json = {[](StepWriter& write, const WinogradStep& s) { s.flat ? write(s.stage, s.tile, 1) : write(s.stage, s.tile); },
               [](StepReader& read) -> Expected<WinogradStep> {
                 WinogradStep s;
                 int flat = 0;
                 read(s.stage);
                 read(s.tile);
                 if (read.more()) read(flat);
                 s.flat = flat != 0;
                 return s;
               }},
      .apply = apply_winograd,
      .describe = [](const WinogradStep& s, const Names& n) {
        return fmt::format("winograd({}, tile={}{})", n.stage(s.stage), s.tile, s.flat ? ", flat" : "");
      }};
  return row;
}

}  // namespace tw::schedule
