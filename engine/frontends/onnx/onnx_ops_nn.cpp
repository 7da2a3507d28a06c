// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/frontends/onnx/onnx_ops.h"
#include "engine/frontends/shared/pooling.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// Spatial attributes of convolutions and pools with automatic padding resolved.
struct Geometry {
  Dims kernel, strides, dilations, pads;  ///< pads: [begins..., ends...]
};

/// Padding that makes the output ceil(in / stride) long, the odd element at the end (SAME_UPPER) or the start (SAME_LOWER).
Dims same_pads(const Geometry& g, const Dims& spatial, bool upper) {
  Dims begins, ends;
  for (size_t d = 0; d < g.kernel.size(); ++d) {
    const int64_t out = (spatial[d] + g.strides[d] - 1) / g.strides[d];
    const int64_t total = std::max<int64_t>(0, (out - 1) * g.strides[d] + (g.kernel[d] - 1) * g.dilations[d] + 1 - spatial[d]);
    begins.push_back(upper ? total / 2 : total - total / 2);
    ends.push_back(total - begins.back());
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  return begins;
}

void check_length(const OnnxNode& n, const char* name, const Dims& v, size_t expected, int64_t least) {
  if (v.size() != expected) n.invalid(fmt::format("expected {} values in '{}', found {}", expected, name, v.size()));
  for (const int64_t x : v)
    if (x < least || x > (int64_t{1} << 31)) n.invalid(fmt::format("expected values from {} to 2^31 in '{}', found {}", least, name, x));
}

Geometry geometry(const OnnxNode& n, Dims kernel, const Dims& x) {
  const size_t spatial = kernel.size();
  if (x.size() != spatial + 2) n.invalid(fmt::format("expected data of rank {} for a kernel of {} dimensions, found {}", spatial + 2, spatial, shape_text(x)));
  Geometry g{std::move(kernel), n.integers("strides", Dims(spatial, 1)), n.integers("dilations", Dims(spatial, 1)), n.integers("pads", Dims(2 * spatial, 0))};
  check_length(n, "kernel_shape", g.kernel, spatial, 1);
  check_length(n, "strides", g.strides, spatial, 1);
  check_length(n, "dilations", g.dilations, spatial, 1);
  check_length(n, "pads", g.pads, 2 * spatial, 0);
  const std::string mode = n.text("auto_pad", "NOTSET");
  if (mode == "VALID")
    g.pads.assign(2 * spatial, 0);
  else if (mode == "SAME_UPPER" || mode == "SAME_LOWER")
    g.pads = same_pads(g, Dims(x.begin() + 2, x.end()), mode == "SAME_UPPER");
  else if (mode != "NOTSET" && !mode.empty())
    n.invalid(fmt::format("expected auto_pad 'NOTSET', 'VALID', 'SAME_UPPER' or 'SAME_LOWER', found '{}'", printable(mode.substr(0, 64))));
  return g;
}

graph::Attrs window_attrs(const Geometry& g) { return attrs({{"strides", g.strides}, {"dilations", g.dilations}, {"pads", g.pads}}); }

std::string ranked(const OnnxNode& n, const char* name, size_t spatial, const char* suffix = "") {
  if (spatial < 1 || spatial > 3) n.unsupported(fmt::format("{} spatial dimensions (1 to 3 are supported)", spatial));
  return fmt::format("{}{}d{}", name, spatial, suffix);
}

/// Spatial extents of the weight, which must agree with kernel_shape if that is given.
Dims weight_kernel(const OnnxNode& n, int w) {
  const Dims& s = n.shape(w);
  if (s.size() < 3) n.invalid(fmt::format("expected a weight of rank 3 or more, found {}", shape_text(s)));
  Dims kernel(s.begin() + 2, s.end());
  if (n.integers("kernel_shape", kernel) != kernel)
    n.invalid(fmt::format("kernel_shape {} differs from the weight {}", shape_text(n.integers("kernel_shape", {})), shape_text(s)));
  return kernel;
}

Results conv(OnnxNode& n) {
  std::vector<int> operands{n.in(0), n.in(1)};
  if (n.has(2)) operands.push_back(n.in(2));
  return {convolution(n, operands)};
}

/// Pads of a transposed convolution from the wanted output extents. Source: ConvTranspose in the ONNX operator reference.
void pads_for_output(Geometry& g, const Dims& x, const Dims& wanted, Dims& extra, bool upper) {
  const size_t spatial = g.kernel.size();
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t full = g.strides[d] * (x[d + 2] - 1) + extra[d] + (g.kernel[d] - 1) * g.dilations[d] + 1;
    const int64_t total = std::max<int64_t>(0, full - wanted[d]);
    extra[d] += std::max<int64_t>(0, wanted[d] - full);
    g.pads[d] = upper ? total / 2 : total - total / 2;
    g.pads[d + spatial] = total - g.pads[d];
  }
}

