// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/base/rng.h"
#include "engine/graph/evaluate.h"
#include "engine/graph/graph.h"

/// What the tests of graphs share.
namespace tw::graph::testing {

inline HostArray random_array(const TensorType& t, uint64_t seed, double low = -1, double high = 1) {
  HostArray a = HostArray::make(t.dtype, t.shape);
  Rng rng(seed);
  for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, t.dtype.is_float() ? low + (high - low) * rng.uniform_real() : static_cast<double>(rng.range(0, 1)));
  return a;
}

inline std::map<std::string, HostArray> random_inputs(const Graph& g, uint64_t seed) {
  std::map<std::string, HostArray> inputs;
  for (const int v : g.inputs) inputs.emplace(g.values[static_cast<size_t>(v)].name, random_array(g.values[static_cast<size_t>(v)].type, seed++));
  return inputs;
}

/// Largest difference relative to the largest magnitude of `want`; infinity where shapes differ or a number is missing.
inline double relative_difference(const HostArray& got, const HostArray& want) {
  if (got.shape != want.shape || got.dtype != want.dtype) return INFINITY;
  double largest = 1e-30, difference = 0;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    largest = std::max(largest, std::abs(want.get(i)));
    const double d = got.get(i) == want.get(i) ? 0 : std::abs(got.get(i) - want.get(i));
    if (std::isnan(d)) return INFINITY;
    difference = std::max(difference, d);
  }
  return difference / largest;
}

/// Nodes that apply `op`.
inline int count(const Graph& g, const std::string& op) {
  return static_cast<int>(std::count_if(g.nodes.begin(), g.nodes.end(), [&](const Node& n) { return n.op == op; }));
}

/// The operators of the nodes in order, separated by spaces.
inline std::string operators_of(const Graph& g) {
  std::string out;
  for (const Node& n : g.nodes) out += (out.empty() ? "" : " ") + n.op;
  return out;
}

/// What a rewritten graph lacks to be legal with the same outputs by name and value; empty if nothing.
inline std::string what_differs(const Graph& before, const Graph& after, double tolerance = 1e-5) {
  if (auto ok = verify(after); !ok) return ok.error().text();
  const auto inputs = random_inputs(before, 11);
  const auto want = evaluate(before, inputs).value(), got = evaluate(after, inputs).value();
  for (size_t i = 0; i < want.size(); ++i) {
    const std::string &name = before.values[static_cast<size_t>(before.outputs[i])].name, &now = after.values[static_cast<size_t>(after.outputs[i])].name;
    if (name != now) return "output '" + name + "' is called '" + now + "'";
    if (const double d = relative_difference(got[i], want[i]); d > tolerance) return "output '" + name + "' differs by " + std::to_string(d);
  }
  return {};
}

/// Builds graphs without error handling: the tests' graphs are legal.
struct Net {
  GraphBuilder b{"net"};
  uint64_t seed = 1;

  int input(std::vector<int64_t> shape, const std::string& name = "x") { return b.input(name, {kFloat32, std::move(shape)}); }
  int weight(std::vector<int64_t> shape, double low = -1, double high = 1) {
    return b.constant("w", random_array({kFloat32, std::move(shape)}, seed++, low, high));
  }
  int op(const std::string& name, std::vector<int> inputs, Attrs attrs = {}) { return b.node(name, std::move(inputs), std::move(attrs)).value()[0]; }
  int conv(int x, int64_t in, int64_t out, int64_t kernel = 3, int64_t groups = 1) {
    Attrs a;
    a.values["pads"] = std::vector<int64_t>(4, kernel / 2);
    a.values["groups"] = groups;
    return op("conv2d", {x, weight({out, in / groups, kernel, kernel})}, a);
  }
  int conv_transpose(int x, int64_t in, int64_t out, int64_t groups = 1) {
    Attrs a;
    a.values["strides"] = std::vector<int64_t>{2, 2};
    a.values["groups"] = groups;
    return op("conv2d_transpose", {x, weight({in, out / groups, 3, 3})}, a);
  }
  int batch_norm(int x, int64_t channels) {
    return op("batch_norm", {x, weight({channels}, 0.5, 1.5), weight({channels}), weight({channels}), weight({channels}, 0.5, 1.5)});
  }
  Graph finish(std::vector<int> outputs) {
    for (const int v : outputs) b.output(v);
    return std::move(b).finish();
  }
};

}  // namespace tw::graph::testing
