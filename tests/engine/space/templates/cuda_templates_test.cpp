// SPDX-License-Identifier: Apache-2.0
// Templates for GPUs: sizes and points as AutoTVM has them; points whose results are right in the interpreter, without races, and that NVRTC compiles.
#include <QtTest>

#include "engine/base/json.h"
#include "engine/simulate/kernel_time.h"
#include "engine/simulate/launch_facts.h"
#include "engine/simulate/legality.h"
#include "engine/space/fallback.h"
#include "engine/tir/launches.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using space::testing::Dims;

namespace {

const Target& a100() {
  static const Target target = parse_target("cuda:a100").value();
  return target;
}

te::DagPtr gpu_conv(const Dims& x, const Dims& w, int64_t stride, int64_t pad, int64_t groups = 1, const char* op = "conv2d", bool epilogue = false) {
  return space::testing::dag_of([&](space::testing::Net& n) {
    const int y = space::testing::conv(n, x, w, stride, pad, groups, op);
    return epilogue ? n.op("relu", {y}) : y;
  });
}
/// 1xKxK convolution of a square image without padding beyond "same".
te::DagPtr layer(int64_t in, int64_t out, int64_t hw, int64_t kernel, int64_t stride) {
  return gpu_conv({1, in, hw, hw}, {out, in, kernel, kernel}, stride, kernel / 2);
}
te::DagPtr gpu_dense(int64_t m, int64_t n, int64_t k, bool epilogue = false) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {m, k}, kFloat32), w = b.placeholder("w", {n, k}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "dense", {m, n}, {k}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  if (!epilogue) return std::move(b).finish({y});
  const te::Tensor bias = b.placeholder("bias", {n}, kFloat32, te::Role::constant);
  const te::Tensor sum = b.compute("sum", {m, n}, [&](const te::Indices& i) { return y.at(i) + bias(i[1]); });
  return std::move(b).finish({b.compute("relu", {m, n}, [&](const te::Indices& i) { return ir::max(sum.at(i), ir::fimm(kFloat32, 0)); })});
}
te::DagPtr gpu_product(int64_t batch, int64_t m, int64_t n, int64_t k) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {batch, m, k}, kFloat32), y = b.placeholder("y", {batch, k, n}, kFloat32);
  return std::move(b).finish({b.reduce(
      "z", {batch, m, n}, {k}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], s[1], r[0]) * y(s[0], r[0], s[2]); },
      "batch_matmul")});
}

/// One operator over an image or rows, with what follows it.
te::DagPtr gpu_op(const char* op, const Dims& x, const space::testing::Values& attrs = {}, const char* then = nullptr, DType t = kFloat32) {
  return space::testing::dag_of([&](space::testing::Net& n) {
    const int y = n.op(op, {n.input(x, t)}, attrs);
    return then ? n.op(then, {y}) : y;
  });
}
te::DagPtr gpu_norm(const char* op, const Dims& x) {
  return space::testing::dag_of([&](space::testing::Net& n) {
    const int in = n.input(x), scale = n.weight({x.back()});
    return n.op(op, {in, scale});
  });
}
/// A product of two activations with several leading dimensions, one of them broadcast, and what attention does with it.
te::DagPtr gpu_attention(const Dims& x, const Dims& y) {
  return space::testing::dag_of([&](space::testing::Net& n) {
    const int a = n.input(x), b = n.input(y);
    return n.op("relu", {n.op("matmul", {a, b})});
  });
}

/// [N, H, W, C] with `pad` zeros around each image.
te::Tensor padded_image(te::DagBuilder& b, const te::Tensor& given, const Dims& x, int64_t pad, DType t) {
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
te::DagPtr gpu_channels_last(const Dims& x, const Dims& w, int64_t stride, int64_t pad, DType t = kFloat32) {
  te::DagBuilder b;
  const te::Tensor given = b.placeholder("x", x, t), weight = b.placeholder("w", w, t, te::Role::constant);
  const te::Tensor data = padded_image(b, given, x, pad, t);
  return std::move(b).finish({b.reduce(
      "y", {x[0], (x[1] + 2 * pad - w[0]) / stride + 1, (x[2] + 2 * pad - w[1]) / stride + 1, w[3]}, {w[0], w[1], w[2]}, te::Reducer::sum,
      [&](const te::Indices& s, const te::Indices& r) { return data(s[0], s[1] * stride + r[0], s[2] * stride + r[1], r[2]) * weight(r[0], r[1], r[2], s[3]); },
      "conv2d_nhwc", {{"strides", {stride, stride}}})});
}

/// Data [N, H, W, C], kernel [KH, KW, C, M].
te::DagPtr gpu_channelwise(const Dims& x, const Dims& w, int64_t stride, int64_t pad, int64_t dilation = 1, bool epilogue = false, DType t = kFloat32) {
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
te::DagPtr gpu_tensor_conv(const Dims& x, const Dims& w, int64_t stride, int64_t pad, DType t = kFloat16, bool all = false, int64_t dilation = 1) {
  return space::testing::dag_of([&](space::testing::Net& n) {
    const int in = n.input(x, t), weight = n.weight(w, t);
    const space::testing::Values attrs{{"strides", Dims{stride, stride}}, {"pads", Dims(4, pad)}, {"dilations", Dims{dilation, dilation}}};
    if (!all) return n.op("conv2d", {in, weight}, attrs);
    const int y = n.op("conv2d", {in, weight, n.weight({w[0]}, t)}, attrs);
    return n.op("relu", {n.op("add", {y, n.input(n.b.graph().values[static_cast<size_t>(y)].type.shape, t)})});
  });
}

/// Products of bytes in int32, as no operator of the graph has them yet.
te::DagPtr gpu_dense8(int64_t m, int64_t n, int64_t k) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {m, k}, kUInt8), w = b.placeholder("w", {n, k}, kInt8, te::Role::constant);
  const te::Tensor y = b.reduce(
      "dense", {m, n}, {k}, te::Reducer::sum,
      [&](const te::Indices& s, const te::Indices& r) { return ir::cast(kInt32, x(s[0], r[0])) * ir::cast(kInt32, w(s[1], r[0])); }, "dense");
  const te::Tensor bias = b.placeholder("bias", {n}, kInt32, te::Role::constant);
  return std::move(b).finish({b.compute("sum", {m, n}, [&](const te::Indices& i) { return y.at(i) + bias(i[1]); })});
}

