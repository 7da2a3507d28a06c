// SPDX-License-Identifier: Apache-2.0
#include "engine/records/topi.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "engine/base/json.h"
#include "engine/base/md5.h"
#include "engine/ir/visit.h"
#include "engine/records/ansor_steps.h"
#include "engine/te/attrs.h"

namespace tw::records {

using ir::Expr;
using te::AxisKind;
using te::Reducer;
using Shape = std::vector<int64_t>;

namespace {

/// Of an op that rounds an array up with a border: TVM's definition is a call.
constexpr const char* kPadded = "pad";

std::string plain_name(const std::string& name) {
  const size_t at = name.find_last_not_of("0123456789");
  return at != std::string::npos && at + 1 < name.size() && at > 0 && name[at] == '_' ? name.substr(0, at) : name;
}

class Printer {
 public:
  explicit Printer(const te::Dag& dag) : dag_(dag) {}

  std::string text() const {
    std::string out;
    for (const int i : ansor_order(dag_)) out += line(dag_.ops[static_cast<size_t>(i)]);
    return out;
  }

 private:
  static std::string line(const te::Op& op) {
    const std::string name = plain_name(op.name);
    if (op.is_placeholder()) return name + " = PLACEHOLDER \n";
    std::vector<std::string> axes;
    for (const te::Axis& a : op.axes) axes.push_back(a.var->name);
    return fmt::format("{}({}) {}= {}\n", name, fmt::join(axes, ", "), combined(op.reducer), op.tag == kPadded ? "Op(tir.if_then_else)" : body(*op.body));
  }
  static const char* combined(Reducer r) {
    switch (r) {
      case Reducer::none:
        return "";
      case Reducer::sum:
        return "+";
      case Reducer::prod:
        return "*";
      case Reducer::max:
        return "max";
      case Reducer::min:
        return "min";
    }
    TW_UNREACHABLE("reducer");
  }
  static std::string body(const Expr& e) {
    const auto* call = ir::as<ir::CallNode>(e);
    return call ? fmt::format("Op(tir.{})", ir::intrinsic_name(call->function)) : text(e);
  }
  static std::string text(const Expr& e) {
    if (const auto* n = ir::as<ir::IntImmNode>(e)) return (n->dtype.is_bool() ? "(bool)" : "") + std::to_string(n->value);
    if (const auto* n = ir::as<ir::FloatImmNode>(e)) return fmt::format("{:g}f", n->value);
    if (const auto* n = ir::as<ir::VarNode>(e)) return n->name;
    if (const auto* n = ir::as<ir::CastNode>(e)) return fmt::format("{}({})", n->dtype.name(), text(n->value));
    if (const auto* n = ir::as<ir::SelectNode>(e)) return fmt::format("select({}, {}, {})", text(n->cond), text(n->if_true), text(n->if_false));
    if (const auto* n = ir::as<ir::LoadNode>(e)) {
      std::vector<std::string> indices;
      for (const Expr& i : n->indices) indices.push_back(text(i));
      return fmt::format("{}[{}]", plain_name(n->buffer->name), fmt::join(indices, ", "));
    }
    if (const auto* n = ir::as<ir::CallNode>(e)) {
      std::vector<std::string> args;
      for (const Expr& a : n->args) args.push_back(text(a));
      return fmt::format("tir.{}({})", ir::intrinsic_name(n->function), fmt::join(args, ", "));
    }
    const auto* n = ir::as<ir::BinaryNode>(e);
    return n ? binary(*n) : "";
  }
  static std::string binary(const ir::BinaryNode& n) {
    const std::string a = text(n.a), b = text(n.b);
    switch (n.op) {
      case ir::BinaryOp::add:
        return fmt::format("({} + {})", a, b);
      case ir::BinaryOp::sub:
        return fmt::format("({} - {})", a, b);
      case ir::BinaryOp::mul:
        return fmt::format("({}*{})", a, b);
      case ir::BinaryOp::div:
        return fmt::format("({}/{})", a, b);
      case ir::BinaryOp::floor_div:
        return fmt::format("floordiv({}, {})", a, b);
      case ir::BinaryOp::floor_mod:
        return fmt::format("floormod({}, {})", a, b);
      case ir::BinaryOp::min:
      case ir::BinaryOp::max:
        return fmt::format("{}({}, {})", ir::binary_op_name(n.op), a, b);
      case ir::BinaryOp::eq:
        return fmt::format("({} == {})", a, b);
      case ir::BinaryOp::and_:
        return fmt::format("({} && {})", a, b);
      default:
        return fmt::format("({} {} {})", a, ir::binary_op_name(n.op), b);
    }
  }

