// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/te/attrs.h"
#include "engine/te/dag.h"

/// Small computations of the kinds that networks have, most with extents that no factor divides.
namespace tw::testing {

struct NamedDag {
  const char* name;
  te::DagPtr dag;
};

namespace dags {

using te::Indices;
using te::Reducer;
using te::Role;
using te::Tensor;

inline ir::Expr zero() { return ir::fimm(kFloat32, 0); }
inline ir::Expr number(double x) { return ir::fimm(kFloat32, x); }

/// Element by element.
inline Tensor map(te::DagBuilder& b, const char* name, const Tensor& x, const std::function<ir::Expr(const ir::Expr&)>& f) {
  return b.compute(name, x.shape(), [&](const Indices& i) { return f(x.at(i)); });
}
inline Tensor relu(te::DagBuilder& b, const Tensor& x) {
  return map(b, "relu", x, [](const ir::Expr& e) { return ir::max(e, zero()); });
}
/// c[i, j] = sum over k of a[i, k] * w[k, j]
inline Tensor product(te::DagBuilder& b, const Tensor& a, const Tensor& w, const char* name = "matmul") {
  return b.reduce(name, {a.shape()[0], w.shape()[1]}, {a.shape()[1]}, Reducer::sum,
                  [&](const Indices& s, const Indices& r) { return a(s[0], r[0]) * w(r[0], s[1]); });
}
/// Rounds two last axes of an image up by a border of zeros, channels first.
inline Tensor pad(te::DagBuilder& b, const Tensor& x, int64_t border) {
  std::vector<int64_t> shape = x.shape();
  const size_t h = shape.size() - 2, w = shape.size() - 1;
  const int64_t rows = shape[h], columns = shape[w];
  shape[h] += 2 * border;
  shape[w] += 2 * border;
  return b.compute(
      "pad", shape,
      [&](const Indices& i) {
        Indices from = i;
        from[h] = i[h] - border;
        from[w] = i[w] - border;
        const ir::Expr inside = (ir::index(border) <= i[h] && i[h] < ir::index(rows + border)) && (ir::index(border) <= i[w] && i[w] < ir::index(columns + border));
        return ir::select(inside, x.at(from), zero());
      },
      "pad");
}
inline Tensor conv2d(te::DagBuilder& b, const Tensor& x, const Tensor& w, int64_t stride) {
  const int64_t taps = w.shape()[2], rows = (x.shape()[2] - taps) / stride + 1, columns = (x.shape()[3] - w.shape()[3]) / stride + 1;
  return b.reduce(
      "conv2d", {x.shape()[0], w.shape()[0], rows, columns}, {w.shape()[1], taps, w.shape()[3]}, Reducer::sum,
      [&](const Indices& s, const Indices& r) { return x(s[0], r[0], s[2] * stride + r[1], s[3] * stride + r[2]) * w(s[1], r[0], r[1], r[2]); }, "conv2d");
}

inline te::DagPtr dense_relu() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {7, 10}, kFloat32), w = b.placeholder("w", {9, 10}, kFloat32, Role::constant);
  const Tensor d = b.reduce(
      "dense", {7, 9}, {10}, Reducer::sum, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  return std::move(b).finish({relu(b, d)});
}
inline te::DagPtr conv_bias_add() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {1, 4, 6, 7}, kFloat32), w = b.placeholder("w", {8, 4, 3, 3}, kFloat32, Role::constant);
  const Tensor bias = b.placeholder("bias", {8}, kFloat32, Role::constant), res = b.placeholder("res", {1, 8, 6, 7}, kFloat32);
  const Tensor c = conv2d(b, pad(b, x, 1), w, 1);
  const Tensor a = b.compute("bias_add", {1, 8, 6, 7}, [&](const Indices& i) { return c.at(i) + bias(i[1]); });
  return std::move(b).finish({b.compute("add", {1, 8, 6, 7}, [&](const Indices& i) { return a.at(i) + res.at(i); })});
}
inline te::DagPtr softmax(int64_t rows = 5, int64_t columns = 13) {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {rows, columns}, kFloat32);
  const Tensor m = b.reduce("max", {rows}, {columns}, Reducer::max, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]); });
  const Tensor e = b.compute("exp", {rows, columns}, [&](const Indices& i) { return ir::call(ir::Intrinsic::exp, {x.at(i) - m(i[0])}); });
  const Tensor t = b.reduce("sum", {rows}, {columns}, Reducer::sum, [&](const Indices& s, const Indices& r) { return e(s[0], r[0]); });
  return std::move(b).finish({b.compute("softmax", {rows, columns}, [&](const Indices& i) { return e.at(i) / t(i[0]); })});
}
inline te::DagPtr transpose_reshape() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {3, 11, 2}, kInt32);
  const Tensor t = b.compute("transpose", {2, 3, 11}, [&](const Indices& i) { return x(i[1], i[2], i[0]); });
  const Tensor y = b.compute("reshape", {6, 11}, [&](const Indices& i) {
    return t(ir::floor_div(i[0], ir::index(3)), ir::floor_mod(i[0], ir::index(3)), i[1]) * ir::imm(kInt32, 3);
  });
  return std::move(b).finish({y});
}
inline te::DagPtr relu_pool() {
  te::DagBuilder b;
  const Tensor r = relu(b, b.placeholder("x", {1, 3, 9, 9}, kFloat32));
  return std::move(b).finish({b.reduce("max_pool", {1, 3, 4, 4}, {3, 3}, Reducer::max,
                                       [&](const Indices& s, const Indices& k) { return r(s[0], s[1], s[2] * 2 + k[0], s[3] * 2 + k[1]); })});
}
inline te::DagPtr gather() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {6, 8}, kFloat32), n = b.placeholder("n", {5}, kInt64);
  return std::move(b).finish({b.compute("gather", {5, 8}, [&](const Indices& i) { return x(ir::max(ir::index(0), ir::min(n(i[0]), ir::index(5))), i[1]); })});
}
inline te::DagPtr matmul(int64_t m, int64_t n, int64_t k, bool with_relu = false) {
  te::DagBuilder b;
  const Tensor c = product(b, b.placeholder("a", {m, k}, kFloat32), b.placeholder("w", {k, n}, kFloat32));
  return std::move(b).finish({with_relu ? relu(b, c) : c});
}
inline te::DagPtr two_products(int64_t m, int64_t n, int64_t k, int64_t l) {
  te::DagBuilder b;
  const Tensor c = product(b, b.placeholder("a", {m, k}, kFloat32), b.placeholder("w", {k, n}, kFloat32), "first");
  return std::move(b).finish({product(b, c, b.placeholder("v", {n, l}, kFloat32), "second")});
}
inline te::DagPtr batch_matmul() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {3, 6, 8}, kFloat32), y = b.placeholder("y", {3, 10, 8}, kFloat32);
  return std::move(b).finish({b.reduce("batch_matmul", {3, 6, 10}, {8}, Reducer::sum,
                                       [&](const Indices& s, const Indices& r) { return x(s[0], s[1], r[0]) * y(s[0], s[2], r[0]); })});
}
/// Channels last, with a border and what follows convolutions.
inline te::DagPtr conv_nhwc(int64_t channels = 8, int64_t filters = 16, int64_t size = 6) {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {1, size, size, channels}, kFloat32), w = b.placeholder("w", {3, 3, channels, filters}, kFloat32, Role::constant);
  const Tensor bias = b.placeholder("bias", {filters}, kFloat32, Role::constant);
  const Tensor p = b.compute("pad", {1, size + 2, size + 2, channels}, [&](const Indices& i) {
    const ir::Expr inside = (ir::index(1) <= i[1] && i[1] < ir::index(size + 1)) && (ir::index(1) <= i[2] && i[2] < ir::index(size + 1));
    return ir::select(inside, x(i[0], i[1] - 1, i[2] - 1, i[3]), zero());
  });
  const Tensor c = b.reduce("conv2d", {1, size, size, filters}, {3, 3, channels}, Reducer::sum, [&](const Indices& s, const Indices& r) {
    return p(s[0], s[1] + r[0], s[2] + r[1], r[2]) * w(r[0], r[1], r[2], s[3]);
  });
  const Tensor a = b.compute("bias_add", c.shape(), [&](const Indices& i) { return c.at(i) + bias(i[3]); });
  return std::move(b).finish({relu(b, a)});
}
inline te::DagPtr depthwise() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {1, 6, 8, 8}, kFloat32), w = b.placeholder("w", {6, 3, 3}, kFloat32, Role::constant);
  const Tensor p = pad(b, x, 1);
  const Tensor c = b.reduce("depthwise", {1, 6, 8, 8}, {3, 3}, Reducer::sum,
                            [&](const Indices& s, const Indices& r) { return p(s[0], s[1], s[2] + r[0], s[3] + r[1]) * w(s[1], r[0], r[1]); });
  return std::move(b).finish({relu(b, c)});
}
inline te::DagPtr grouped_conv() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {2, 4, 7}, kFloat32), w = b.placeholder("w", {6, 2, 3}, kFloat32, Role::constant);
  return std::move(b).finish({b.reduce("conv1d", {2, 6, 5}, {2, 3}, Reducer::sum, [&](const Indices& s, const Indices& r) {
    return x(s[0], ir::floor_div(s[1], ir::index(3)) * 2 + r[0], s[2] + r[1]) * w(s[1], r[0], r[1]);
  })});
}
inline te::DagPtr strided_conv() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {1, 3, 9, 9}, kFloat32), w = b.placeholder("w", {4, 3, 3, 3}, kFloat32, Role::constant);
  return std::move(b).finish({conv2d(b, x, w, 2)});
}
inline te::DagPtr conv3d() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {1, 2, 4, 5, 5}, kFloat32), w = b.placeholder("w", {4, 2, 2, 2, 2}, kFloat32, Role::constant);
  return std::move(b).finish({b.reduce("conv3d", {1, 4, 3, 4, 4}, {2, 2, 2, 2}, Reducer::sum, [&](const Indices& s, const Indices& r) {
    return x(s[0], r[0], s[2] + r[1], s[3] + r[2], s[4] + r[3]) * w(s[1], r[0], r[1], r[2], r[3]);
  })});
}
inline te::DagPtr row_min(int64_t rows = 12, int64_t columns = 64) {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {rows, columns}, kFloat32);
  return std::move(b).finish({b.reduce("min", {rows}, {columns}, Reducer::min, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]); })});
}
inline te::DagPtr sum_of_all(int64_t count = 128) {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {count}, kFloat32);
  return std::move(b).finish({b.reduce("sum", {}, {count}, Reducer::sum, [&](const Indices&, const Indices& r) { return x(r[0]); })});
}
inline te::DagPtr norm(int64_t rows = 4, int64_t columns = 7) {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {rows, columns, columns}, kFloat32);
  const Tensor s =
      b.reduce("squares", {rows}, {columns, columns}, Reducer::sum, [&](const Indices& i, const Indices& r) { return x(i[0], r[0], r[1]) * x(i[0], r[0], r[1]); });
  return std::move(b).finish({map(b, "root", s, [](const ir::Expr& e) { return ir::call(ir::Intrinsic::sqrt, {e}); })});
}
inline te::DagPtr layer_norm() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {6, 40}, kFloat32), gamma = b.placeholder("gamma", {40}, kFloat32), beta = b.placeholder("beta", {40}, kFloat32);
  const Tensor s = b.reduce("sum", {6}, {40}, Reducer::sum, [&](const Indices& i, const Indices& r) { return x(i[0], r[0]); });
  const Tensor q = b.reduce("squares", {6}, {40}, Reducer::sum, [&](const Indices& i, const Indices& r) { return x(i[0], r[0]) * x(i[0], r[0]); });
  return std::move(b).finish({b.compute("norm", {6, 40}, [&](const Indices& i) {
    const ir::Expr mean = s(i[0]) * number(1.0 / 40);
    return (x.at(i) - mean) * ir::call(ir::Intrinsic::rsqrt, {q(i[0]) * number(1.0 / 40) - mean * mean + number(1)}) * gamma(i[1]) + beta(i[1]);
  })});
}
inline te::DagPtr outer_product() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {12}, kFloat32), y = b.placeholder("y", {10}, kFloat32);
  return std::move(b).finish({b.compute("outer", {12, 10}, [&](const Indices& i) { return x(i[0]) * y(i[1]); })});
}
inline te::DagPtr gelu_of_product() {
  te::DagBuilder b;
  const Tensor c = product(b, b.placeholder("a", {6, 12}, kFloat32), b.placeholder("w", {12, 16}, kFloat32));
  const Tensor t = map(b, "erf", c, [](const ir::Expr& e) { return ir::call(ir::Intrinsic::erf, {e * number(0.70710678)}); });
  return std::move(b).finish({b.compute("gelu", c.shape(), [&](const Indices& i) { return c.at(i) * (t.at(i) + number(1)) * number(0.5); })});
}
inline te::DagPtr broadcast_add() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {4, 1, 9}, kFloat32), y = b.placeholder("y", {5, 1}, kFloat32);
  return std::move(b).finish({relu(b, b.compute("add", {4, 5, 9}, [&](const Indices& i) { return x(i[0], ir::index(0), i[2]) + y(i[1], ir::index(0)); }))});
}
inline te::DagPtr concat() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {3, 4}, kFloat32), y = b.placeholder("y", {3, 5}, kFloat32);
  return std::move(b).finish({b.compute("concat", {3, 9}, [&](const Indices& i) {
    return ir::select(i[1] < ir::index(4), x(i[0], ir::min(i[1], ir::index(3))), y(i[0], ir::max(i[1] - 4, ir::index(0))));
  })});
}
/// One row by a matrix, and a bias and an activation over it; the bias names the row by its number, as broadcasting does.
inline te::DagPtr row_with_bias() {
  te::DagBuilder b;
  const Tensor a = b.placeholder("a", {1, 24}, kFloat32), w = b.placeholder("w", {40, 24}, kFloat32, Role::constant), c = b.placeholder("c", {40}, kFloat32, Role::constant);
  const Tensor y = b.reduce("dense", {1, 40}, {24}, Reducer::sum, [&](const Indices& s, const Indices& r) { return a(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  return std::move(b).finish({relu(b, b.compute("bias", {1, 40}, [&](const Indices& i) { return y(ir::index(0), i[1]) + c(i[1]); }))});
}
inline te::DagPtr matrix_vector() {
  te::DagBuilder b;
  const Tensor a = b.placeholder("a", {1, 32}, kFloat32), w = b.placeholder("w", {10, 32}, kFloat32, Role::constant);
  return std::move(b).finish({b.reduce("dense", {1, 10}, {32}, Reducer::sum, [&](const Indices& s, const Indices& r) { return a(s[0], r[0]) * w(s[1], r[0]); })});
}
inline te::DagPtr two_outputs() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {6, 8}, kFloat32);
  const Tensor r = relu(b, x);
  const Tensor s = b.reduce("sum", {6}, {8}, Reducer::sum, [&](const Indices& i, const Indices& k) { return r(i[0], k[0]); });
  return std::move(b).finish({r, s});
}
/// Read by two products whose results are added.
inline te::DagPtr shared_operand() {
  te::DagBuilder b;
  const Tensor t = relu(b, b.placeholder("x", {6, 8}, kFloat32));
  const Tensor p = product(b, t, b.placeholder("v", {8, 10}, kFloat32), "left"), q = product(b, t, b.placeholder("w", {8, 10}, kFloat32), "right");
  return std::move(b).finish({b.compute("add", {6, 10}, [&](const Indices& i) { return p.at(i) + q.at(i); })});
}
inline te::DagPtr integers() {
  te::DagBuilder b;
  const Tensor a = b.placeholder("a", {6, 16}, kInt32), w = b.placeholder("w", {16, 12}, kInt32);
  const Tensor c = product(b, a, w);
  return std::move(b).finish({b.compute("clip", {6, 12}, [&](const Indices& i) { return ir::min(ir::max(c.at(i), ir::imm(kInt32, 0)), ir::imm(kInt32, 99)); })});
}
/// Rows through two small constant matrices, as the transforms of Winograd's convolution; what is multiplied is cheap to compute.
inline te::DagPtr small_transforms() {
  te::DagBuilder b;
  const Tensor x = b.placeholder("x", {4, 4, 12}, kFloat32);
  const Tensor t = map(b, "twice", x, [](const ir::Expr& e) { return e * number(2); });
  const auto constant = [](const ir::Expr& i, const ir::Expr& k) { return ir::select(ir::equal(i, k), number(1), ir::select(i < k, number(-0.5), zero())); };
  return std::move(b).finish({b.reduce(
      "transform", {3, 3, 12}, {4, 4}, Reducer::sum,
      [&](const Indices& s, const Indices& r) { return constant(s[0], r[0]) * constant(s[1], r[1]) * t(r[0], r[1], s[2]); }, "reduce",
      {{te::kConstTensorLoops, {0, 1, 3, 4}}})});
}

}  // namespace dags

