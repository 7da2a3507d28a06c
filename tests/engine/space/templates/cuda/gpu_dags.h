// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/engine/space/schedule_check.h"

/// Small tasks for templates for GPUs, and layers of real networks, as fusion makes them or as they come from logs.
namespace tw::space::testing {

inline te::DagPtr gpu_conv(const Dims& x, const Dims& w, int64_t stride, int64_t pad, int64_t groups = 1, const char* op = "conv2d", bool epilogue = false) {
  return dag_of([&](Net& n) {
    const int y = conv(n, x, w, stride, pad, groups, op);
    return epilogue ? n.op("relu", {y}) : y;
  });
}
/// 1xKxK convolution of a square image without padding beyond "same".
inline te::DagPtr layer(int64_t in, int64_t out, int64_t hw, int64_t kernel, int64_t stride) {
  return gpu_conv({1, in, hw, hw}, {out, in, kernel, kernel}, stride, kernel / 2);
}
inline te::DagPtr gpu_dense(int64_t m, int64_t n, int64_t k, bool epilogue = false) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {m, k}, kFloat32), w = b.placeholder("w", {n, k}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "dense", {m, n}, {k}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  if (!epilogue) return std::move(b).finish({y});
  const te::Tensor bias = b.placeholder("bias", {n}, kFloat32, te::Role::constant);
  const te::Tensor sum = b.compute("sum", {m, n}, [&](const te::Indices& i) { return y.at(i) + bias(i[1]); });
  return std::move(b).finish({b.compute("relu", {m, n}, [&](const te::Indices& i) { return ir::max(sum.at(i), ir::fimm(kFloat32, 0)); })});
}
inline te::DagPtr gpu_product(int64_t batch, int64_t m, int64_t n, int64_t k) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {batch, m, k}, kFloat32), y = b.placeholder("y", {batch, k, n}, kFloat32);
  return std::move(b).finish({b.reduce(
      "z", {batch, m, n}, {k}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], s[1], r[0]) * y(s[0], r[0], s[2]); },
      "batch_matmul")});
}

/// One operator over an image or rows, with what follows it.
inline te::DagPtr gpu_op(const char* op, const Dims& x, const Values& attrs = {}, const char* then = nullptr, DType t = kFloat32) {
  return dag_of([&](Net& n) {
    const int y = n.op(op, {n.input(x, t)}, attrs);
    return then ? n.op(then, {y}) : y;
  });
}
inline te::DagPtr gpu_norm(const char* op, const Dims& x) {
  return dag_of([&](Net& n) {
    const int in = n.input(x), scale = n.weight({x.back()});
    return n.op(op, {in, scale});
  });
}
/// A product of two activations with several leading dimensions, one of them broadcast, and what attention does with it.
inline te::DagPtr gpu_attention(const Dims& x, const Dims& y) {
  return dag_of([&](Net& n) {
    const int a = n.input(x), b = n.input(y);
    return n.op("relu", {n.op("matmul", {a, b})});
  });
}

/// [N, H, W, C] with `pad` zeros around each image.
inline te::Tensor padded_image(te::DagBuilder& b, const te::Tensor& given, const Dims& x, int64_t pad, DType t) {
  if (pad == 0) return given;
  return b.compute(
      "pad", {x[0], x[1] + 2 * pad, x[2] + 2 * pad, x[3]},
      [&](const te::Indices& i) {
        const ir::Expr h = i[1] - pad, v = i[2] - pad;
        const ir::Expr inside = ir::index(0) <= h && h < ir::index(x[1]) && ir::index(0) <= v && v < ir::index(x[2]);
        return ir::select(inside, given(i[0], h, v, i[3]), ir::zero(t));
      },
      "pad");
}

/// Data [N, H, W, C], kernel [KH, KW, C, O].
inline te::DagPtr gpu_channels_last(const Dims& x, const Dims& w, int64_t stride, int64_t pad, DType t = kFloat32) {
  te::DagBuilder b;
  const te::Tensor given = b.placeholder("x", x, t), weight = b.placeholder("w", w, t, te::Role::constant);
  const te::Tensor data = padded_image(b, given, x, pad, t);
  return std::move(b).finish({b.reduce(
      "y", {x[0], (x[1] + 2 * pad - w[0]) / stride + 1, (x[2] + 2 * pad - w[1]) / stride + 1, w[3]}, {w[0], w[1], w[2]}, te::Reducer::sum,
      [&](const te::Indices& s, const te::Indices& r) { return data(s[0], s[1] * stride + r[0], s[2] * stride + r[1], r[2]) * weight(r[0], r[1], r[2], s[3]); },
      "conv2d_nhwc", {{"strides", {stride, stride}}})});
}