  const te::Dag& dag_;
};

/// What versions of TVM call the same. Networks' arrays are `placeholder` in the logs that TVM published, and numbered in later ones.
struct Spelling {
  bool numbered;
  const char *padded, *conv, *dense;
  std::array<const char*, 2> dense_axes;
  const char *mean_sum, *mean;
};
constexpr Spelling kPublished{false, "PaddedInput", "Conv2dOutput", "T_dense", {"i", "j"}, "tensor", "tensor"};
constexpr Spelling kLater{true, "pad_temp", "conv2d_nhwc", "T_matmul_NT", {"i0", "i1"}, "adaptive_pool_sum", "adaptive_pool_avg"};  // seen in TVM 0.16

/// Writes definitions with topi's names of ops and axes.
class Topi {
 public:
  using Indices = std::vector<Expr>;
  using Names = std::vector<const char*>;

  explicit Topi(const Spelling& spelling) : spelling_(spelling) {}
  const Spelling& spelling() const { return spelling_; }
  te::Tensor placeholder(Shape shape, te::Role role = te::Role::activation) {
    const std::string name = spelling_.numbered ? fmt::format("p{}", names_["placeholder"]++) : unique("placeholder");
    return te::Tensor(put({.name = name, .output = ir::make_buffer(name, kFloat32, std::move(shape)), .role = role}));
  }
  te::Tensor compute(const char* name, const Shape& shape, const Names& axes, const std::function<Expr(const Indices&)>& body, const char* tag = "") {
    return reduce(name, shape, axes, {}, {}, Reducer::none, [&](const Indices& s, const Indices&) { return body(s); }, tag);
  }
  te::Tensor reduce(const char* name, const Shape& shape, const Names& axes, const Shape& reduced, const Names& reduce_axes, Reducer reducer,
                    const std::function<Expr(const Indices&, const Indices&)>& body, const char* tag = "",
                    std::map<std::string, std::vector<int64_t>> attrs = {}) {
    const std::string own = unique(name);
    te::Op op{.name = own, .output = ir::make_buffer(own, kFloat32, shape)};
    Indices s, r;
    for (size_t k = 0; k < shape.size(); ++k) {
      op.axes.push_back({ir::make_var(axes[k]), shape[k], AxisKind::spatial});
      s.push_back(ir::to_expr(op.axes.back().var));
    }
    for (size_t k = 0; k < reduced.size(); ++k) {
      op.reduce_axes.push_back({ir::make_var(reduce_axes[k]), reduced[k], AxisKind::reduce});
      r.push_back(ir::to_expr(op.reduce_axes.back().var));
    }
    op.reducer = reducer;
    op.body = body(s, r);
    op.tag = tag;
    op.attrs = std::move(attrs);
    return te::Tensor(put(std::move(op)));
  }
  te::DagPtr finish() {
    auto dag = std::make_shared<te::Dag>();
    for (const bool placeholder : {true, false})
      for (const te::Op& op : ops_)
        if (op.is_placeholder() == placeholder) dag->ops.push_back(op);
    dag->outputs = {static_cast<int>(dag->ops.size()) - 1};
    return dag;
  }

