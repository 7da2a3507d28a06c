// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

namespace {

// Functions that PyTorch itself writes in terms of others.

/// Both operands as floats of one type.
std::pair<Term, Term> real_pair(TorchNode& n, const char* a = "self", const char* b = "other") {
  const auto v = n.promoted({a, b});
  const auto real = [&](int x) { return Term{&n, n.dtype(x).is_float() ? x : n.cast(x, kFloat32)}; };
  return {real(v[0]), real(v[1])};
}

TorchResults hypot(TorchNode& n) {
  const auto [a, b] = real_pair(n);
  return n.one((a * a + b * b).apply("sqrt").v);
}
/// The larger one, and what the smaller one adds to it.
TorchResults log_add(TorchNode& n, double scale) {
  const auto [a, b] = real_pair(n);
  const Term most = a.with("max", b), apart = (a - b).apply("abs") * (-scale);
  const Term more = (apart.apply("exp") + 1).apply("log") * (1 / scale);
  return n.one(choose(a.with("equal", b), most + std::numbers::ln2 / scale, most + more).v);
}
TorchResults logaddexp(TorchNode& n) { return log_add(n, 1); }
TorchResults logaddexp2(TorchNode& n) { return log_add(n, std::numbers::ln2); }
TorchResults xlogy(TorchNode& n) {
  const auto [a, b] = real_pair(n);
  return n.one(choose(a.with("equal", 0), a * 0, a * b.apply("log")).v);
}
TorchResults copysign(TorchNode& n) {
  const auto [a, b] = real_pair(n);
  // 1 / b tells the zeros apart.
  const Term inverse = b.apply("reciprocal"), size = a.apply("abs");
  return n.one(choose(inverse.with("less", 0), size * -1, size).v);
}
TorchResults heaviside(TorchNode& n) {
  const auto v = n.promoted({"self", "values"});
  const int zero = n.scalar(n.dtype(v[0]), 0), one = n.scalar(n.dtype(v[0]), 1);
  return n.one(n.choose(n.binary("equal", v[0], zero), v[1], n.choose(n.binary("greater", v[0], zero), one, zero)));
}
/// The operand that is a number, where one is none.
TorchResults number_of_two(TorchNode& n, const char* op) {
  const auto v = n.promoted({"self", "other"});
  if (!n.dtype(v[0]).is_float()) return n.one(n.binary(op, v[0], v[1]));
  return n.one(n.choose(n.emit("isnan", {v[0]}), v[1], n.choose(n.emit("isnan", {v[1]}), v[0], n.binary(op, v[0], v[1]))));
}
TorchResults fmax(TorchNode& n) { return number_of_two(n, "max"); }
TorchResults fmin(TorchNode& n) { return number_of_two(n, "min"); }
TorchResults is_close(TorchNode& n) {
  const auto [a, b] = real_pair(n);
  const Term allowed = b.apply("abs") * n.real("rtol", 1e-5) + n.real("atol", 1e-8);
  int close = n.binary("or", n.binary("equal", a.v, b.v), n.binary("less_equal", (a - b).apply("abs").v, allowed.v));
  if (n.boolean("equal_nan", false)) close = n.binary("or", close, n.binary("and", n.emit("isnan", {a.v}), n.emit("isnan", {b.v})));
  return n.one(close);
}
TorchResults sinc(TorchNode& n) {
  const int v = n.tensor("self");
  const Term x = Term{&n, n.dtype(v).is_float() ? v : n.cast(v, kFloat32)} * std::numbers::pi;
  const Term zero = x.with("equal", 0), safe = choose(zero, x + 1, x);
  return n.one(choose(zero, safe * 0 + 1, Term{&n, n.binary("div", safe.apply("sin").v, safe.v)}).v);
}
template <bool kToRadians>
TorchResults angle_scaled(TorchNode& n) {
  const int v = n.tensor("self");
  return n.one(n.with_scalar("mul", n.dtype(v).is_float() ? v : n.cast(v, kFloat32), kToRadians ? std::numbers::pi / 180 : 180 / std::numbers::pi));
}

// ---- Along a dimension

TorchResults diff(TorchNode& n) {
  int x = n.tensor("self");
  const int64_t axis = n.axis(n.integer("dim", -1), n.rank(x));
  if (n.has("prepend") || n.has("append")) {
    std::vector<int> parts{x};
    if (n.has("prepend")) parts.insert(parts.begin(), n.tensor("prepend"));
    if (n.has("append")) parts.push_back(n.tensor("append"));
    x = n.concat(parts, axis);
  }
  for (int64_t k = 0; k < n.integer("n", 1); ++k) {
    const int64_t extent = n.shape(x)[static_cast<size_t>(axis)];
    if (extent < 1) n.unsupported("differences of nothing");
    const char* op = n.dtype(x).is_bool() ? "xor" : "sub";
    x = n.binary(op, n.slice(x, axis, 1, extent - 1), n.slice(x, axis, 0, extent - 1));
  }
  return n.one(x);
}
int mirrored(TorchNode& n, int x, int64_t axis) {
  const Dims s = n.shape(x);
  Dims starts(s.size(), 0), steps(s.size(), 1);
  starts[static_cast<size_t>(axis)] = s[static_cast<size_t>(axis)] - 1;
  steps[static_cast<size_t>(axis)] = -1;
  return n.type(x).num_elements() == 0 ? x : n.emit("slice", {x}, attrs({{"starts", starts}, {"steps", steps}, {"sizes", s}}));
}
TorchResults fliplr(TorchNode& n) { return n.one(mirrored(n, n.tensor("self"), n.axis(1, n.rank(n.tensor("self"))))); }
TorchResults flipud(TorchNode& n) { return n.one(mirrored(n, n.tensor("self"), n.axis(0, n.rank(n.tensor("self"))))); }
TorchResults rot90(TorchNode& n) {
  int x = n.tensor("self");
  const Dims plane = n.axes(n.integers("dims", {0, 1}), n.rank(x));
  if (plane.size() != 2) n.invalid(fmt::format("a plane of {} dimensions", plane.size()));
  Dims order;
  for (int64_t d = 0; d < n.rank(x); ++d) order.push_back(d);
  std::swap(order[static_cast<size_t>(plane[0])], order[static_cast<size_t>(plane[1])]);
  for (int64_t k = ((n.integer("k", 1) % 4) + 4) % 4; k > 0; --k) x = n.transpose(mirrored(n, x, plane[1]), order);
  return n.one(x);
}
/// A matrix whose diagonal k is the last dimension of x, zero elsewhere.
int as_diagonal(TorchNode& n, int x, int64_t k) {
  const Dims s = n.shape(x);
  const auto last = static_cast<int64_t>(s.size()) - 1;
  constexpr int64_t kMost = 1 << 13;
  if (k < -kMost || k > kMost || s.back() + std::abs(k) > kMost) n.unsupported(fmt::format("a diagonal of {} elements, {} beside the main one", s.back(), k));
  const int64_t size = s.back() + std::abs(k);
  HostArray here = HostArray::make(kBool, {size, size});
  for (int64_t r = std::max<int64_t>(0, -k); r < size - std::max<int64_t>(0, k); ++r) here.set(r * size + r + k, 1);
  // Above the main diagonal x counts rows, below it columns: either begins at 0.
  Dims fill = s, line = s;
  fill.back() = std::abs(k);
  const int longer = k == 0 ? x : n.concat({x, n.filled(n.dtype(x), fill, 0)}, last);
  line.back() = size;
  line.insert(k >= 0 ? line.end() : line.end() - 1, 1);
  return n.choose(n.constant(std::move(here)), n.reshape(longer, line), n.scalar(n.dtype(x), 0));
}
TorchResults diag_embed(TorchNode& n) {
  const int x = n.tensor("self");
  if (n.rank(x) == 0) n.invalid("a number has no diagonal");
  const int64_t rank = n.rank(x) + 1, a = n.axis(n.integer("dim1", -2), rank), b = n.axis(n.integer("dim2", -1), rank);
  if (a == b) n.invalid(fmt::format("the diagonal of dimension {} with itself", a));
  // As if rows and columns stood last.
  Dims back(static_cast<size_t>(rank));
  for (int64_t d = 0, from = 0; d < rank; ++d) back[static_cast<size_t>(d)] = d == a ? rank - 2 : d == b ? rank - 1 : from++;
  return n.one(n.transpose(as_diagonal(n, x, n.integer("offset", 0)), back));
}
/// Diagonal k of a matrix.
int diagonal_of(TorchNode& n, int x, int64_t k) {
  if (n.rank(x) != 2) n.invalid(fmt::format("expected a matrix, found {}", shape_text(n.shape(x))));
  const int64_t rows = n.shape(x)[0], columns = n.shape(x)[1];
  k = std::clamp(k, -rows, columns);
  Dims places;
  for (int64_t r = std::max<int64_t>(0, -k); r < rows && r + k < columns; ++r) places.push_back(r * columns + r + k);
  return n.emit("gather", {n.reshape(x, {rows * columns}), n.integers_constant(places)}, attrs({{"axis", int64_t{0}}}));
}
TorchResults diag(TorchNode& n) {
  const int x = n.tensor("self");
  const int64_t k = n.integer("diagonal", 0);
  return n.one(n.rank(x) == 1 ? as_diagonal(n, x, k) : diagonal_of(n, x, k));
}
TorchResults trace(TorchNode& n) { return n.one(n.reduce("reduce_sum", diagonal_of(n, n.cast(n.tensor("self"), n.result_type()), 0), {}, false)); }
TorchResults diagflat(TorchNode& n) {
  const int x = n.tensor("self");
  return n.one(as_diagonal(n, n.reshape(x, {n.type(x).num_elements()}), n.integer("offset", 0)));
}

/// Joined along `axis` after dimensions were added up to `rank`.
TorchResults stacked(TorchNode& n, int64_t rank, int64_t axis, bool in_front) {
  std::vector<int> parts;
  for (int v : n.tensors("tensors")) {
    Dims s = n.shape(v);
    while (static_cast<int64_t>(s.size()) < rank) s.insert(in_front && !s.empty() ? s.begin() : s.end(), 1);
    parts.push_back(n.reshape(n.cast(v, n.result_type()), s));
  }
  if (parts.empty()) n.invalid("no tensors to put together");
  return n.one(n.concat(parts, std::min(axis, n.rank(parts[0]) - 1)));
}
TorchResults hstack(TorchNode& n) {
  const std::vector<int> all = n.tensors("tensors");
  return stacked(n, 1, !all.empty() && n.rank(all[0]) > 1 ? 1 : 0, true);
}
TorchResults vstack(TorchNode& n) { return stacked(n, 2, 0, true); }
TorchResults column_stack(TorchNode& n) { return stacked(n, 2, 1, false); }

/// Where each number would stand between sorted limits: how many of them lie below it, or below and at it.
int places_between(TorchNode& n, int limits, int values, bool right, bool narrow) {
  // [..., values, 1] against [..., 1, limits]
  Dims column = n.shape(values), row = n.shape(limits);
  column.push_back(1);
  row.insert(row.end() - 1, 1);
  const int below = n.binary(right ? "less_equal" : "less", n.reshape(limits, row), n.reshape(values, column));
  const int count = n.reduce("reduce_sum", n.cast(below, kInt64), {n.rank(below) - 1}, false);
  return narrow ? n.cast(count, kInt32) : count;
}
bool from_the_right(TorchNode& n) { return n.boolean("right", false) || n.text("side", "left") == "right"; }
TorchResults bucketize(TorchNode& n) {
  const auto v = n.promoted({"self", "boundaries"});
  return n.one(places_between(n, v[1], v[0], from_the_right(n), n.boolean("out_int32", false)));
}
TorchResults searchsorted(TorchNode& n) {
  if (n.has("sorter")) n.unsupported("limits in another order (sorter)");
  const auto v = n.promoted({"self", "sorted_sequence"});
  return n.one(places_between(n, v[1], v[0], from_the_right(n), n.boolean("out_int32", false)));
}

// ---- Indices along one dimension

/// `source` at the positions `index` of dimension `dim`.
TorchResults index_written(TorchNode& n, const char* values, const char* reduction) {
  const int x = n.tensor("self");
  const int64_t axis = n.rank(x) ? n.axis(n.integer("dim", 0), n.rank(x)) : 0;
  if (n.rank(x) == 0) n.unsupported("a tensor without dimensions");
  int index = n.cast(n.tensor("index"), kInt64);
  const int64_t count = n.type(index).num_elements();
  Dims shape = n.shape(x), along(shape.size(), 1);
  shape[static_cast<size_t>(axis)] = along[static_cast<size_t>(axis)] = count;
  int source = n.operand_in(values, n.dtype(x));
  if (n.has("alpha") && n.real("alpha", 1) != 1) source = n.with_scalar("mul", source, n.real("alpha", 1));
  source = n.rank(source) == 0 ? n.broadcast(n.reshape(source, Dims(shape.size(), 1)), shape) : n.reshape(source, shape);
  index = n.broadcast(n.reshape(index, along), shape);
  return n.one(n.emit("scatter_elements", {x, index, source}, attrs({{"axis", axis}, {"reduction", std::string(reduction)}})));
}
TorchResults index_add(TorchNode& n) { return index_written(n, "source", "add"); }
TorchResults index_copy(TorchNode& n) { return index_written(n, "source", "none"); }
TorchResults index_fill(TorchNode& n) { return index_written(n, "value", "none"); }

/// The first elements of `source` where the mask holds, in order.
TorchResults masked_scatter(TorchNode& n) {
  const int self = n.tensor("self"), holds = n.tensor("mask"), source = n.cast(n.tensor("source"), n.dtype(self));
  const Dims shape = common_shape(n, {self, holds});
  const int x = n.broadcast(self, shape);
  const int64_t count = n.type(x).num_elements(), have = n.type(source).num_elements();
  if (count == 0) return n.one(x);
  if (have == 0) n.unsupported("nothing to put where a condition holds");
  const int mask = n.broadcast(n.cast(holds, kBool), shape);
  const int before = n.emit("cumsum", {n.cast(n.reshape(mask, {count}), kInt64)}, attrs({{"axis", int64_t{0}}}));
  // Where the mask does not hold any element will do.
  const int place = n.emit("clip", {n.with_scalar("sub", before, 1)}, attrs({{"min", 0.0}, {"max", static_cast<double>(have - 1)}}));
  const int values = n.emit("gather", {n.reshape(source, {have}), place}, attrs({{"axis", int64_t{0}}}));
  return n.one(n.choose(mask, n.reshape(values, shape), x));
}
/// Whether each element is one of the others.
TorchResults is_in(TorchNode& n) {
  const auto v = n.promoted({n.has("element") ? "element" : "elements", n.has("test_element") ? "test_element" : "test_elements"});
  Dims column = n.shape(v[0]);
  column.push_back(1);
  const int same = n.binary("equal", n.reshape(v[0], column), n.reshape(v[1], {n.type(v[1]).num_elements()}));
  const int any = n.cast(n.reduce("reduce_max", n.cast(same, kUInt8), {n.rank(same) - 1}, false), kBool);
  return n.one(n.boolean("invert", false) ? n.emit("not", {any}) : any);
}

// ---- Products and distances

TorchResults cross(TorchNode& n) {
  const auto v = n.promoted({"self", "other"});
  const int64_t axis = n.axis(n.integer("dim", -1), n.rank(v[0]));
  const auto turned = [&](int x, const Dims& order) { return n.emit("gather", {x, n.integers_constant(order)}, attrs({{"axis", axis}})); };
  const int left = n.binary("mul", turned(v[0], {1, 2, 0}), turned(v[1], {2, 0, 1})), right = n.binary("mul", turned(v[0], {2, 0, 1}), turned(v[1], {1, 2, 0}));
  return n.one(n.binary("sub", left, right));
}
/// Sums over the last dimension of both.
TorchResults inner(TorchNode& n) {
  const auto v = n.promoted({"self", "other"});
  if (n.rank(v[0]) == 0 || n.rank(v[1]) == 0) return n.one(n.binary("mul", v[0], v[1]));
  const auto flat = [&](int x) { return n.reshape(x, {n.type(x).num_elements() / std::max<int64_t>(1, n.shape(x).back()), n.shape(x).back()}); };
  Dims shape = n.shape(v[0]), other = n.shape(v[1]);
  shape.pop_back(), other.pop_back();
  shape.insert(shape.end(), other.begin(), other.end());
  return n.one(n.reshape(n.binary("matmul", flat(v[0]), n.transpose(flat(v[1]), {1, 0})), shape));
}
TorchResults tensordot(TorchNode& n) {
  const auto v = n.promoted({"self", "other"});
  const Dims a = n.axes(n.integers("dims_self"), n.rank(v[0])), b = n.axes(n.integers("dims_other"), n.rank(v[1]));
  if (a.size() != b.size()) n.invalid("dimensions differ in number");
  const auto matrix = [&](int x, const Dims& summed, bool last, Dims& kept) {
    Dims order;
    int64_t rows = 1, columns = 1;
    for (int64_t d = 0; d < n.rank(x); ++d)
      if (std::find(summed.begin(), summed.end(), d) == summed.end()) {
        order.push_back(d);
        kept.push_back(n.shape(x)[static_cast<size_t>(d)]);
        rows *= kept.back();
      }
    for (const int64_t d : summed) columns *= n.shape(x)[static_cast<size_t>(d)];
    order.insert(last ? order.end() : order.begin(), summed.begin(), summed.end());
    return n.reshape(n.transpose(x, order), last ? Dims{rows, columns} : Dims{columns, rows});
  };
  Dims shape;
  const int left = matrix(v[0], a, true, shape), right = matrix(v[1], b, false, shape);
  return n.one(n.reshape(n.binary("matmul", left, right), shape));
}

/// Norms of differences; `p` 2 by the square root of the sum.
int length_of(TorchNode& n, int difference, double p, bool keep) {
  const Dims last{n.rank(difference) - 1};
  if (p == 2) return n.reduce("reduce_l2", difference, last, keep);
  if (p == 1) return n.reduce("reduce_l1", difference, last, keep);
  const int size = n.emit("abs", {difference});
  if (p == HUGE_VAL) return n.reduce("reduce_max", size, last, keep);
  if (p <= 0) n.unsupported(fmt::format("distances with p = {}", p));
  return n.with_scalar("pow", n.reduce("reduce_sum", n.with_scalar("pow", size, p), last, keep), 1 / p);
}
TorchResults pairwise_distance(TorchNode& n) {
  const auto v = n.promoted({"x1", "x2"});
  const int difference = n.with_scalar("add", n.binary("sub", v[0], v[1]), n.real("eps", 1e-6));
  return n.one(length_of(n, difference, n.real("p", 2), n.boolean("keepdim", false)));
}
TorchResults cdist(TorchNode& n) {
  const auto v = n.promoted({"x1", "x2"});
  if (n.rank(v[0]) < 2 || n.rank(v[1]) < 2) n.invalid("expected rows of points");
  Dims a = n.shape(v[0]), b = n.shape(v[1]);
  a.insert(a.end() - 1, 1);
  b.insert(b.end() - 2, 1);
  return n.one(length_of(n, n.binary("sub", n.reshape(v[0], a), n.reshape(v[1], b)), n.real("p", 2), false));
}

/// Points of a grid [N, H, W, 2] from matrices [N, 2, 3].
TorchResults affine_grid(TorchNode& n) {
  const int theta = n.tensor("theta");
  const Dims size = n.integers("size");
  const bool corners = n.boolean("align_corners", false);
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  if (dims < 2 || dims > 3 || n.shape(theta) != Dims{size[0], dims, dims + 1})
    n.invalid(fmt::format("matrices {} for data {}", shape_text(n.shape(theta)), shape_text(size)));
  int64_t points = 1;
  for (int64_t d = 0; d < dims; ++d) points *= size[static_cast<size_t>(d) + 2];
  if (points > 1 << 24) n.unsupported(fmt::format("a grid of {}", shape_text(size)));
  HostArray base = HostArray::make(n.dtype(theta), {1, points, dims + 1});
  for (int64_t i = 0; i < points; ++i) {
    int64_t rest = i;
    for (int64_t d = dims; d-- > 0;) {  // the last dimension is the first coordinate
      const int64_t extent = size[static_cast<size_t>(d) + 2], at = rest % extent;
      rest /= extent;
      const double place = static_cast<double>(at), all = static_cast<double>(extent);
      base.set(i * (dims + 1) + (dims - 1 - d), corners ? (extent > 1 ? 2 * place / (all - 1) - 1 : 0) : (2 * place + 1) / all - 1);
    }
    base.set(i * (dims + 1) + dims, 1);
  }
  Dims shape{size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.push_back(dims);
  return n.one(n.reshape(n.binary("matmul", n.constant(std::move(base)), n.transpose(theta, {0, 2, 1})), shape));
}

[[noreturn]] TorchResults random_values(TorchNode& n) {
  n.unsupported("random values: a network that draws them gives no numbers to compare; pass them as an input");
}

constexpr AtenOp kAtenComposite[] = {
    {"aten._cdist_forward", cdist},
    {"aten._euclidean_dist", cdist},
    {"aten.affine_grid_generator", affine_grid},
    {"aten.bernoulli", random_values},
    {"aten.bucketize", bucketize},
    {"aten.cdist", cdist},
    {"aten.column_stack", column_stack},
    {"aten.copysign", copysign},
    {"aten.cross", cross},
    {"aten.deg2rad", angle_scaled<true>},
    {"aten.diag", diag},
    {"aten.diag_embed", diag_embed},
    {"aten.diagflat", diagflat},
    {"aten.diff", diff},
    {"aten.fliplr", fliplr},
    {"aten.flipud", flipud},
    {"aten.fmax", fmax},
    {"aten.fmin", fmin},
    {"aten.heaviside", heaviside},
    {"aten.hstack", hstack},
    {"aten.hypot", hypot},
    {"aten.index_add", index_add},
    {"aten.index_copy", index_copy},
    {"aten.index_fill", index_fill},
    {"aten.inner", inner},
    {"aten.isclose", is_close},
    {"aten.isin", is_in},
    {"aten.linalg_cross", cross},
    {"aten.logaddexp", logaddexp},
    {"aten.logaddexp2", logaddexp2},
    {"aten.masked_scatter", masked_scatter},
    {"aten.multinomial", random_values},
    {"aten.normal", random_values},
    {"aten.pairwise_distance", pairwise_distance},
    {"aten.rad2deg", angle_scaled<false>},
    {"aten.rand", random_values},
    {"aten.rand_like", random_values},
    {"aten.randint", random_values},
    {"aten.randn", random_values},
    {"aten.randn_like", random_values},
    {"aten.randperm", random_values},
    {"aten.rot90", rot90},
    {"aten.searchsorted", searchsorted},
    {"aten.sinc", sinc},
    {"aten.special_sinc", sinc},
    {"aten.special_xlogy", xlogy},
    {"aten.tensordot", tensordot},
    {"aten.trace", trace},
    {"aten.uniform", random_values},
    {"aten.vstack", vstack},
    {"aten.xlogy", xlogy},
};

}  // namespace

std::span<const AtenOp> aten_composite() { return kAtenComposite; }

}  // namespace tw::frontends
