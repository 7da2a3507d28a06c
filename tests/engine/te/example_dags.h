// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/te/dag.h"

/// Dags of every shape that the text form and the interpreters must carry.
namespace tw::te {

inline DagPtr conv_bias_relu(int64_t n, int64_t ci, int64_t hw, int64_t co, DType t = kFloat32) {
  using namespace ir;
  DagBuilder b;
  const Tensor data = b.placeholder("data", {n, ci, hw, hw}, t);
  const Tensor weight = b.placeholder("weight", {co, ci, 3, 3}, t, Role::constant);
  const Tensor bias = b.placeholder("bias", {co}, t, Role::constant);
  const Tensor pad = b.compute("pad", {n, ci, hw + 2, hw + 2},
                               [&](const Indices& i) {
                                 const Expr inside = index(1) <= i[2] && i[2] < index(hw + 1) && index(1) <= i[3] && i[3] < index(hw + 1);
                                 return select(inside, data(i[0], i[1], i[2] - 1, i[3] - 1), zero(t));
                               },
                               "pad", {{"pads", {1, 1}}});
  const Tensor conv = b.reduce("conv", {n, co, hw, hw}, {ci, 3, 3}, Reducer::sum,
                               [&](const Indices& i, const Indices& r) { return pad(i[0], r[0], i[2] + r[1], i[3] + r[2]) * weight(i[1], r[0], r[1], r[2]); },
                               "conv2d", {{"strides", {1, 1}}, {"pads", {1, 1}}});
  const Tensor relu = b.compute("relu", conv.shape(), [&](const Indices& i) { return max(conv.at(i) + bias(i[1]), zero(t)); });
  return std::move(b).finish({relu});
}

inline DagPtr softmax(int64_t rows, int64_t columns) {
  using namespace ir;
  DagBuilder b;
  const Tensor x = b.placeholder("x", {rows, columns}, kFloat32);
  const Tensor top = b.reduce("top", {rows}, {columns}, Reducer::max, [&](const Indices& i, const Indices& r) { return x(i[0], r[0]); });
  const Tensor e = b.compute("e", {rows, columns}, [&](const Indices& i) { return call(Intrinsic::exp, {x.at(i) - top(i[0])}); });
  const Tensor total = b.reduce("total", {rows}, {columns}, Reducer::sum, [&](const Indices& i, const Indices& r) { return e(i[0], r[0]); });
  const Tensor y = b.compute("y", {rows, columns}, [&](const Indices& i) { return e.at(i) / total(i[0]); });
  return std::move(b).finish({y});
}

/// Rows of a table chosen by an array of indices.
inline DagPtr gather() {
  DagBuilder b;
  const Tensor table = b.placeholder("table", {10, 4}, kFloat16, Role::constant);
  const Tensor ids = b.placeholder("ids", {3}, kInt64);
  const Tensor y = b.compute(
      "y", {3, 4},
      [&](const Indices& i) {
        return table.at({ids(i[0]), i[1]});
      },
      "gather");
  return std::move(b).finish({y});
}

/// Two outputs, one of them a scalar, one feeding the other.
inline DagPtr mean_and_centre(int64_t n) {
  using namespace ir;
  DagBuilder b;
  const Tensor x = b.placeholder("x", {n}, kFloat64);
  const Tensor sum = b.reduce("sum", {}, {n}, Reducer::sum, [&](const Indices&, const Indices& r) { return x(r[0]); });
  const Tensor mean = b.compute("mean", {}, [&](const Indices&) { return sum() / fimm(kFloat64, static_cast<double>(n)); });
  const Tensor centred = b.compute("centred", {n}, [&](const Indices& i) { return x.at(i) - mean(); });
  return std::move(b).finish({mean, centred});
}

/// Integers, comparisons and a max over bools.
inline DagPtr any_above() {
  using namespace ir;
  DagBuilder b;
  const Tensor x = b.placeholder("x", {3, 5}, kInt8);
  const Tensor above = b.compute("above", {3, 5}, [&](const Indices& i) { return imm(kInt8, 3) < x.at(i); });
  const Tensor any = b.reduce("any", {3}, {5}, Reducer::max, [&](const Indices& i, const Indices& r) { return above(i[0], r[0]); });
  const Tensor product = b.reduce("product", {3}, {5}, Reducer::prod, [&](const Indices& i, const Indices& r) { return x(i[0], r[0]); });
  return std::move(b).finish({any, product});
}

inline std::vector<std::pair<const char*, DagPtr>> example_dags() {
  return {{"conv", conv_bias_relu(1, 3, 5, 4)}, {"conv16", conv_bias_relu(2, 2, 4, 3, kFloat16)},
          {"softmax", softmax(4, 8)},           {"gather", gather()},
          {"mean", mean_and_centre(6)},         {"any", any_above()}};
}

}  // namespace tw::te