 private:
  std::string unique(const std::string& name) {
    const int n = names_[name]++;
    return n == 0 ? name : fmt::format("{}_{}", name, n);
  }
  ir::Buffer put(te::Op op) {
    ops_.push_back(std::move(op));
    return ops_.back().output;
  }

  const Spelling& spelling_;
  std::map<std::string, int> names_;
  std::vector<te::Op> ops_;
};

const Topi::Names kAxes{"ax0", "ax1", "ax2", "ax3"};
Expr zero() { return ir::fimm(kFloat32, 0); }

/// What follows an operator: arrays that are added or multiplied, in the order of their shapes, and values below zero cut off.
struct Tail {
  struct Link {
    Shape shape;
    bool multiplied = false;
  };
  std::vector<Link> links;
  std::vector<bool> relu;  ///< after the operator itself, then after each link
  bool clip = false;       ///< in the end, to [0, 6]
};

te::Tensor with_tail(Topi& t, te::Tensor x, const Tail& tail) {
  const Shape shape = x.shape();
  const Topi::Names axes(kAxes.begin(), kAxes.begin() + static_cast<std::ptrdiff_t>(shape.size()));
  for (size_t k = 0; k <= tail.links.size(); ++k) {
    if (k > 0) {
      const Tail::Link& link = tail.links[k - 1];
      const te::Tensor y = t.placeholder(link.shape);
      const size_t missing = shape.size() - link.shape.size();
      const auto body = [&](const Topi::Indices& i) {
        Topi::Indices at;
        for (size_t d = missing; d < shape.size(); ++d) at.push_back(link.shape[d - missing] == shape[d] ? i[d] : ir::index(0));
        return link.multiplied ? x.at(i) * y.at(at) : x.at(i) + y.at(at);
      };
      x = t.compute(link.multiplied ? "T_multiply" : "T_add", shape, axes, body);
    }
    if (tail.relu[k]) x = t.compute("T_relu", shape, axes, [&](const Topi::Indices& i) { return ir::max(x.at(i), zero()); });
  }
  const Topi::Names plain{"i0", "i1", "i2", "i3"};
  if (tail.clip)
    x = t.compute("compute", shape, {plain.begin(), plain.begin() + static_cast<std::ptrdiff_t>(shape.size())},
                  [&](const Topi::Indices& i) { return ir::max(ir::min(x.at(i), ir::fimm(kFloat32, 6)), zero()); });
  return x;
}

/// All tails with these arrays.
std::vector<Tail> tails(const std::vector<Shape>& shapes, const Shape& out) {
  const size_t links = shapes.size();
  std::vector<Tail> all;
  if (links > 5) return all;
  for (const Shape& s : shapes) {
    if (s.size() > out.size()) return all;
    for (size_t d = 0; d < s.size(); ++d)
      if (s[d] != 1 && s[d] != out[d + out.size() - s.size()]) return all;
  }
  for (uint32_t choice = 0; choice < (1U << (2 * links + 1)); ++choice) {
    Tail tail;
    for (size_t k = 0; k < links; ++k) tail.links.push_back({shapes[k], (choice >> k & 1) != 0});
    for (size_t k = 0; k <= links; ++k) tail.relu.push_back((choice >> (links + k) & 1) != 0);
    all.push_back(tail);
    if (tail.relu.back()) tail.relu.back() = false, tail.clip = true, all.push_back(std::move(tail));
  }
  return all;
}

/// The same with neighbouring sums in another order: TVM adds what a shortcut brings before the bias or after it, as a network's converter left it. Stages have the
/// same numbers in all of them.
std::vector<Tail> reordered(const Tail& tail) {
  std::vector<Tail> out{tail};
  for (size_t k = 0; k + 1 < tail.links.size(); ++k) {
    if (tail.links[k].multiplied || tail.links[k + 1].multiplied || tail.relu[k + 1]) continue;
    out.push_back(tail);
    std::swap(out.back().links[k], out.back().links[k + 1]);
  }
  return out;
}

/// A computation of topi, up to what follows it.
struct Definition {
  std::function<te::DagPtr(const Tail&)> make;
  Tail tail = {};
};
using Matrix = std::vector<std::vector<double>>;

/// The points that TVM interpolates at for tiles of m elements and three taps; the last one is at infinity.
const std::vector<double>& winograd_points(int64_t m) {
  static const std::vector<double> two{0, -1, 1}, four{0, -1, 1, 0.5, -2};
  return m == 2 ? two : four;
}

/// Coefficients of the product of (x - p) over all points but number `without`, lowest power first.
std::vector<double> polynomial(const std::vector<double>& points, size_t without) {
  std::vector<double> out{1};
  for (size_t k = 0; k < points.size(); ++k) {
    if (k == without) continue;
    out.push_back(0);
    for (size_t i = out.size(); i-- > 0;) out[i] = (i > 0 ? out[i - 1] : 0) - points[k] * out[i];
  }
  return out;
}

/// Transforms of the data and of the result, as TVM scales them. Source: Lavin and Gray, CVPR 2016; Barabasz et al., arXiv:1803.10986.
Matrix winograd_b(const std::vector<double>& points) {
  const size_t n = points.size() + 1;
  Matrix b(n, std::vector<double>(n, 0));
  for (size_t j = 0; j < n; ++j) {
    const std::vector<double> column = polynomial(points, j);
    double scale = 1;
    if (j == 0)
      for (size_t k = 1; k < points.size(); ++k) scale *= points[0] - points[k];
    for (size_t i = 0; i < column.size(); ++i)
      if (column[i] != 0) b[i][j] = scale < 0 ? -column[i] : column[i];
  }
  return b;
}
Matrix winograd_a(const std::vector<double>& points, int64_t m) {
  Matrix a;
  for (const double p : points) {
    std::vector<double>& row = a.emplace_back();
    for (double power = 1; row.size() < static_cast<size_t>(m); power *= p) row.push_back(power == 0 ? 0 : power);
  }
  a.emplace_back(static_cast<size_t>(m), 0.0).back() = 1;
  return a;
}

/// A constant matrix as an expression of its indices.
te::Tensor matrix(Topi& t, const char* name, const Matrix& m) {
  const Shape shape{static_cast<int64_t>(m.size()), static_cast<int64_t>(m[0].size())};
  return t.compute(name, shape, {"i", "j"}, [&](const Topi::Indices& at) {
    Expr value = zero();
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j) {
        const Expr here = ir::equal(ir::floor_mod(at[0], ir::index(shape[0])), ir::index(i)) && ir::equal(ir::floor_mod(at[1], ir::index(shape[1])), ir::index(j));
        value = ir::select(here, ir::fimm(kFloat32, m[static_cast<size_t>(i)][static_cast<size_t>(j)]), value);
      }
    return value;
  });
}

/// A convolution with 3 x 3 taps and stride 1 whose weights come transformed.
te::DagPtr winograd(const Shape& x, const Shape& w, const Tail& tail, const Shape& out) {
  Topi t(kPublished);
  const int64_t alpha = w[0], m = alpha - 2, rows = (out[1] + m - 1) / m, columns = (out[2] + m - 1) / m, tiles = x[0] * rows * columns;
  const std::map<std::string, std::vector<int64_t>> outer{{te::kConstTensorLoops, {0, 1, 4, 5}}};
  const te::Tensor data = t.placeholder(x);
  const te::Tensor p = t.compute(
      "data_pad", {x[0], rows * m + 2, columns * m + 2, x[3]}, {"i0", "i1", "i2", "i3"},
      [&](const Topi::Indices& i) {
        const auto within = [&](size_t d) { return ir::index(1) <= i[d] && i[d] < ir::index(x[d] + 1); };
        return ir::select(within(1) && within(2), data(i[0], i[1] - 1, i[2] - 1, i[3]), zero());
      },
      kPadded);
  const auto over = [](const Expr& a, int64_t b) { return ir::floor_div(a, ir::index(b)); };
  const auto rest = [](const Expr& a, int64_t b) { return ir::floor_mod(a, ir::index(b)); };
  const te::Tensor tile = t.compute("input_tile", {alpha, alpha, tiles, x[3]}, {"eps", "nu", "p", "ci"}, [&](const Topi::Indices& i) {
    return p(over(i[2], rows * columns), rest(over(i[2], columns), rows) * m + i[0], rest(i[2], columns) * m + i[1], i[3]);
  });
  const te::Tensor b = matrix(t, "B", winograd_b(winograd_points(m)));
  const te::Tensor pack = t.reduce(
      "data_pack", {alpha, alpha, tiles, x[3]}, {"eps", "nu", "p", "ci"}, {alpha, alpha}, {"r_a", "r_b"}, Reducer::sum,
      [&](const Topi::Indices& s, const Topi::Indices& r) { return tile(r[0], r[1], s[2], s[3]) * b(r[0], s[0]) * b(r[1], s[1]); }, "", outer);
  const te::Tensor weight = t.placeholder(w, te::Role::constant);
  const te::Tensor gemm = t.reduce("bgemm", {alpha, alpha, tiles, w[2]}, {"eps", "nu", "p", "co"}, {x[3]}, {"ci"}, Reducer::sum,
                                   [&](const Topi::Indices& s, const Topi::Indices& r) { return pack(s[0], s[1], s[2], r[0]) * weight(s[0], s[1], s[3], r[0]); });
  const te::Tensor a = matrix(t, "A", winograd_a(winograd_points(m), m));
  const te::Tensor inverse = t.reduce(
      "inverse", {m, m, tiles, w[2]}, {"vh", "vw", "p", "co"}, {alpha, alpha}, {"r_a", "r_b"}, Reducer::sum,
      [&](const Topi::Indices& s, const Topi::Indices& r) { return gemm(r[0], r[1], s[2], s[3]) * a(r[0], s[0]) * a(r[1], s[1]); }, "", outer);
  const te::Tensor y = t.compute("conv2d_winograd", out, {"n", "h", "w", "co"}, [&](const Topi::Indices& i) {
    return inverse(rest(i[1], m), rest(i[2], m), i[0] * rows * columns + over(i[1], m) * columns + over(i[2], m), i[3]);
  });
  with_tail(t, y, tail);
  return t.finish();
}

te::Tensor padded_input(Topi& t, const char* name, const Shape& x, int64_t border) {
  const te::Tensor data = t.placeholder(x);
  const Shape padded{x[0], x[1] + 2 * border, x[2] + 2 * border, x[3]};
  const auto inside = [&](const Topi::Indices& i) {
    const auto below = [&](size_t d) { return i[d] < ir::index(x[d] + border); };
    return ir::select(ir::index(border) <= i[1] && below(1) && ir::index(border) <= i[2] && below(2), data(i[0], i[1] - border, i[2] - border, i[3]), zero());
  };
  return t.compute(name, padded, {"i0", "i1", "i2", "i3"}, [&](const Topi::Indices& i) { return border > 0 ? inside(i) : data.at(i); },
                   border > 0 ? kPadded : "");
}

te::DagPtr conv2d(const Spelling& spelling, const Shape& x, const Shape& w, int64_t stride, int64_t border, const Tail& tail, const Shape& out) {
  Topi t(spelling);
  const te::Tensor p = padded_input(t, spelling.padded, x, border), weight = t.placeholder(w, te::Role::constant);
  const te::Tensor c = t.reduce(
      spelling.conv, out, {"nn", "yy", "xx", "ff"}, {w[0], w[1], w[2]}, {"ry", "rx", "rc"}, Reducer::sum,
      [&](const Topi::Indices& s, const Topi::Indices& r) {
        return p(s[0], s[1] * stride + r[0], s[2] * stride + r[1], r[2]) * weight(r[0], r[1], r[2], s[3]);
      });
  with_tail(t, c, tail);
  return t.finish();
}

te::DagPtr depthwise_conv2d(const Spelling& spelling, const Shape& x, const Shape& w, int64_t stride, int64_t border, const Tail& tail, const Shape& out) {
  Topi t(spelling);
  const te::Tensor p = padded_input(t, "PaddedInput", x, border), weight = t.placeholder(w, te::Role::constant);
  const te::Tensor c = t.reduce(
      "DepthwiseConv2d", out, {"b", "i", "j", "c"}, {w[0], w[1]}, {"di", "dj"}, Reducer::sum, [&](const Topi::Indices& s, const Topi::Indices& r) {
        const Expr channel = ir::floor_div(s[3], ir::index(w[3])), multiple = ir::floor_mod(s[3], ir::index(w[3]));
        return p(s[0], s[1] * stride + r[0], s[2] * stride + r[1], channel) * weight(r[0], r[1], channel, multiple);
      });
  with_tail(t, c, tail);
  return t.finish();
}

void add_conv2d(const Spelling& spelling, const std::vector<int64_t>& n, std::vector<Definition>& out) {
  if (n.size() < 12 || n.size() % 4 != 0) return;
  std::vector<Shape> shapes;
  for (size_t k = 0; k < n.size(); k += 4) shapes.emplace_back(n.begin() + static_cast<std::ptrdiff_t>(k), n.begin() + static_cast<std::ptrdiff_t>(k) + 4);
  const Shape x = shapes[0], w = shapes[1], y = shapes.back();
  if (x[0] != y[0]) return;
  const std::vector<Tail> all = tails({shapes.begin() + 2, shapes.end() - 1}, y);
  if (!spelling.numbered && w[0] == w[1] && (w[0] == 4 || w[0] == 6) && w[2] == y[3] && w[3] == x[3] && x[1] == y[1] && x[2] == y[2])
    for (const Tail& tail : all) out.push_back({[=](const Tail& t) { return winograd(x, w, t, y); }, tail});
  const bool dense = w[3] == y[3], depthwise = w[2] * w[3] == y[3];
  if (w[2] != x[3] || (!dense && !depthwise)) return;
  for (int64_t stride = 1; stride <= 8; ++stride)
    for (int64_t border = 0; border < std::max(w[0], w[1]); ++border) {
      const auto covers = [&](size_t d) { return x[d] + 2 * border >= w[d - 1] && (x[d] + 2 * border - w[d - 1]) / stride + 1 == y[d]; };
      if (!covers(1) || !covers(2)) continue;
      for (const Tail& tail : all) {
        if (dense) out.push_back({[=, &spelling](const Tail& t) { return conv2d(spelling, x, w, stride, border, t, y); }, tail});
        if (depthwise) out.push_back({[=, &spelling](const Tail& t) { return depthwise_conv2d(spelling, x, w, stride, border, t, y); }, tail});
      }
    }
}

void add_dense(const Spelling& spelling, const std::vector<int64_t>& n, std::vector<Definition>& out) {
  if (n.size() < 6 || n.size() > 8 || n[1] != n[3]) return;
  const Shape y{n[n.size() - 2], n[n.size() - 1]};
  if (y != Shape{n[0], n[2]}) return;
  std::vector<Shape> more;
  if (n.size() > 6) more.emplace_back(n.begin() + 4, n.end() - 2);
  for (const Tail& tail : tails(more, y))
    out.push_back({[=, &spelling](const Tail& after) {
      Topi t(spelling);
      const te::Tensor x = t.placeholder({n[0], n[1]}), w = t.placeholder({n[2], n[3]}, te::Role::constant);
      const auto product = [&](const Topi::Indices& s, const Topi::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); };
      with_tail(t, t.reduce(spelling.dense, y, {spelling.dense_axes[0], spelling.dense_axes[1]}, {n[1]}, {"k"}, Reducer::sum, product), after);
      return t.finish();
    }, tail});
}