te::DagPtr gpu_transposed(const Dims& x, const Dims& w, const space::testing::Values& attrs) {
  return space::testing::dag_of([&](space::testing::Net& n) {
    const int in = n.input(x), weight = n.weight(w);
    return n.op("relu", {n.op("conv2d_transpose", {in, weight}, attrs)});
  });
}

/// A dense layer of 16-bit floats with what follows it, and products of activations.
te::DagPtr gpu_dense16(int64_t m, int64_t n, int64_t k, DType t = kFloat16) {
  return space::testing::dag_of([&](space::testing::Net& net) {
    const int x = net.input({m, k}, t), w = net.weight({n, k}, t), bias = net.weight({n}, t);
    return net.op("relu", {net.op("dense", {x, w, bias})});
  });
}
te::DagPtr gpu_conv16(const char* op, const Dims& x, const Dims& w, int64_t groups = 1, DType t = kFloat16) {
  return space::testing::dag_of([&](space::testing::Net& n) {
    const int in = n.input(x, t), weight = n.weight(w, t);
    const size_t spatial = x.size() - 2;
    space::testing::Values attrs{{"strides", Dims(spatial, 1)}, {"pads", Dims(2 * spatial, 1)}};
    if (groups > 1) attrs.emplace("groups", groups);
    return n.op("relu", {n.op(op, {in, weight}, attrs)});
  });
}
te::DagPtr gpu_product16(const Dims& x, const Dims& y) {
  return space::testing::dag_of([&](space::testing::Net& n) {
    const int a = n.input(x, kFloat16), b = n.input(y, kFloat16);
    return n.op("matmul", {a, b});
  });
}

struct GpuCase {
  const char *name, *space;
  te::DagPtr dag;
  const char* on = "cuda:a100";
  Target target() const { return parse_target(on).value(); }
};

