// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/node_order.h"

#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>

namespace tw::frontends {

namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Graphs inside graphs are not followed further than the importer does, which refuses them.
constexpr int kDeepest = 64;

template <typename Use>
void each_name_read(const onnx::NodeProto& node, const Use& use, int depth = 0) {
  for (const std::string& name : node.input()) use(name);
  if (depth == kDeepest) return;
  const auto inside = [&](const onnx::GraphProto& g) {
    for (const onnx::NodeProto& n : g.node()) each_name_read(n, use, depth + 1);
    for (const onnx::ValueInfoProto& o : g.output()) use(o.name());
  };
  for (const onnx::AttributeProto& a : node.attribute()) {
    if (a.has_g()) inside(a.g());
    for (const onnx::GraphProto& g : a.graphs()) inside(g);
  }
}

}  // namespace

std::vector<const onnx::NodeProto*> in_order(const Nodes& nodes) {
  std::unordered_map<std::string_view, int> makers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& name : nodes[i].output())
      if (!name.empty()) makers.emplace(name, i);
  const auto count = static_cast<size_t>(nodes.size());
  std::vector<std::vector<int>> readers(count);
  std::vector<int> waits_for(count, 0);
  bool is_sorted = true;
  for (int i = 0; i < nodes.size(); ++i)
    each_name_read(nodes[i], [&](const std::string& name) {
      const auto maker = makers.find(name);
      if (maker == makers.end() || maker->second == i) return;
      is_sorted &= maker->second < i;
      readers[static_cast<size_t>(maker->second)].push_back(i);
      ++waits_for[static_cast<size_t>(i)];
    });
  std::vector<const onnx::NodeProto*> order;
  order.reserve(count);
  if (is_sorted) {
    for (const onnx::NodeProto& n : nodes) order.push_back(&n);
    return order;
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (waits_for[static_cast<size_t>(i)] == 0) ready.push(i);
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(&nodes[i]);
    for (const int reader : readers[static_cast<size_t>(i)])
      if (--waits_for[static_cast<size_t>(reader)] == 0) ready.push(reader);
  }
  for (int i = 0; i < nodes.size(); ++i)
    if (waits_for[static_cast<size_t>(i)] > 0) order.push_back(&nodes[i]);
  return order;
}

}  // namespace tw::frontends