void add_softmax(const Spelling& spelling, const std::vector<int64_t>& n, std::vector<Definition>& out) {
  if (n.size() != 4 || n[0] != n[2] || n[1] != n[3]) return;
  out.push_back({[=, &spelling](const Tail&) {
    Topi t(spelling);
    const Shape shape{n[0], n[1]};
    const te::Tensor x = t.placeholder(shape);
    const auto row = [](const te::Tensor& of) { return [&of](const Topi::Indices& s, const Topi::Indices& r) { return of(s[0], r[0]); }; };
    const te::Tensor m = t.reduce("T_softmax_maxelem", {n[0]}, {"i0"}, {n[1]}, {"k"}, Reducer::max, row(x));
    const te::Tensor e = t.compute("T_softmax_exp", shape, {"i0", "i1"}, [&](const Topi::Indices& i) { return ir::call(ir::Intrinsic::exp, {x.at(i) - m(i[0])}); });
    const te::Tensor s = t.reduce("T_softmax_expsum", {n[0]}, {"i0"}, {n[1]}, {"k"}, Reducer::sum, row(e));
    t.compute("T_softmax_norm", shape, {"i0", "i1"}, [&](const Topi::Indices& i) { return e.at(i) / s(i[0]); });
    return t.finish();
  }});
}