/// Data [N, H, W, C], kernel [KH, KW, C, M].
inline te::DagPtr gpu_channelwise(const Dims& x, const Dims& w, int64_t stride, int64_t pad, int64_t dilation = 1, bool epilogue = false, DType t = kFloat32) {
  te::DagBuilder b;
  const te::Tensor given = b.placeholder("x", x, t), weight = b.placeholder("w", w, t, te::Role::constant);
  const te::Tensor data = padded_image(b, given, x, pad, t);
  const auto extent = [&](size_t d) { return (x[d + 1] + 2 * pad - (w[d] - 1) * dilation - 1) / stride + 1; };
  const Dims out{x[0], extent(0), extent(1), w[2] * w[3]};
  const te::Tensor y = b.reduce("y", out, {w[0], w[1]}, te::Reducer::sum,
                                [&](const te::Indices& s, const te::Indices& r) {
                                  const ir::Expr channel = ir::floor_div(s[3], ir::index(w[3]));
                                  return data(s[0], s[1] * stride + r[0] * dilation, s[2] * stride + r[1] * dilation, channel) *
                                         weight(r[0], r[1], channel, ir::floor_mod(s[3], ir::index(w[3])));
                                },
                                "depthwise_conv2d_nhwc", {{"strides", {stride, stride}}, {"pads", Dims(4, pad)}, {"dilations", {dilation, dilation}}});
  if (!epilogue) return std::move(b).finish({y});
  const te::Tensor bias = b.placeholder("bias", {out[3]}, t, te::Role::constant);
  return std::move(b).finish({b.compute("relu", out, [&](const te::Indices& i) { return ir::max(y.at(i) + bias(i[3]), ir::zero(t)); })});
}

/// A convolution for tensor cores, with a bias, something added and relu after it where `all`.
inline te::DagPtr gpu_tensor_conv(const Dims& x, const Dims& w, int64_t stride, int64_t pad, DType t = kFloat16, bool all = false, int64_t dilation = 1) {
  return dag_of([&](Net& n) {
    const int in = n.input(x, t), weight = n.weight(w, t);
    const Values attrs{{"strides", Dims{stride, stride}}, {"pads", Dims(4, pad)}, {"dilations", Dims{dilation, dilation}}};
    if (!all) return n.op("conv2d", {in, weight}, attrs);
    const int y = n.op("conv2d", {in, weight, n.weight({w[0]}, t)}, attrs);
    return n.op("relu", {n.op("add", {y, n.input(n.b.graph().values[static_cast<size_t>(y)].type.shape, t)})});
  });
}

/// Products of bytes in int32, as no operator of the graph has them yet.
inline te::DagPtr gpu_dense8(int64_t m, int64_t n, int64_t k) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {m, k}, kUInt8), w = b.placeholder("w", {n, k}, kInt8, te::Role::constant);
  const te::Tensor y = b.reduce(
      "dense", {m, n}, {k}, te::Reducer::sum,
      [&](const te::Indices& s, const te::Indices& r) { return ir::cast(kInt32, x(s[0], r[0])) * ir::cast(kInt32, w(s[1], r[0])); }, "dense");
  const te::Tensor bias = b.placeholder("bias", {n}, kInt32, te::Role::constant);
  return std::move(b).finish({b.compute("sum", {m, n}, [&](const te::Indices& i) { return y.at(i) + bias(i[1]); })});
}

inline te::DagPtr gpu_transposed(const Dims& x, const Dims& w, const Values& attrs) {
  return dag_of([&](Net& n) {
    const int in = n.input(x), weight = n.weight(w);
    return n.op("relu", {n.op("conv2d_transpose", {in, weight}, attrs)});
  });
}

/// A dense layer of 16-bit floats with what follows it, and products of activations.
inline te::DagPtr gpu_dense16(int64_t m, int64_t n, int64_t k, DType t = kFloat16) {
  return dag_of([&](Net& net) {
    const int x = net.input({m, k}, t), w = net.weight({n, k}, t), bias = net.weight({n}, t);
    return net.op("relu", {net.op("dense", {x, w, bias})});
  });
}
inline te::DagPtr gpu_conv16(const char* op, const Dims& x, const Dims& w, int64_t groups = 1, DType t = kFloat16) {
  return dag_of([&](Net& n) {
    const int in = n.input(x, t), weight = n.weight(w, t);
    const size_t spatial = x.size() - 2;
    Values attrs{{"strides", Dims(spatial, 1)}, {"pads", Dims(2 * spatial, 1)}};
    if (groups > 1) attrs.emplace("groups", groups);
    return n.op("relu", {n.op(op, {in, weight}, attrs)});
  });
}
inline te::DagPtr gpu_product16(const Dims& x, const Dims& y) {
  return dag_of([&](Net& n) {
    const int a = n.input(x, kFloat16), b = n.input(y, kFloat16);
    return n.op("matmul", {a, b});
  });
}

}  // namespace tw::space::testing