inline std::vector<NamedDag> sample_dags() {
  return {{"dense_relu", dags::dense_relu()},
          {"conv_bias_add", dags::conv_bias_add()},
          {"softmax", dags::softmax()},
          {"transpose_reshape", dags::transpose_reshape()},
          {"relu_pool", dags::relu_pool()},
          {"gather", dags::gather()},
          {"matmul", dags::matmul(8, 12, 6)},
          {"matmul_relu", dags::matmul(16, 32, 8, true)},
          {"small_matmul", dags::matmul(4, 4, 64)},
          {"two_products", dags::two_products(6, 8, 10, 12)},
          {"batch_matmul", dags::batch_matmul()},
          {"conv_nhwc", dags::conv_nhwc()},
          {"depthwise", dags::depthwise()},
          {"grouped_conv", dags::grouped_conv()},
          {"strided_conv", dags::strided_conv()},
          {"conv3d", dags::conv3d()},
          {"row_min", dags::row_min()},
          {"sum_of_all", dags::sum_of_all()},
          {"norm", dags::norm()},
          {"wide_softmax", dags::softmax(4, 40)},
          {"layer_norm", dags::layer_norm()},
          {"outer_product", dags::outer_product()},
          {"gelu_of_product", dags::gelu_of_product()},
          {"broadcast_add", dags::broadcast_add()},
          {"concat", dags::concat()},
          {"row_with_bias", dags::row_with_bias()},
          {"matrix_vector", dags::matrix_vector()},
          {"two_outputs", dags::two_outputs()},
          {"shared_operand", dags::shared_operand()},
          {"integers", dags::integers()},
          {"small_transforms", dags::small_transforms()}};
}

}  // namespace tw::testing