/// Means over all of an image, channels last, in the spelling that also serves other sizes.
void add_global_mean(const Spelling& spelling, const std::vector<int64_t>& n, std::vector<Definition>& out) {
  if (n.size() != 8 || n[0] != n[4] || n[3] != n[7] || n[5] != 1 || n[6] != 1) return;
  out.push_back({[=, &spelling](const Tail&) {
    Topi t(spelling);
    const te::Tensor x = t.placeholder({n[0], n[1], n[2], n[3]});
    const Shape shape{n[0], 1, 1, n[3]};
    const te::Tensor s = t.reduce(spelling.mean_sum, shape, kAxes, {n[1], n[2]}, {"rv0", "rv1"}, Reducer::sum, [&](const Topi::Indices& i, const Topi::Indices& r) {
      return x(i[0], i[1] * n[1] + r[0], i[2] * n[2] + r[1], i[3]);
    });
    const auto length = [](const Expr& at, int64_t size) {
      const Expr end = (at + int64_t{1}) * size;
      const Expr chosen(new ir::SelectNode(ir::imm(kBool, 1), end, end + int64_t{1}));
      return ir::cast(kFloat32, chosen - at * size);
    };
    t.compute(spelling.mean, shape, kAxes, [&](const Topi::Indices& i) { return s.at(i) / (length(i[1], n[1]) * length(i[2], n[2])); });
    return t.finish();
  }});
}