std::vector<GpuCase> gpu_cases() {
  return {
      {"conv 3x3, relu", "conv2d_nchw.cuda", gpu_conv({1, 6, 8, 8}, {8, 6, 3, 3}, 1, 1, 1, "conv2d", true)},
      {"conv 3x3, stride", "conv2d_nchw.cuda", gpu_conv({2, 4, 9, 9}, {6, 4, 3, 3}, 2, 1)},
      {"conv 1x1", "conv2d_nchw.cuda", gpu_conv({1, 8, 7, 7}, {12, 8, 1, 1}, 1, 0)},
      {"conv 5x3", "conv2d_nchw.cuda", gpu_conv({1, 3, 8, 10}, {4, 3, 5, 3}, 1, 0)},
      {"Winograd, relu", "conv2d_nchw_winograd.cuda", gpu_conv({1, 6, 8, 8}, {8, 6, 3, 3}, 1, 1, 1, "conv2d", true)},
      {"Winograd, odd images", "conv2d_nchw_winograd.cuda", gpu_conv({2, 4, 7, 9}, {6, 4, 3, 3}, 1, 0)},
      {"gemm, relu", "gemm.cuda", gpu_conv({1, 6, 8, 8}, {8, 6, 3, 3}, 1, 1, 1, "conv2d", true)},
      {"gemm, stride, two odd images", "gemm.cuda", gpu_conv({2, 8, 9, 7}, {10, 8, 3, 3}, 2, 1)},
      {"gemm, one tap", "gemm.cuda", gpu_conv({2, 32, 6, 6}, {24, 32, 1, 1}, 1, 0, 1, "conv2d", true)},
      {"gemm, one tap, odd", "gemm.cuda", gpu_conv({1, 16, 7, 7}, {33, 16, 1, 1}, 1, 0)},
      {"gemm, a line", "gemm.cuda", gpu_conv({2, 12, 20}, {10, 12, 3}, 1, 1, 1, "conv1d")},
      {"gemm, volumes", "gemm.cuda", gpu_conv({1, 4, 4, 5, 6}, {4, 4, 3, 3, 3}, 1, 1, 1, "conv3d")},
      {"gemm, channels last", "gemm.cuda", gpu_channels_last({1, 6, 9, 16}, {3, 3, 16, 24}, 1, 1)},
      {"gemm, one pixel", "gemm.cuda", gpu_conv({1, 16, 1, 1}, {12, 16, 3, 3}, 1, 1, 1, "conv2d", true)},
      {"gemm, dense, fused", "gemm.cuda", gpu_dense(36, 20, 32, true)},
      {"gemm, dense", "gemm.cuda", gpu_dense(5, 40, 64)},
      {"channels last", "conv2d_nhwc.gpu", gpu_channels_last({1, 6, 9, 16}, {3, 3, 16, 24}, 1, 1)},
      {"channels last, odd", "conv2d_nhwc.gpu", gpu_channels_last({2, 7, 7, 10}, {3, 2, 10, 7}, 2, 0)},
      {"depthwise", "depthwise_conv2d_nchw.cuda", gpu_conv({1, 12, 8, 8}, {12, 1, 3, 3}, 1, 1, 12)},
      {"depthwise, stride, relu", "depthwise_conv2d_nchw.cuda", gpu_conv({1, 6, 9, 9}, {6, 1, 3, 3}, 2, 1, 6, "conv2d", true)},
      {"depthwise, channels last", "depthwise_conv2d_nhwc.cuda", gpu_channelwise({1, 8, 10, 24}, {3, 3, 24, 1}, 1, 1)},
      {"depthwise, channels last, stride, fused", "depthwise_conv2d_nhwc.cuda", gpu_channelwise({2, 9, 9, 32}, {3, 3, 32, 1}, 2, 1, 1, true)},
      {"depthwise, channels last, two of each", "depthwise_conv2d_nhwc.cuda", gpu_channelwise({1, 7, 8, 12}, {3, 3, 12, 2}, 1, 1, 1, true)},
      {"depthwise, channels last, three of each, dilated", "depthwise_conv2d_nhwc.cuda", gpu_channelwise({1, 10, 9, 5}, {3, 2, 5, 3}, 1, 0, 2)},
      {"volumes", "conv3d_ncdhw.cuda", gpu_conv({1, 3, 4, 5, 6}, {4, 3, 3, 3, 3}, 1, 1, 1, "conv3d")},
      {"groups", "group_conv2d_nchw.cuda", gpu_conv({1, 12, 8, 8}, {24, 4, 3, 3}, 1, 1, 3)},
      {"groups, stride, two images", "group_conv2d_nchw.cuda", gpu_conv({2, 8, 9, 9}, {12, 4, 3, 3}, 2, 1, 2, "conv2d", true)},
      {"transposed", "conv2d_transpose_nchw.cuda", gpu_transposed({1, 8, 5, 6}, {8, 12, 4, 4}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}})},
      {"transposed, uneven", "conv2d_transpose_nchw.cuda", gpu_transposed({2, 6, 7, 5}, {6, 8, 3, 3}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}})},
      {"a line", "conv1d_ncw.cuda", gpu_conv({2, 12, 20}, {10, 12, 3}, 1, 1, 1, "conv1d")},
      {"a line, stride", "conv1d_ncw.cuda", gpu_conv({1, 6, 21}, {8, 6, 5}, 2, 2, 1, "conv1d", true)},
      {"dense, one row", "dense_small_batch.gpu", gpu_dense(1, 20, 96)},
      {"dense, a few rows, fused", "dense_small_batch.gpu", gpu_dense(3, 10, 60, true)},
      {"dense, many rows", "dense_large_batch.gpu", gpu_dense(32, 24, 32)},
      {"dense, many rows, fused", "dense_large_batch.gpu", gpu_dense(36, 20, 18, true)},
      {"product", "batch_matmul.cuda", gpu_product(2, 12, 16, 24)},
      {"dense, half", "dense_tensorcore.cuda", gpu_dense16(64, 96, 128)},
      {"dense, bfloat", "dense_tensorcore.cuda", gpu_dense16(32, 64, 48, kBFloat16)},
      {"product, half", "batch_matmul_tensorcore.cuda", gpu_product16({3, 32, 48}, {3, 48, 64})},
      {"product, half, shared heads", "batch_matmul_tensorcore.cuda", gpu_product16({2, 2, 16, 32}, {1, 2, 32, 16})},
      {"product of two matrices, half", "batch_matmul_tensorcore.cuda", gpu_product16({64, 64}, {64, 128})},
      {"conv, half", "conv2d_nchw.cuda", gpu_conv16("conv2d", {1, 8, 9, 9}, {12, 8, 3, 3})},
      {"depthwise, bfloat", "depthwise_conv2d_nchw.cuda", gpu_conv16("conv2d", {1, 12, 8, 8}, {12, 1, 3, 3}, 12, kBFloat16)},
      {"depthwise, channels last, half", "depthwise_conv2d_nhwc.cuda", gpu_channelwise({1, 8, 10, 48}, {3, 3, 48, 1}, 1, 1, 1, true, kFloat16)},
      {"groups, half", "group_conv2d_nchw.cuda", gpu_conv16("conv2d", {1, 8, 6, 6}, {12, 4, 3, 3}, 2)},
      {"transposed, half", "conv2d_transpose_nchw.cuda", gpu_conv16("conv2d_transpose", {1, 8, 5, 6}, {8, 12, 3, 3})},
      {"a line, half", "conv1d_ncw.cuda", gpu_conv16("conv1d", {2, 12, 20}, {10, 12, 3})},
      {"dense, one row, half", "dense_small_batch.gpu", gpu_dense16(1, 20, 96)},
      {"dense, many rows, half", "dense_large_batch.gpu", gpu_dense16(40, 24, 72)},
      {"dense, odd, bfloat", "dense_large_batch.gpu", gpu_dense16(36, 20, 18, kBFloat16)},
      {"product, odd, half", "batch_matmul.cuda", gpu_product16({2, 12, 24}, {2, 24, 20})},
      {"softmax, half", "reductions.cuda", gpu_op("softmax", {3, 8, 64}, {}, nullptr, kFloat16)},
      {"maxima of windows, half", "reductions.cuda",
       gpu_op("max_pool2d", {2, 5, 9, 9}, {{"kernel", Dims{3, 3}}, {"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}}, "relu", kFloat16)},
      {"elements, half", "injective.cuda", gpu_op("sigmoid", {3, 8, 20}, {}, "relu", kFloat16)},
      {"dense, TF32", "dense_tensorcore.cuda", gpu_dense(32, 48, 64, true), "cuda:a100,tf32"},
      {"dense, bytes", "dense_tensorcore.cuda", gpu_dense8(32, 64, 96)},
      {"product, TF32", "batch_matmul_tensorcore.cuda", gpu_product(2, 32, 16, 32), "cuda:a100,tf32"},
      {"tensor cores, 3x3", "conv2d_nchw_tensorcore.cuda", gpu_tensor_conv({1, 16, 8, 8}, {32, 16, 3, 3}, 1, 1)},
      {"tensor cores, stride, odd", "conv2d_nchw_tensorcore.cuda", gpu_tensor_conv({2, 10, 9, 9}, {21, 10, 3, 3}, 2, 1, kFloat16, true)},
      {"tensor cores, bfloat, 1x1", "conv2d_nchw_tensorcore.cuda", gpu_tensor_conv({1, 40, 7, 7}, {24, 40, 1, 1}, 1, 0, kBFloat16, true)},
      {"tensor cores, few channels", "conv2d_nchw_tensorcore.cuda", gpu_tensor_conv({1, 3, 14, 12}, {16, 3, 7, 7}, 2, 3)},
      {"tensor cores, dilated", "conv2d_nchw_tensorcore.cuda", gpu_tensor_conv({1, 8, 9, 7}, {16, 8, 3, 2}, 1, 2, kFloat16, false, 2)},
      {"tensor cores, TF32", "conv2d_nchw_tensorcore.cuda", gpu_conv({1, 16, 7, 9}, {24, 16, 3, 3}, 1, 1, 1, "conv2d", true), "cuda:a100,tf32"},
      {"tensor cores, channels last", "conv2d_nhwc_tensorcore.cuda", gpu_channels_last({1, 6, 9, 16}, {3, 3, 16, 24}, 1, 1, kFloat16)},
      {"tensor cores, channels last, odd", "conv2d_nhwc_tensorcore.cuda", gpu_channels_last({2, 7, 7, 10}, {3, 2, 10, 9}, 2, 0, kFloat16)},
      {"product, heads", "batch_matmul.cuda", gpu_attention({1, 3, 12, 8}, {1, 3, 8, 10})},
      {"product, shared heads", "batch_matmul.cuda", gpu_attention({2, 4, 6, 8}, {2, 1, 8, 6})},
      {"product of two matrices", "batch_matmul.cuda", gpu_attention({12, 20}, {20, 8})},
      {"softmax", "reductions.cuda", gpu_op("softmax", {3, 8, 50})},
      {"softmax, few", "reductions.cuda", gpu_op("softmax", {1, 10})},
      {"softmax, long rows", "reductions.cuda", gpu_op("softmax", {3, 1200})},
      {"softmax over channels", "reductions.cuda", gpu_op("softmax", {2, 6, 5, 7}, {{"axis", int64_t{1}}})},
      {"softmax over many channels", "reductions.cuda", gpu_op("softmax", {2, 40, 5, 3}, {{"axis", int64_t{1}}})},
      {"log softmax", "reductions.cuda", gpu_op("log_softmax", {6, 33})},
      {"layer norm", "reductions.cuda", gpu_norm("layer_norm", {4, 6, 96})},
      {"RMS norm", "reductions.cuda", gpu_norm("rms_norm", {12, 40})},
      {"sums of rows", "reductions.cuda", gpu_op("reduce_sum", {6, 70}, {{"axes", Dims{1}}}, "relu")},
      {"sums of columns", "reductions.cuda", gpu_op("reduce_sum", {70, 6}, {{"axes", Dims{0}}}, "relu")},
      {"means of images", "reductions.cuda", gpu_op("reduce_mean", {2, 10, 7, 7}, {{"axes", Dims{2, 3}}})},
      {"maxima of windows", "reductions.cuda",
       gpu_op("max_pool2d", {2, 5, 9, 9}, {{"kernel", Dims{3, 3}}, {"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}}, "relu")},
      {"means of windows", "reductions.cuda",
       gpu_op("avg_pool2d", {1, 4, 8, 9}, {{"kernel", Dims{3, 3}}, {"strides", Dims{1, 1}}, {"pads", Dims{1, 1, 1, 1}}})},
      {"elements", "injective.cuda", gpu_op("sigmoid", {3, 8, 20}, {}, "relu")},
      {"elements, odd", "injective.cuda", gpu_op("relu", {3, 7, 5})},
      {"transpose", "injective.cuda", gpu_op("transpose", {40, 70}, {{"perm", Dims{1, 0}}})},
      {"transpose of heads", "injective.cuda", gpu_op("transpose", {2, 36, 3, 20}, {{"perm", Dims{0, 2, 3, 1}}}, "relu")},
      {"transpose of blocks", "injective.cuda", gpu_op("transpose", {2, 36, 3, 20}, {{"perm", Dims{0, 2, 1, 3}}})}};
}

const space::Template& gpu_template(const te::DagPtr& dag, const char* name, const Target& target = a100()) {
  const space::Template* t = space::find_template(*dag, target, name);
  if (!t) qFatal("no template %s", name);
  return *t;
}
int64_t occurrences(const std::string& text, std::string_view part) {
  int64_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}
int64_t size_of(const te::DagPtr& dag, const char* name) { return gpu_template(dag, name).space(*dag, a100()).size(); }

}  // namespace

Q_DECLARE_METATYPE(te::DagPtr)

class CudaTemplatesTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// ResNet-50 at batch 1, BERT with 128 words, as AutoTVM counts them.
  void sizes() {
    const auto conv = [](int64_t in, int64_t out, int64_t hw, int64_t kernel, int64_t stride) {
      return size_of(layer(in, out, hw, kernel, stride), "conv2d_nchw.cuda");
    };
    QCOMPARE(conv(3, 64, 224, 7, 2), 79027200);
    QCOMPARE(conv(64, 64, 56, 1, 1), 22579200);
    QCOMPARE(conv(64, 64, 56, 3, 1), 90316800);
    QCOMPARE(conv(64, 256, 56, 1, 1), 44352000);
    QCOMPARE(conv(256, 64, 56, 1, 1), 29030400);
    QCOMPARE(conv(128, 128, 56, 3, 2), 36864000);
    QCOMPARE(conv(256, 512, 56, 1, 2), 19008000);
    QCOMPARE(conv(256, 256, 14, 3, 1), 9123840);
    QCOMPARE(conv(512, 512, 7, 3, 1), 844800);
    QCOMPARE(conv(2048, 512, 7, 1, 1), 253440);
    QCOMPARE(size_of(gpu_channels_last({1, 56, 56, 64}, {3, 3, 64, 64}, 1, 1), "conv2d_nhwc.gpu"), 5184);
    const auto winograd = [](int64_t channels, int64_t hw) { return size_of(layer(channels, channels, hw, 3, 1), "conv2d_nchw_winograd.cuda"); };
    QCOMPARE(winograd(64, 56), 352800);
    QCOMPARE(winograd(128, 28), 576000);
    QCOMPARE(winograd(256, 14), 89100);
    QCOMPARE(winograd(512, 7), 462000);
    QCOMPARE(size_of(gpu_dense(1, 1000, 2048), "dense_small_batch.gpu"), 12);
    QCOMPARE(size_of(gpu_dense(128, 768, 768), "dense_large_batch.gpu"), 10692000);
    QCOMPARE(size_of(gpu_dense(128, 3072, 768), "dense_large_batch.gpu"), 18532800);
    QCOMPARE(size_of(gpu_product(12, 128, 128, 64), "batch_matmul.cuda"), 72576);
    // 64 channels and 56 rows and columns in four factors, times 3 * 2 * 3.
    QCOMPARE(size_of(gpu_channelwise({1, 56, 56, 64}, {3, 3, 64, 1}, 1, 1), "depthwise_conv2d_nhwc.cuda"), int64_t{84} * 80 * 80 * 18);
    // Factors of 32 groups, 4 channels, 56 rows, 56 columns, 4 input channels and 3 taps in two directions, times 3 * 2 * 2.
    QCOMPARE(size_of(gpu_conv({1, 128, 56, 56}, {128, 4, 3, 3}, 1, 1, 32), "group_conv2d_nchw.cuda"), int64_t{6} * 10 * 80 * 80 * 3 * 2 * 2 * 12);
    // 64 channels and 128 columns in four factors, 64 channels in three, times 3 * 2.
    QCOMPARE(size_of(gpu_conv({1, 64, 128}, {64, 64, 3}, 1, 1, 1, "conv1d"), "conv1d_ncw.cuda"), int64_t{84} * 120 * 28 * 6);
  }

  /// A record of AutoTVM's for the last 3x3 layer of ResNet-18.
  void logged_index_decodes_to_its_entity() {
    const te::DagPtr dag = layer(512, 512, 7, 3, 1);
    const auto e = gpu_template(dag, "conv2d_nchw.cuda").space(*dag, a100()).get(649034);
    QVERIFY(e.has_value());
    QCOMPARE(
        e->json_text(),
        std::string(R"([["tile_f","sp",[-1,1,16,1]],["tile_y","sp",[-1,1,7,1]],["tile_x","sp",[-1,7,1,1]],["tile_rc","sp",[-1,16]],["tile_ry","sp",[-1,1]],)"
                    R"(["tile_rx","sp",[-1,3]],["auto_unroll_max_step","ot",512],["unroll_explicit","ot",1]])"));
  }

  void points_data() {
    QTest::addColumn<int>("which");
    int k = 0;
    for (const GpuCase& c : gpu_cases()) QTest::newRow(c.name) << k++;
  }
  void points() {
    QFETCH(int, which);
    const GpuCase c = gpu_cases()[static_cast<size_t>(which)];
    const Target target = c.target();
    // More of them, all compiled, on demand: TW_GPU_POINTS=120 makes some 2000.
    const int asked = qEnvironmentVariableIntValue("TW_GPU_POINTS");
    const std::string problem =
        space::testing::problem_of_points(gpu_template(c.dag, c.space, target), c.dag, target, asked > 0 ? asked : 40, asked > 0 ? asked : 3);
    QVERIFY2(problem.empty(), problem.c_str());
    // What it runs with if nobody chooses a point, and without a template.
    const space::testing::WithReference expected(c.dag, target.allows_tf32());
    for (const schedule::Schedule& s : {space::default_schedule(c.dag, target), space::rule_schedule(c.dag, target, {}).value()}) {
      const std::string by_rule = space::testing::problem_of(s, target, expected, asked > 0);
      QVERIFY2(by_rule.empty(), by_rule.c_str());
    }
  }

  /// Untuned products by tensor cores: large tiles, several of them under way, no register spilled, all real architectures.
  void tensorcores() {
    QCOMPARE(size_of(gpu_dense16(128, 768, 768), "dense_tensorcore.cuda"), int64_t{15552});
    const te::DagPtr large = gpu_dense16(4096, 4096, 4096);
    QVERIFY(!space::find_template(*large, parse_target("cuda:t4").value(), "dense_tensorcore.cuda"));
    QVERIFY(!space::find_template(*gpu_dense16(4096, 4090, 4096), a100(), "dense_tensorcore.cuda"));
    for (const char* name : {"a100", "a5000", "h200"}) {
      const Target target = parse_target(std::string("cuda:") + name).value();
      const space::Template* t = space::fallback_template(*large, target);
      QVERIFY(t && std::string_view(t->name) == "dense_tensorcore.cuda");
      const auto s = t->apply(large, target, t->fallback(*large, target));
      QVERIFY2(s, s ? "" : s.error().text().c_str());
      const auto func = lower::lower_and_optimize(*s, "kernel", target);
      QVERIFY2(func, func ? "" : func.error().text().c_str());
      const auto launches = tir::split_launches(*func);
      QVERIFY(launches && launches->launches.size() == 1);
      QVERIFY(launches->launches[0].grid[0] * launches->launches[0].grid[1] >= target.gpu->multiprocessors);
      const auto source = codegen::cuda_source(*func);
      QVERIFY(source && source->text.find("copy_async<16>") != std::string::npos && source->text.find("multiply_half") != std::string::npos);
      QVERIFY(source->text.find("wait_copies<2>") != std::string::npos || source->text.find("wait_copies<1>") != std::string::npos);
      if (!codegen::nvrtc_version()) continue;
      const auto binary = codegen::nvrtc_compile(source->text, target.gpu->capability);
      QVERIFY2(binary, binary ? "" : (binary.error().text() + "\n" + source->text).c_str());
      const codegen::KernelResources& r = binary->kernels[0];
      qInfo("%s: %s: %d registers", name, t->fallback(*large, target).text().c_str(), r.registers);
      QCOMPARE(r.stack_bytes + r.spill_store_bytes + r.spill_load_bytes, int64_t{0});
      QVERIFY(target::occupancy(target.gpu->capability, static_cast<int>(launches->launches[0].threads()), r.registers, launches->launches[0].shared_bytes())
                  .blocks >= 1);
    }
  }

  /// Written by hand: a vector of channels a thread, read or zero as a whole, stored as a whole.
  void channels_last_as_text() {
    const auto dag = te::parse_dag(
        "x: float16[1, 28, 28, 96] = placeholder(activation)\n"
        "w: float16[3, 3, 96, 1] = placeholder(constant)\n"
        "pad: float16[1, 30, 30, 96] = compute(i, j, k, l) \"pad\"\n"
        "    select(1 <= j and j < 29 and 1 <= k and k < 29, x[i, j - 1, k - 1, l], T.float16(0))\n"
        "y: float16[1, 28, 28, 96] = sum(i, j, k, l, r0=3, r1=3) \"depthwise_conv2d_nhwc\"\n"
        "    pad[i, j + r0, k + r1, l // 1] * w[r0, r1, l // 1, l % 1]\n"
        "outputs(y)\n");
    QVERIFY2(dag, dag ? "" : dag.error().text().c_str());
    const space::Template* t = space::fallback_template(**dag, a100());
    QVERIFY(t && std::string_view(t->name) == "depthwise_conv2d_nhwc.cuda");
    const auto source = codegen::cuda_source(lower::lower_and_optimize(t->apply(*dag, a100(), t->fallback(**dag, a100())).value(), "kernel", a100()).value());
    QVERIFY2(source, source ? "" : source.error().text().c_str());
    for (const char* part : {"inside ? *(const ushort4*)&x[", ": ushort4();", "*(const uint4*)&w[", "*(const ushort4*)&pad_shared[", "*(ushort4*)&y["})
      QVERIFY2(source->text.find(part) != std::string::npos, (std::string(part) + "\n" + source->text).c_str());
  }

  /// 16-bit floats on a GPU whose tensor cores no template takes: by every template, and untuned.
  void halves_without_tensor_cores_data() {
    QTest::addColumn<int>("which");
    int k = 0;
    for (const GpuCase& c : gpu_cases()) {
      if (c.dag->ops.back().output->dtype.bits == 16) QTest::newRow(c.name) << k;
      ++k;
    }
  }
  void halves_without_tensor_cores() {
    QFETCH(int, which);
    const GpuCase c = gpu_cases()[static_cast<size_t>(which)];
    const Target t4 = parse_target("cuda:t4").value();
    const auto all = space::alternatives(*c.dag, t4);
    QVERIFY(!all.empty());
    for (const space::Template* t : all) {
      const std::string problem = space::testing::problem_of_points(*t, c.dag, t4, 10, 1);
      QVERIFY2(problem.empty(), problem.c_str());
    }
    const std::string by_rule = space::testing::problem_of(space::default_schedule(c.dag, t4), t4, space::testing::WithReference(c.dag), false);
    QVERIFY2(by_rule.empty(), by_rule.c_str());
  }

  /// What is fetched for many threads goes in vectors, without a barrier on the way.
  void halves_are_fetched_in_vectors() {
    const Target t4 = parse_target("cuda:t4").value();
    for (const te::DagPtr& dag : {gpu_dense16(512, 512, 512), gpu_product16({8, 128, 256}, {8, 256, 128})}) {
      const space::Template* t = space::fallback_template(*dag, t4);
      QVERIFY(t);
      const auto source = codegen::cuda_source(lower::lower_and_optimize(t->apply(dag, t4, t->fallback(*dag, t4)).value(), "kernel", t4).value());
      QVERIFY2(source && occurrences(source->text, "ushort4") + occurrences(source->text, "uint") >= 2, source ? source->text.c_str() : "");
      QVERIFY2(occurrences(source->text, "__syncthreads()") <= 3, source->text.c_str());
    }
  }

  /// 4096 ones in half: a sum that is rounded at each step would stop at 2048.
  void halves_are_summed_up_in_float() {
    const te::DagPtr dag = space::testing::dag_of([](space::testing::Net& n) {
      const int x = n.input({32, 4096}, kFloat16), w = n.weight({2, 4096}, kFloat16);
      return n.op("dense", {x, w});
    });
    const space::Template& t = gpu_template(dag, "dense_large_batch.gpu");
    for (const schedule::Schedule& s : {t.apply(dag, a100(), t.fallback(*dag, a100())).value(), space::rule_schedule(dag, a100(), {}).value()}) {
      const auto func = lower::lower_and_optimize(s, "kernel", a100());
      QVERIFY2(func, func ? "" : func.error().text().c_str());
      std::vector<HostArray> args;
      for (const Dims& shape : {Dims{32, 4096}, Dims{2, 4096}, Dims{32, 2}}) {
        args.push_back(HostArray::make(kFloat16, shape));
        for (int64_t k = 0; k < args.back().num_elements(); ++k) args.back().set(k, 1);
      }
      const auto ran = tir::interpret(*func, args);
      QVERIFY2(ran, ran ? "" : ran.error().text().c_str());
      for (int64_t k = 0; k < 64; ++k) QCOMPARE(args.back().get(k), 4096.0);
      // Registers hold what is computed; bits of a half are made for memory only.
      const auto source = codegen::cuda_source(*func);
      QVERIFY(source && source->text.find("float_to_half(") != std::string::npos);
      for (const char* local : {"dense_local[", "dense_part["})
        for (size_t at = source->text.find(local); at != std::string::npos; at = source->text.find(local, at + 1)) {
          const std::string text = source->text.substr(at, source->text.find('\n', at) - at);
          QVERIFY2(text.find("] = float_to_half(") == std::string::npos, text.c_str());
        }
    }
  }

  /// 2049 ones and 2048 times minus one in half, summed up by two blocks: the first part is no half.
  void parts_of_sums_of_halves_are_floats() {
    constexpr int64_t kTerms = 4128;
    const te::DagPtr dag = space::testing::dag_of([](space::testing::Net& n) {
      const int x = n.input({16, kTerms}, kFloat16), w = n.weight({16, kTerms}, kFloat16);
      return n.op("dense", {x, w});
    });
    const space::Template& t = gpu_template(dag, "gemm.cuda");
    const space::ConfigEntity e = space::point_with(
        t.space(*dag, a100()), {{"channel_threads", 8}, {"channels", 2}, {"pixel_threads", 8}, {"pixels", 2}, {"depth", 16}, {"parts", 2}, {"arrays", 1}});
    QVERIFY(e.index() >= 0);
    const auto func = lower::lower_and_optimize(t.apply(dag, a100(), e).value(), "kernel", a100());
    QVERIFY2(func, func ? "" : func.error().text().c_str());
    std::vector<HostArray> args;
    for (const Dims& shape : {Dims{16, kTerms}, Dims{kTerms, 16}, Dims{16, 16}}) args.push_back(HostArray::make(kFloat16, shape));
    for (int64_t k = 0; k < 16 * kTerms; ++k) {
      const int64_t term = k / 16;  // the weights lie with their channels innermost
      args[0].set(k, 1);
      args[1].set(k, term < 2049 ? 1 : term >= kTerms / 2 && term < kTerms / 2 + 2048 ? -1 : 0);
    }
    const auto ran = tir::interpret(*func, args);
    QVERIFY2(ran, ran ? "" : ran.error().text().c_str());
    for (int64_t k = 0; k < 256; ++k) QCOMPARE(args.back().get(k), 1.0);
  }

  /// Of 128 terms with 16 products each as many as fit 512, which NVRTC compiles in a fraction of the time.
  void long_sums_are_unrolled_in_part() {
    const te::DagPtr dag = gpu_dense(128, 128, 256);
    const space::Template& t = gpu_template(dag, "dense_large_batch.gpu");
    const Dims tile{-1, 1, 8, 4};
    const space::ConfigEntity e = space::point_with(t.space(*dag, a100()), {{"tile_x", tile}, {"tile_y", tile}, {"tile_k", Dims{-1, 32, 4}}});
    QVERIFY(e.index() >= 0);
    const auto func = lower::lower_and_optimize(t.apply(dag, a100(), e).value(), "kernel", a100());
    QVERIFY2(func, func ? "" : func.error().text().c_str());
    const std::string text = tir::print(*func);
    QVERIFY2(text.find("T.unroll(32)") != std::string::npos && text.find("T.unroll(128)") == std::string::npos, text.c_str());
  }

  /// The two values of unroll_explicit are two texts of one program.
  void loops_written_out_data() {
    QTest::addColumn<int>("which");
    int k = 0;
    for (const GpuCase& c : gpu_cases()) {
      const space::ConfigSpace space = gpu_template(c.dag, c.space, c.target()).space(*c.dag, c.target());
      if (std::any_of(space.knobs().begin(), space.knobs().end(), [](const space::Knob& knob) { return knob.name == "unroll_explicit"; }) &&
          c.dag->ops.back().output->dtype == kFloat32)
        QTest::newRow(c.name) << k;
      ++k;
    }
  }
  void loops_written_out() {
    QFETCH(int, which);
    const GpuCase c = gpu_cases()[static_cast<size_t>(which)];
    const Target target = c.target();
    const space::Template& t = gpu_template(c.dag, c.space, target);
    const space::ConfigSpace space = t.space(*c.dag, target);
    Rng rng(5);
    int differ = 0, tries = 0;
    for (int64_t stride = 1; differ == 0 && tries < 200; ++tries) {
      stride = 1;
      for (const space::Knob& knob : space.knobs()) {
        if (knob.name == "unroll_explicit") break;
        stride *= static_cast<int64_t>(knob.candidates.size());
      }
      const space::ConfigEntity one = space.get(static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(space.size())))).value();
      if (one.integer("unroll_explicit") == 0 || one.integer("auto_unroll_max_step") == 0 || !space.filtered_reason(one).empty()) continue;
      std::vector<codegen::CudaSource> sources;
      std::vector<simulate::LaunchFacts> facts;
      for (const int64_t index : {one.index() - stride, one.index()}) {
        const auto func = lower::lower_and_optimize(t.apply(c.dag, target, space.get(index).value()).value(), "kernel", target).value();
        sources.push_back(codegen::cuda_source(func).value());
        facts.push_back(simulate::launch_facts(func).value().front());
      }
      if (sources[0].text == sources[1].text) continue;
      ++differ;
      QVERIFY2(sources[0].text.find("#pragma unroll") != std::string::npos, sources[0].text.c_str());
      QCOMPARE(facts[1].instructions(), facts[0].instructions());
      QCOMPARE(facts[1].code_bytes, facts[0].code_bytes);
      QCOMPARE(facts[1].registers, facts[0].registers);
      if (!codegen::nvrtc_version()) continue;
      const auto marked = codegen::nvrtc_compile(sources[0].text, 80), written = codegen::nvrtc_compile(sources[1].text, 80);
      QVERIFY(marked && written);
      // Which loads are joined, and whether the loop around all is unrolled as well, is the compiler's choice.
      if (occurrences(written->ptx, "bra") != occurrences(marked->ptx, "bra")) {
        --differ;
        continue;
      }
      for (const char* what : {"fma.rn.f32", "mul.f32", "add.f32", "max.f32", "st.global"})
        QVERIFY2(occurrences(written->ptx, what) == occurrences(marked->ptx, what), (what + sources[0].text + sources[1].text).c_str());
    }
    QVERIFY(differ > 0);
  }

  /// Untuned convolutions of ResNet-50 in float16: no register spilled, and in simulation faster than by rule and about as fast as any other template.
  void tensorcore_convolutions_data() {
    QTest::addColumn<QString>("gpu");
    QTest::addColumn<te::DagPtr>("dag");
    for (const char* gpu : {"a100", "h200"})
      for (const int64_t batch : {1, 32})
        for (const auto& [in, out, hw, kernel, stride] : {std::array<int64_t, 5>{3, 64, 224, 7, 2},
                                                          {64, 64, 56, 3, 1},
                                                          {256, 64, 56, 1, 1},
                                                          {128, 128, 56, 3, 2},
                                                          {256, 1024, 14, 1, 1},
                                                          {512, 512, 7, 3, 1}})
          QTest::addRow("%s, %d of %d to %d, %d, %d, %d", gpu, int(batch), int(in), int(out), int(hw), int(kernel), int(stride))
              << gpu << gpu_tensor_conv({batch, in, hw, hw}, {out, in, kernel, kernel}, stride, kernel / 2, kFloat16, true);
  }
  void tensorcore_convolutions() {
    QFETCH(QString, gpu);
    QFETCH(te::DagPtr, dag);
    const Target target = parse_target("cuda:" + gpu.toStdString()).value();
    const space::Template* t = space::fallback_template(*dag, target);
    // 49 places are few for tensor cores: others let blocks share a sum.
    const bool few = dag->ops.back().output->shape == std::vector<int64_t>{1, 512, 7, 7};
    QVERIFY(t && (std::string_view(t->name) == "conv2d_nchw_tensorcore.cuda") != few);
    if (few) return;
    const auto func_of = [&](const schedule::Schedule& s) { return lower::lower_and_optimize(s, "kernel", target).value(); };
    const auto seconds = [&](const tir::Func& f) {
      double sum = 0;
      const std::vector<simulate::LaunchFacts> launches = simulate::launch_facts(f).value();
      for (const simulate::LaunchFacts& l : launches) sum += simulate::kernel_time(l, *target.gpu).total;
      return sum;
    };
    const tir::Func func = func_of(t->apply(dag, target, t->fallback(*dag, target)).value());
    QVERIFY(simulate::check_launches(func, *target.gpu));
    const double here = seconds(func), by_rule = seconds(func_of(space::rule_schedule(dag, target, {}).value()));
    const simulate::LaunchFacts facts = simulate::launch_facts(func)->front();
    qInfo("%s: %.1f us, by rule %.1f us, %.1f TFLOP/s, %s", t->fallback(*dag, target).text().c_str(), here * 1e6, by_rule * 1e6,
          static_cast<double>(te::flops(*dag)) / here / 1e12, simulate::kernel_time(facts, *target.gpu).limiter());
    QVERIFY(here < by_rule);
    for (const space::Template* other : space::alternatives(*dag, target)) {
      const space::ConfigEntity e = other->fallback(*dag, target);
      if (other == t || e.index() < 0) continue;
      const double there = seconds(func_of(other->apply(dag, target, e).value()));
      QVERIFY2(here < 1.2 * there, qPrintable(QString("%1: %2 us").arg(other->name).arg(there * 1e6)));
    }
    if (!codegen::nvrtc_version()) return;
    const auto source = codegen::cuda_source(func);
    const auto binary = codegen::nvrtc_compile(source->text, target.gpu->capability);
    QVERIFY2(binary, binary ? "" : binary.error().text().c_str());
    const codegen::KernelResources& r = binary->kernels[0];
    qInfo("%d registers, estimated %d", r.registers, facts.registers);
    QCOMPARE(r.stack_bytes + r.spill_store_bytes + r.spill_load_bytes, int64_t{0});
    if (qEnvironmentVariableIsSet("TW_PRINT")) qInfo("%s\n%s", source->text.c_str(), tir::print(func).c_str());
  }

  /// By rule a kernel of several stages is one launch.
  void one_launch_data() { points_data(); }
  void one_launch() {
    QFETCH(int, which);
    const GpuCase c = gpu_cases()[static_cast<size_t>(which)];
    if (std::string_view(c.space) != "reductions.cuda" && std::string_view(c.space) != "injective.cuda") return;
    const auto func = lower::lower_and_optimize(space::default_schedule(c.dag, a100()), "kernel", a100());
    QVERIFY(func.has_value());
    const auto launches = tir::split_launches(*func);
    QVERIFY2(launches.has_value(), launches ? "" : launches.error().text().c_str());
    QCOMPARE(launches->launches.size(), size_t{1});
  }

  /// Layers of real networks have a valid point without tuning, for every GPU of the table.
  void fallback_points() {
    const std::pair<te::DagPtr, const char*> rows[] = {{layer(3, 64, 224, 7, 2), "conv2d_nchw.cuda"},
                                                       {layer(64, 64, 56, 3, 1), "conv2d_nchw.cuda"},
                                                       {layer(64, 64, 56, 3, 1), "conv2d_nchw_winograd.cuda"},
                                                       {layer(2048, 512, 7, 1, 1), "conv2d_nchw.cuda"},
                                                       {layer(3, 64, 224, 7, 2), "gemm.cuda"},
                                                       {layer(2048, 512, 7, 1, 1), "gemm.cuda"},
                                                       {gpu_dense(1, 1000, 2048), "dense_small_batch.gpu"},
                                                       {gpu_dense(128, 768, 768), "dense_large_batch.gpu"},
                                                       {gpu_product(12, 128, 128, 64), "batch_matmul.cuda"}};
    for (const target::Gpu& gpu : target::gpu_table())
      for (const auto& [dag, name] : rows) {
        const Target target = gpu_target(gpu);
        const space::Template* t = space::find_template(*dag, target, name);
        QVERIFY2(t, name);
        const space::ConfigEntity e = t->fallback(*dag, target);
        QVERIFY2(e.index() >= 0, name);
        QVERIFY(t->apply(dag, target, e).has_value());
      }
  }
};

QTEST_APPLESS_MAIN(CudaTemplatesTest)
#include "cuda_templates_test.moc"
