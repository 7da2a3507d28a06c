// SPDX-License-Identifier: Apache-2.0
// Graphs made of any bytes, with indices, types and attributes that no reader would let through: the verifier says so and reads nothing that is not there.
#include <fuzzer/FuzzedDataProvider.h>

#include "engine/graph/op.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace tw;

constexpr int kMost = 6;  ///< of everything that is counted

int index(FuzzedDataProvider& bytes) { return bytes.ConsumeIntegralInRange<int>(-2, 2 * kMost); }

/// Mostly small, at times enormous or negative.
int64_t extent(FuzzedDataProvider& bytes) {
  return bytes.ConsumeIntegralInRange<int>(0, 15) == 0 ? bytes.ConsumeIntegral<int64_t>() : bytes.ConsumeIntegralInRange<int64_t>(0, 4);
}

std::vector<int64_t> integers(FuzzedDataProvider& bytes) {
  std::vector<int64_t> out(bytes.ConsumeIntegralInRange<size_t>(0, kMost));
  for (int64_t& v : out) v = extent(bytes);
  return out;
}

DType dtype(FuzzedDataProvider& bytes) {
  static const DType kTypes[] = {kFloat32, kFloat64, kFloat16, kInt64, kInt32, kInt8, kUInt8, kBool};
  return kTypes[bytes.ConsumeIntegralInRange<size_t>(0, std::size(kTypes) - 1)];
}

graph::AttrValue attribute(FuzzedDataProvider& bytes) {
  switch (bytes.ConsumeIntegralInRange<int>(0, 4)) {
    case 0:
      return extent(bytes);
    case 1:
      return bytes.ConsumeFloatingPoint<double>();
    case 2:
      return bytes.ConsumeRandomLengthString(8);
    case 3:
      return std::vector<double>{bytes.ConsumeFloatingPoint<double>()};
    default:
      return integers(bytes);
  }
}

/// The names under which operators look for attributes.
const char* attribute_name(FuzzedDataProvider& bytes) {
  static const char* const kNames[] = {"axis",    "axes",      "shape",   "perm",           "pads",    "strides",  "dilations",  "groups",
                                       "kernel",  "starts",    "steps",   "sizes",          "mode",    "value",    "repeats",    "to",
                                       "depth",   "k",         "upper",   "keepdims",       "epsilon", "equation", "batch_dims", "reduction",
                                       "largest", "exclusive", "reverse", "output_padding", "size",    "alpha",    "batch_axis", "time_axis"};
  return kNames[bytes.ConsumeIntegralInRange<size_t>(0, std::size(kNames) - 1)];
}

graph::Value value(FuzzedDataProvider& bytes, size_t number) {
  graph::Value v{.name = bytes.ConsumeIntegralInRange<int>(0, 15) == 0 ? "" : "v" + std::to_string(number), .type = {dtype(bytes), integers(bytes)}};
  v.producer = bytes.ConsumeIntegralInRange<int>(-1, kMost);
  if (bytes.ConsumeBool()) return v;
  int64_t elements = 1;
  for (const int64_t d : v.type.shape) {
    if (d < 0 || d > 64) return v;
    elements *= d;
  }
  if (elements > 4096) return v;
  HostArray a = HostArray::make(v.type.dtype, v.type.shape);
  for (int64_t i = 0; i < elements; ++i) a.set(i, bytes.ConsumeIntegralInRange<int>(-4, 4));
  v.constant = std::make_shared<const HostArray>(std::move(a));
  v.producer = bytes.ConsumeIntegralInRange<int>(-1, 0);
  return v;
}

graph::Graph make_graph(FuzzedDataProvider& bytes) {
  graph::Graph g;
  g.name = "g";
  for (size_t i = bytes.ConsumeIntegralInRange<size_t>(0, 2 * kMost); i-- > 0;) g.values.push_back(value(bytes, i));
  const auto ops = graph::operators();
  for (size_t i = bytes.ConsumeIntegralInRange<size_t>(0, kMost); i-- > 0;) {
    graph::Node n{.name = "n" + std::to_string(i), .op = ops[bytes.ConsumeIntegralInRange<size_t>(0, ops.size() - 1)].name};
    for (size_t k = bytes.ConsumeIntegralInRange<size_t>(0, kMost); k-- > 0;) n.inputs.push_back(index(bytes));
    for (size_t k = bytes.ConsumeIntegralInRange<size_t>(0, 2); k-- > 0;) n.outputs.push_back(index(bytes));
    for (size_t k = bytes.ConsumeIntegralInRange<size_t>(0, kMost); k-- > 0;) {
      const char* name = attribute_name(bytes);
      n.attrs.values[name] = attribute(bytes);
    }
    g.nodes.push_back(std::move(n));
  }
  for (size_t k = bytes.ConsumeIntegralInRange<size_t>(0, kMost); k-- > 0;) g.inputs.push_back(index(bytes));
  for (size_t k = bytes.ConsumeIntegralInRange<size_t>(0, kMost); k-- > 0;) g.outputs.push_back(index(bytes));
  return g;
}

/// Gives every node the outputs that inference promises, so that valid graphs are met often.
void complete(graph::Graph& g) {
  for (graph::Value& v : g.values) v.producer = -1;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    graph::Node& n = g.nodes[i];
    for (int& v : n.inputs)
      if (v < -1 || v >= static_cast<int>(g.values.size())) v = -1;
    n.outputs.assign(1, -1);
    const auto types = graph::find_op(n.op)->infer(graph::context_of(g, n));
    n.outputs.clear();
    if (!types) continue;
    for (const graph::TensorType& t : *types) {
      n.outputs.push_back(static_cast<int>(g.values.size()));
      g.values.push_back({.name = "o" + std::to_string(g.values.size()), .type = t, .producer = static_cast<int>(i)});
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider bytes(data, size);
  const bool completed = bytes.ConsumeBool();
  graph::Graph g = make_graph(bytes);
  const auto first = graph::verify(g);
  fuzz::require(first || !first.error().message.empty(), "A sentence about what is wrong", "");
  // Inference relies on types that the verifier has seen.
  if (!completed) return 0;
  graph::Graph only_values = g;
  only_values.nodes.clear();
  only_values.outputs.clear();
  for (graph::Value& v : only_values.values) v.producer = -1;
  if (!graph::verify(only_values)) return 0;
  complete(g);
  const auto second = graph::verify(g);
  if (!second) return 0;
  const std::string text = graph::print(g, INT32_MAX);
  const auto back = graph::parse(text);
  fuzz::require(back.has_value(), "The text of a valid graph is read back", back ? "" : text + back.error().text());
  return 0;
}