void flatten(const Json& json, std::vector<int64_t>& out) {
  if (json.is_number_integer()) out.push_back(json.get<int64_t>());
  if (json.is_array())
    for (const Json& item : json) flatten(item, out);
}

/// Definitions over arrays with these extents, one after another.
std::vector<Definition> definitions_over(const std::vector<int64_t>& numbers) {
  std::vector<Definition> out;
  if (!std::all_of(numbers.begin(), numbers.end(), [](int64_t n) { return n > 0 && n < (int64_t{1} << 24); })) return out;
  for (const Spelling* spelling : {&kLater, &kPublished}) {
    add_conv2d(*spelling, numbers, out);
    add_dense(*spelling, numbers, out);
    add_softmax(*spelling, numbers, out);
    add_global_mean(*spelling, numbers, out);
  }
  return out;
}

/// A value limited from both sides has one form here: TVM limits from above first.
Expr with_limits_ordered(const Expr& e) {
  const Expr inner = ir::map_children(e, with_limits_ordered);
  const auto* above = ir::as<ir::BinaryNode>(inner);
  const auto* below = above != nullptr && above->op == ir::BinaryOp::max ? ir::as<ir::BinaryNode>(above->a) : nullptr;
  if (below == nullptr || below->op != ir::BinaryOp::min) return inner;
  const auto *least = ir::as<ir::FloatImmNode>(above->b), *most = ir::as<ir::FloatImmNode>(below->b);
  return least != nullptr && most != nullptr && least->value <= most->value ? ir::min(ir::max(below->a, above->b), below->b) : inner;
}

