// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

namespace {

Dims axes_of(TorchNode& n, int v) { return n.has("dim") && n.rank(v) > 0 ? n.axes(n.integers("dim"), n.rank(v)) : Dims{}; }

TorchResults reduced(TorchNode& n, const char* op, int v) { return n.one(n.reduce(op, v, axes_of(n, v), n.boolean("keepdim", false))); }

int float_operand(TorchNode& n) {
  const int v = n.tensor("self");
  return n.cast(v, n.has_result() && n.result_type().is_float() ? n.result_type() : n.dtype(v).is_float() ? n.dtype(v) : kFloat32);
}

TorchResults sum(TorchNode& n) { return reduced(n, "reduce_sum", n.cast(n.tensor("self"), n.result_type())); }
TorchResults mean(TorchNode& n) { return reduced(n, "reduce_mean", n.cast(n.tensor("self"), n.result_type())); }
TorchResults prod(TorchNode& n) { return reduced(n, "reduce_prod", n.cast(n.tensor("self"), n.result_type())); }
TorchResults log_sum_exp(TorchNode& n) { return reduced(n, "reduce_log_sum_exp", float_operand(n)); }

/// Truth values as numbers, and back.
int over_truth(TorchNode& n, const char* op, int v) {
  const int truth = n.cast(n.dtype(v).is_bool() ? v : n.with_scalar("not_equal", v, 0), kUInt8);
  return n.cast(n.reduce(op, truth, axes_of(n, v), n.boolean("keepdim", false)), kBool);
}
TorchResults any(TorchNode& n) { return n.one(over_truth(n, "reduce_max", n.tensor("self"))); }
TorchResults all(TorchNode& n) { return n.one(over_truth(n, "reduce_min", n.tensor("self"))); }
TorchResults count_nonzero(TorchNode& n) { return reduced(n, "reduce_sum", n.cast(n.with_scalar("not_equal", n.tensor("self"), 0), kInt64)); }

TorchResults extreme(TorchNode& n, const char* reduce, const char* arg, const char* pair) {
  if (n.has("other")) {  // of two tensors
    const auto v = n.promoted({"self", "other"});
    return n.one(n.binary(pair, v[0], v[1]));
  }
  int v = n.tensor("self");
  const bool truth = n.dtype(v).is_bool();
  if (truth) v = n.cast(v, kUInt8);
  if (!n.has("dim") || arg == nullptr) {
    const int y = n.reduce(reduce, v, axes_of(n, v), n.boolean("keepdim", false));
    return n.one(truth ? n.cast(y, kBool) : y);
  }
  const bool keep = n.boolean("keepdim", false);
  if (n.rank(v) == 0) return {{.value = truth ? n.cast(v, kBool) : v}, {.value = n.filled(kInt64, {}, 0)}};
  const int y = n.reduce(reduce, v, axes_of(n, v), keep);
  TorchResults out{{.value = truth ? n.cast(y, kBool) : y}};
  out.push_back({.value = n.has_result(1) ? n.emit(arg, {v}, attrs({{"axis", axes_of(n, v).at(0)}, {"keepdims", int64_t{keep}}})) : -1});
  return out;
}
TorchResults max(TorchNode& n) { return extreme(n, "reduce_max", "argmax", "max"); }
TorchResults min(TorchNode& n) { return extreme(n, "reduce_min", "argmin", "min"); }
TorchResults amax(TorchNode& n) { return extreme(n, "reduce_max", nullptr, "max"); }
TorchResults amin(TorchNode& n) { return extreme(n, "reduce_min", nullptr, "min"); }

TorchResults aminmax(TorchNode& n) {
  const int v = n.tensor("self");
  return {reduced(n, "reduce_min", v)[0], reduced(n, "reduce_max", v)[0]};
}
/// The numbers among the operand's elements, zeros for the others.
int numbers_of(TorchNode& n) {
  const int v = float_operand(n);
  return n.choose(n.emit("isnan", {v}), n.scalar(n.dtype(v), 0), v);
}
TorchResults nan_sum(TorchNode& n) { return n.dtype(n.tensor("self")).is_float() ? reduced(n, "reduce_sum", numbers_of(n)) : sum(n); }
TorchResults nan_mean(TorchNode& n) {
  const int v = float_operand(n);
  const DType type = n.dtype(v), exact = type == kFloat64 ? kFloat64 : kFloat32;  // which counts further than 16 bits do
  const int count = reduced(n, "reduce_sum", n.cast(n.emit("not", {n.emit("isnan", {v})}), exact))[0].value;
  return n.one(n.cast(n.binary("div", reduced(n, "reduce_sum", n.cast(numbers_of(n), exact))[0].value, count), type));
}
TorchResults arg(TorchNode& n, const char* ours) {
  int v = n.tensor("self");
  if (n.dtype(v).is_bool()) v = n.cast(v, kUInt8);
  const bool keep = n.boolean("keepdim", false);
  if (n.has("dim") && n.rank(v) > 0) return n.one(n.emit(ours, {v}, attrs({{"axis", n.axis(n.integer("dim", 0), n.rank(v))}, {"keepdims", int64_t{keep}}})));
  const Dims ones(keep ? static_cast<size_t>(n.rank(v)) : 0, 1);
  const int flat = n.reshape(v, {n.type(v).num_elements()});
  return n.one(n.reshape(n.emit(ours, {flat}, attrs({{"axis", int64_t{0}}, {"keepdims", int64_t{0}}})), ones));
}
TorchResults argmax(TorchNode& n) { return arg(n, "argmax"); }
TorchResults argmin(TorchNode& n) { return arg(n, "argmin"); }

/// Mean of squared differences from the mean, over the count less `correction`.
std::pair<int, int> variance_and_mean(TorchNode& n) {
  const int v = float_operand(n);
  const Dims axes = axes_of(n, v);
  const bool keep = n.boolean("keepdim", false);
  const int mean = n.reduce("reduce_mean", v, axes, true);
  const double correction = n.has("correction") ? n.real("correction", 1) : n.has("unbiased") ? (n.boolean("unbiased", true) ? 1 : 0) : 1;
  double count = 1;
  for (int64_t d = 0; d < n.rank(v); ++d)
    if (axes.empty() || std::find(axes.begin(), axes.end(), d) != axes.end()) count *= static_cast<double>(n.shape(v)[static_cast<size_t>(d)]);
  const int squares = n.reduce("reduce_sum", n.emit("square", {n.binary("sub", v, mean)}), axes, keep);
  const int variance = n.with_scalar("div", squares, std::max(0.0, count - correction));
  return {variance, keep ? mean : n.reshape(mean, n.shape(variance))};
}
TorchResults var(TorchNode& n) { return n.one(variance_and_mean(n).first); }
TorchResults std_deviation(TorchNode& n) { return n.one(n.emit("sqrt", {variance_and_mean(n).first})); }
TorchResults var_mean(TorchNode& n) {
  const auto [variance, mean] = variance_and_mean(n);
  return {{.value = variance}, {.value = mean}};
}
TorchResults std_mean(TorchNode& n) {
  const auto [variance, mean] = variance_and_mean(n);
  return {{.value = n.emit("sqrt", {variance})}, {.value = mean}};
}

int norm_of(TorchNode& n, int v, double p, const Dims& axes, bool keep) {
  if (p == 2) return n.reduce("reduce_l2", v, axes, keep);
  if (p == 1) return n.reduce("reduce_l1", v, axes, keep);
  const int size = n.emit("abs", {v});
  if (p == HUGE_VAL) return n.reduce("reduce_max", size, axes, keep);
  if (p == -HUGE_VAL) return n.reduce("reduce_min", size, axes, keep);
  if (p == 0) return n.reduce("reduce_sum", n.cast(n.with_scalar("not_equal", v, 0), n.dtype(v)), axes, keep);
  return n.with_scalar("pow", n.reduce("reduce_sum", n.with_scalar("pow", size, p), axes, keep), 1 / p);
}
TorchResults norm(TorchNode& n) {
  const int v = float_operand(n);
  return n.one(norm_of(n, v, n.real(n.has("ord") ? "ord" : "p", 2), axes_of(n, v), n.boolean("keepdim", false)));
}

TorchResults frobenius_norm(TorchNode& n) {
  const int v = float_operand(n);
  return n.one(norm_of(n, v, 2, axes_of(n, v), n.boolean("keepdim", false)));
}
/// Of vectors with any order, of matrices with none: those of matrices are other functions.
TorchResults linalg_norm(TorchNode& n) {
  const int v = float_operand(n);
  const size_t dims = n.has("dim") ? axes_of(n, v).size() : static_cast<size_t>(n.rank(v));
  if (n.has("ord") && dims > 1) n.unsupported("a norm of matrices with an order of its own");
  return norm(n);
}
TorchResults distance(TorchNode& n) {
  const auto v = n.promoted({"self", "other"});
  return n.one(norm_of(n, n.binary("sub", v[0], v[1]), n.real("p", 2), {}, false));
}

TorchResults running(TorchNode& n, const char* ours) {
  const int v = n.cast(n.tensor("self"), n.result_type());
  if (n.rank(v) == 0) return n.one(v);
  return n.one(n.emit(ours, {v}, attrs({{"axis", n.axis(n.integer("dim", 0), n.rank(v))}})));
}
TorchResults cumsum(TorchNode& n) { return running(n, "cumsum"); }
TorchResults cumprod(TorchNode& n) { return running(n, "cumprod"); }

/// The first k in order, and where they are.
TorchResults ordered(TorchNode& n, int v, int64_t axis, int64_t k, bool largest) {
  if (n.rank(v) == 0) return {{.value = v}, {.value = n.filled(kInt64, {}, 0)}};
  const bool truth = n.dtype(v).is_bool();
  const int numbers = truth ? n.cast(v, kUInt8) : v;
  const int places = n.emit("top_k_indices", {numbers}, attrs({{"axis", axis}, {"k", k}, {"largest", int64_t{largest}}}));
  return {{.value = n.emit("gather_elements", {v, places}, attrs({{"axis", axis}}))}, {.value = places}};
}
TorchResults topk(TorchNode& n) {
  const int v = n.tensor("self");
  return ordered(n, v, n.rank(v) ? n.axis(n.integer("dim", -1), n.rank(v)) : 0, n.integer("k", 1), n.boolean("largest", true));
}
TorchResults sort(TorchNode& n) {
  const int v = n.tensor("self");
  const int64_t axis = n.rank(v) ? n.axis(n.integer("dim", -1), n.rank(v)) : 0;
  return ordered(n, v, axis, n.rank(v) ? n.shape(v)[static_cast<size_t>(axis)] : 1, n.boolean("descending", false));
}
/// The k-th smallest along a dimension, counted from 0, and where it is.
TorchResults ranked(TorchNode& n, int v, int64_t axis, int64_t k) {
  const bool keep = n.boolean("keepdim", false);
  const TorchResults all = ordered(n, v, axis, k + 1, false);
  if (n.rank(v) == 0) return all;
  TorchResults out;
  for (const TorchResult& r : all) out.push_back({.value = keep ? n.slice(r.value, axis, k, 1) : n.select(r.value, axis, k)});
  return out;
}
/// The lower one of the two in the middle; not a number where one of them is none.
TorchResults median(TorchNode& n) {
  int v = n.tensor("self");
  const bool whole = !n.has("dim");
  if (whole) v = n.reshape(v, {n.type(v).num_elements()});
  const int64_t axis = whole || n.rank(v) == 0 ? 0 : n.axis(n.integer("dim", 0), n.rank(v)), count = n.rank(v) ? n.shape(v)[static_cast<size_t>(axis)] : 1;
  if (count == 0) n.unsupported("the median of nothing");
  TorchResults out = ranked(n, v, axis, (count - 1) / 2);
  if (n.dtype(v).is_float() && n.rank(v) > 0) {
    const int any = n.cast(n.reduce("reduce_max", n.cast(n.emit("isnan", {v}), kUInt8), {axis}, n.boolean("keepdim", false)), kBool);
    out[0].value = n.choose(any, n.scalar(n.dtype(v), std::nan("")), out[0].value);
  }
  if (whole) out.resize(1);
  return out;
}
TorchResults kth_value(TorchNode& n) {
  const int v = n.tensor("self");
  const int64_t axis = n.rank(v) ? n.axis(n.integer("dim", -1), n.rank(v)) : 0, count = n.rank(v) ? n.shape(v)[static_cast<size_t>(axis)] : 1,
                k = n.integer("k", 1);
  if (k < 1 || k > count) n.invalid(fmt::format("the element {} of {}", k, count));
  return ranked(n, v, axis, k - 1);
}
TorchResults argsort(TorchNode& n) { return {sort(n).at(1)}; }

constexpr AtenOp kAtenReduce[] = {
    {"aten.all", all},
    {"aten.amax", amax},
    {"aten.amin", amin},
    {"aten.aminmax", aminmax},
    {"aten.any", any},
    {"aten.argmax", argmax},
    {"aten.argmin", argmin},
    {"aten.argsort", argsort},
    {"aten.count_nonzero", count_nonzero},
    {"aten.cumprod", cumprod},
    {"aten.cumsum", cumsum},
    {"aten.dist", distance},
    {"aten.frobenius_norm", frobenius_norm},
    {"aten.kthvalue", kth_value},
    {"aten.linalg_norm", linalg_norm},
    {"aten.linalg_vector_norm", norm},
    {"aten.logsumexp", log_sum_exp},
    {"aten.max", max},
    {"aten.mean", mean},
    {"aten.median", median},
    {"aten.min", min},
    {"aten.nanmean", nan_mean},
    {"aten.nansum", nan_sum},
    {"aten.norm", norm},
    {"aten.prod", prod},
    {"aten.sort", sort},
    {"aten.special_logsumexp", log_sum_exp},
    {"aten.std", std_deviation},
    {"aten.std_mean", std_mean},
    {"aten.sum", sum},
    {"aten.topk", topk},
    {"aten.var", var},
    {"aten.var_mean", var_mean},
};

}  // namespace

std::span<const AtenOp> aten_reduce() { return kAtenReduce; }

}  // namespace tw::frontends