Results conv_transpose(OnnxNode& n) {
  const Dims& x = n.shape(n.in(0));
  const std::string mode = n.text("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  Geometry g = geometry(n, weight_kernel(n, n.in(1)), x);
  const size_t spatial = g.kernel.size();
  Dims extra = n.integers("output_padding", Dims(spatial, 0));
  check_length(n, "output_padding", extra, spatial, 0);
  Dims wanted = n.integers("output_shape", {});
  if (wanted.size() == spatial + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (wanted.empty() && same)
    for (size_t d = 0; d < spatial; ++d) wanted.push_back(x[d + 2] * g.strides[d]);
  if (!wanted.empty()) {
    check_length(n, "output_shape", wanted, spatial, 1);
    pads_for_output(g, x, wanted, extra, mode == "SAME_UPPER");
  }
  graph::Attrs a = window_attrs(g);
  a.values["groups"] = n.integer("group", 1);
  a.values["output_padding"] = extra;
  std::vector<int> inputs{n.in(0), n.in(1)};
  if (n.has(2)) inputs.push_back(n.in(2));
  return {n.emit(ranked(n, "conv", spatial, "_transpose"), inputs, a)};
}

Geometry pool_geometry(const OnnxNode& n) {
  const Dims kernel = n.integers("kernel_shape", {});
  if (kernel.empty()) n.invalid("attribute 'kernel_shape' is required but absent");
  const Dims shape = n.shape(n.in(0));
  Geometry g = geometry(n, kernel, shape);
  if (n.integer("ceil_mode", 0) != 0) cut_windows(g.kernel, {shape.begin() + 2, shape.end()}, g.strides, g.dilations, g.pads);
  return g;
}

graph::Attrs pool_attrs(const OnnxNode& n, const Geometry& g) {
  graph::Attrs a = window_attrs(g);
  a.values["kernel"] = g.kernel;
  a.values["ceil_mode"] = n.integer("ceil_mode", 0);
  return a;
}

Results max_pool(OnnxNode& n) {
  const Geometry g = pool_geometry(n);
  Results out{n.emit(ranked(n, "max_pool", g.kernel.size()), {n.in(0)}, pool_attrs(n, g))};
  if (!n.wants_output(1)) return out;
  graph::Attrs a = pool_attrs(n, g);
  a.values["column_major"] = n.integer("storage_order", 0);
  out.push_back(n.emit(ranked(n, "max_pool", g.kernel.size(), "_indices"), {n.in(0)}, a));
  return out;
}

Results average_pool(OnnxNode& n) { return {average_pool_of(n, n.in(0))}; }

Results lp_pool(OnnxNode& n) {
  const Geometry g = pool_geometry(n);
  graph::Attrs a = pool_attrs(n, g);
  a.values["p"] = n.integer("p", 2);
  return {n.emit(ranked(n, "lp_pool", g.kernel.size()), {n.in(0)}, a)};
}

Results global_average_pool(OnnxNode& n) { return {n.emit("reduce_mean", {n.in(0)}, attrs({{"axes", spatial_axes(n)}}))}; }
Results global_max_pool(OnnxNode& n) { return {n.emit("reduce_max", {n.in(0)}, attrs({{"axes", spatial_axes(n)}}))}; }
Results global_lp_pool(OnnxNode& n) {
  if (n.integer("p", 2) == 2) return {n.emit("reduce_l2", {n.in(0)}, attrs({{"axes", spatial_axes(n)}}))};
  if (n.integer("p", 2) == 1) return {n.emit("reduce_l1", {n.in(0)}, attrs({{"axes", spatial_axes(n)}}))};
  n.unsupported("norms other than 1 and 2");
}

/// alpha * A * B + beta * C through `dense`, whose weight is B transposed; integer operands go through `matmul`.
Results gemm(OnnxNode& n) {
  int a = n.in(0), b = n.in(1);
  if (n.rank(a) != 2 || n.rank(b) != 2) n.invalid(fmt::format("expected two matrices, found {} and {}", shape_text(n.shape(a)), shape_text(n.shape(b))));
  if (n.integer("transA", 0)) a = n.transpose(a, {1, 0});
  if (!n.integer("transB", 0)) b = n.transpose(b, {1, 0});
  const double alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  const bool bias = n.has(2);
  if (bias && alpha == 1 && beta == 1 && n.shape(n.in(2)) == Dims{n.shape(b)[0]}) return {n.emit("dense", {a, b, n.in(2)})};
  int v = scaled(n, n.emit("dense", {a, b}), alpha);
  if (bias) v = n.binary("add", v, scaled(n, n.in(2), beta));
  return {v};
}

Results matmul(OnnxNode& n) { return {matmul_values(n, n.in(0), n.in(1))}; }
Results fused_matmul(OnnxNode& n) {
  if (n.integer("transBatchA", 0) || n.integer("transBatchB", 0)) n.unsupported("batches that are not the first dimensions");
  const auto operand = [&n](int i, const char* turned) {
    const int64_t rank = n.rank(n.in(i));
    if (rank < 2 || !n.integer(turned, 0)) return n.in(i);
    Dims perm;
    for (int64_t d = 0; d < rank; ++d) perm.push_back(d);
    std::swap(perm[static_cast<size_t>(rank - 1)], perm[static_cast<size_t>(rank - 2)]);
    return n.transpose(n.in(i), perm);
  };
  return {scaled(n, matmul_values(n, operand(0, "transA"), operand(1, "transB")), n.real("alpha", 1))};
}

/// The function that a fused operator ends with, and its parameters.
int activated(OnnxNode& n, int v, const std::vector<double>& p) {
  const std::string name = n.text("activation", "");
  const auto with = [&](const char* op, const char* first, const char* second) {
    graph::Attrs a;
    if (!p.empty()) a.values[first] = p[0];
    if (p.size() > 1 && second) a.values[second] = p[1];
    return n.emit(op, {v}, a);
  };
  if (name.empty()) return v;
  if (name == "Relu") return n.emit("relu", {v});
  if (name == "Sigmoid") return n.emit("sigmoid", {v});
  if (name == "Tanh") return n.emit("tanh", {v});
  if (name == "HardSwish") return n.emit("hard_swish", {v});
  if (name == "LeakyRelu") return with("leaky_relu", "alpha", nullptr);
  if (name == "HardSigmoid") return with("hard_sigmoid", "alpha", "beta");
  if (name == "Clip" && p.size() == 2) return with("clip", "min", "max");
  n.unsupported(fmt::format("activation '{}' with {} parameters", printable(name.substr(0, 64)), p.size()));
}

Results fused_gemm(OnnxNode& n) {
  std::vector<double> p;
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (n.has_attr(name)) p.push_back(n.real(name, 0));
  return {activated(n, gemm(n)[0], p)};
}

/// A convolution, what is added to it, and an activation.
Results fused_conv(OnnxNode& n) {
  int v = conv(n)[0];
  if (n.has(3)) v = n.binary("add", v, n.in(3));
  return {activated(n, v, n.reals("activation_params", {}))};
}

/// Widens an integer operand to int32 and subtracts its zero point.
int centred(OnnxNode& n, int v, int zero_point, int64_t channel_axis) {
  v = n.cast(v, kInt32);
  if (zero_point < 0) return v;
  int z = n.cast(zero_point, kInt32);
  if (n.rank(z) == 1 && n.shape(z)[0] > 1) {
    Dims shape(static_cast<size_t>(n.rank(v)), 1);
    shape[static_cast<size_t>(n.axis(channel_axis, n.rank(v)))] = n.shape(z)[0];
    z = n.reshape(z, shape);
  }
  return n.binary("sub", v, z);
}
Results matmul_integer(OnnxNode& n) { return {n.binary("matmul", centred(n, n.in(0), n.optional(2), -2), centred(n, n.in(1), n.optional(3), -1))}; }
Results conv_integer(OnnxNode& n) { return {convolution(n, {centred(n, n.in(0), n.optional(2), 1), centred(n, n.in(1), n.optional(3), 0)})}; }

Results einsum(OnnxNode& n) {
  std::string equation;
  for (const char ch : n.text("equation", ""))
    if (ch != ' ') equation += ch;
  return {n.emit("einsum", n.all_inputs(), attrs({{"equation", equation}}))};
}

/// Every element back to the place that a MaxPool took it from, zeros elsewhere. Places count through the whole tensor.
Results max_unpool(OnnxNode& n) {
  const int x = n.in(0), places = n.in(1);
  const Geometry g = pool_geometry(n);
  if (n.shape(places) != n.shape(x)) n.invalid(fmt::format("expected places for data {}, found {}", shape_text(n.shape(x)), shape_text(n.shape(places))));
  const size_t spatial = g.kernel.size();
  Dims shape = n.shape(x);
  __int128 count = shape[0] * shape[1];
  for (size_t d = 0; d < spatial; ++d) {
    shape[d + 2] = (shape[d + 2] - 1) * g.strides[d] + g.kernel[d] - g.pads[d] - g.pads[d + spatial];
    if (shape[d + 2] < 1) n.invalid(fmt::format("an output extent of {}", shape[d + 2]));
    count *= shape[d + 2];
  }
  if (count > 1 << 26) n.unsupported(fmt::format("results of shape {} (at most 2^26 elements)", shape_text(shape)));
  const auto flat = [&](int v) { return n.reshape(v, {n.type(v).num_elements()}); };
  const int zeros = n.constant(HostArray::make(n.dtype(x), {static_cast<int64_t>(count)}));
  const int y = n.reshape(n.emit("scatter_elements", {zeros, flat(places), flat(x)}, attrs({{"axis", int64_t{0}}, {"reduction", "none"}})), shape);
  if (!n.has(2)) return {y};
  const Dims wanted = n.integers_input(2, "the output shape");
  if (wanted.size() != shape.size()) n.invalid(fmt::format("expected an output shape of rank {}, found {}", shape.size(), shape_text(wanted)));
  Dims pads(2 * shape.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (wanted[d] < shape[d]) n.unsupported(fmt::format("an output shape {} smaller than {}", shape_text(wanted), shape_text(shape)));
    pads[d + shape.size()] = wanted[d] - shape[d];
  }
  return {n.emit("pad", {y}, attrs({{"pads", pads}, {"mode", "constant"}, {"value", 0.0}}))};
}

constexpr OnnxOp kNnOps[] = {
    {"AveragePool", average_pool},
    {"Conv", conv},
    {"ConvInteger", conv_integer},
    {"ConvTranspose", conv_transpose},
    {"Einsum", einsum},
    {"FusedConv", fused_conv, Narrow::refused, kRuntimeDomain},
    {"FusedGemm", fused_gemm, Narrow::refused, kRuntimeDomain},
    {"FusedMatMul", fused_matmul, Narrow::refused, kRuntimeDomain},
    {"Gemm", gemm},
    {"GlobalAveragePool", global_average_pool},
    {"GlobalLpPool", global_lp_pool},
    {"GlobalMaxPool", global_max_pool},
    {"LpPool", lp_pool},
    {"MatMul", matmul},
    {"MatMulInteger", matmul_integer},
    {"MaxPool", max_pool},
    {"MaxUnpool", max_unpool},
};

}  // namespace

int average_pool_of(OnnxNode& n, int x) {
  const Geometry g = pool_geometry(n);
  graph::Attrs a = pool_attrs(n, g);
  a.values["count_include_pad"] = n.integer("count_include_pad", 0);
  return n.emit(ranked(n, "avg_pool", g.kernel.size()), {x}, a);
}

Dims spatial_axes(const OnnxNode& n) {
  Dims axes;
  for (int64_t d = 2; d < n.rank(n.in(0)); ++d) axes.push_back(d);
  if (axes.empty()) n.invalid(fmt::format("expected data of rank 3 or more, found {}", shape_text(n.shape(n.in(0)))));
  return axes;
}

int scaled(OnnxNode& n, int v, double factor) { return factor == 1 ? v : n.with_scalar("mul", v, factor); }

int matmul_values(OnnxNode& n, int a, int b) {
  if (n.rank(a) == 0 || n.rank(b) == 0) n.invalid("expected operands of rank 1 or more");
  const bool vector_a = n.rank(a) == 1, vector_b = n.rank(b) == 1;
  if (vector_a) a = n.reshape(a, {1, n.shape(a)[0]});
  if (vector_b) b = n.reshape(b, {n.shape(b)[0], 1});
  Dims shape = n.shape(a);
  int v = 0;
  if (n.rank(b) == 2 && n.constant_of(b)) {
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
    shape.back() = n.shape(b)[1];
    v = n.reshape(n.emit("dense", {n.reshape(a, {rows, n.shape(a).back()}), n.transpose(b, {1, 0})}), shape);
  } else {
    v = n.binary("matmul", a, b);
    shape = n.shape(v);
  }
  if (vector_b) shape.pop_back();
  if (vector_a) shape.erase(shape.end() - (vector_b ? 1 : 2));
  return n.reshape(v, shape);
}

int convolution(OnnxNode& n, const std::vector<int>& operands) {
  const Geometry g = geometry(n, weight_kernel(n, operands[1]), n.shape(operands[0]));
  graph::Attrs a = window_attrs(g);
  a.values["groups"] = n.integer("group", 1);
  return n.emit(ranked(n, "conv", g.kernel.size()), operands, a);
}

std::span<const OnnxOp> onnx_ops_nn() { return kNnOps; }

}  // namespace tw::frontends