/// What is computed, without what is only said of it: tags, attributes, roles, and whether the one position of an axis is written as a variable.
std::string computation_of(te::Dag dag) {
  for (te::Op& op : dag.ops) {
    op.tag.clear();
    op.attrs.clear();
    op.role = te::Role::activation;
    ir::VarMap single;
    for (const std::vector<te::Axis>* axes : {&op.axes, &op.reduce_axes})
      for (const te::Axis& a : *axes)
        if (a.extent == 1) single.emplace(a.var.get(), ir::index(0));
    if (op.body) op.body = with_limits_ordered(ir::substitute(*op.body, single));
  }
  return te::structural_key(dag);
}

/// The extents of what is read, then of what is written, one after another.
std::vector<int64_t> extents_of(const te::Dag& dag) {
  std::vector<int64_t> numbers;
  const auto append = [&](const te::Op& op) { numbers.insert(numbers.end(), op.output->shape.begin(), op.output->shape.end()); };
  for (const te::Op& op : dag.ops)
    if (op.is_placeholder()) append(op);
  for (const int o : dag.outputs) append(dag.ops[static_cast<size_t>(o)]);
  return numbers;
}

/// Of a computation with its names as they are.
std::string key_of(const te::Dag& dag) {
  Json key = Json::array({md5_hex(tvm_text(dag))});
  for (const te::Op& op : dag.ops)
    if (op.is_placeholder()) key.push_back(op.output->shape);
  for (const int o : dag.outputs) key.push_back(dag.ops[static_cast<size_t>(o)].output->shape);
  return dump_json(key);
}

}  // namespace

std::string tvm_text(const te::Dag& dag) { return Printer(dag).text(); }

std::vector<std::string> tvm_workload_keys(const te::Dag& dag) {
  const std::string own = tvm_text(dag);
  std::string computation;
  std::vector<std::string> keys;
  for (const Definition& d : definitions_over(extents_of(dag))) {
    const te::DagPtr spelled = d.make(d.tail);
    if (spelled->ops.size() != dag.ops.size()) continue;
    if (computation.empty()) computation = computation_of(dag);
    if (computation_of(*spelled) != computation) continue;
    if (tvm_text(*spelled) == own) return {key_of(dag)};
    for (const Tail& tail : reordered(d.tail)) keys.push_back(key_of(*d.make(tail)));
  }
  return keys.empty() ? std::vector{key_of(dag)} : keys;
}

Expected<te::DagPtr> topi_definition(const std::string& workload_key) {
  const auto key = parse_json(workload_key);
  if (!key || !key->is_array() || key->empty() || !(*key)[0].is_string())
    return Error(ErrorCode::parse_error, "Expected a workload's key as [\"hash\", shapes...], found " + workload_key.substr(0, 60));
  const auto hash = (*key)[0].get<std::string>();
  std::vector<int64_t> numbers;
  for (size_t k = 1; k < key->size(); ++k) flatten((*key)[k], numbers);
  for (const Definition& d : definitions_over(numbers)) {
    te::DagPtr dag = d.make(d.tail);
    if (md5_hex(tvm_text(*dag)) == hash) return dag;
  }
  return Error(ErrorCode::unsupported, fmt::format("Expected the key of a computation of TVM's operator library that is known, found '{}'", hash.substr(0, 40)));
}

}  // namespace tw::records
