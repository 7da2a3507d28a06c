// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/graph_layout.h"

#include <algorithm>
#include <numeric>

#include "widgets/graph/layered.h"

namespace tw::widgets {
namespace {

/// Kahn's order by index; edges that close a cycle are reversed so that the rest is acyclic.
std::vector<std::pair<int, int>> acyclicEdges(const LayoutInput& input, std::vector<int>* order) {
  const int n = static_cast<int>(input.sizes.size());
  std::vector<std::vector<int>> next(static_cast<size_t>(n));
  for (const auto& [from, to] : input.edges) {
    if (from != to) next[static_cast<size_t>(from)].push_back(to);
  }
  std::vector<int> state(static_cast<size_t>(n), 0), finished;  // 0 new, 1 on the path, 2 done
  std::vector<std::pair<int, size_t>> path;
  for (int root = 0; root < n; ++root) {
    if (state[static_cast<size_t>(root)] != 0) continue;
    path.emplace_back(root, 0);
    state[static_cast<size_t>(root)] = 1;
    while (!path.empty()) {
      auto& [v, i] = path.back();
      if (i == next[static_cast<size_t>(v)].size()) {
        state[static_cast<size_t>(v)] = 2;
        finished.push_back(v);
        path.pop_back();
        continue;
      }
      const int w = next[static_cast<size_t>(v)][i++];
      if (state[static_cast<size_t>(w)] == 0) {
        state[static_cast<size_t>(w)] = 1;
        path.emplace_back(w, 0);
      }
    }
  }
  order->assign(finished.rbegin(), finished.rend());
  std::vector<int> rank(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) rank[static_cast<size_t>((*order)[static_cast<size_t>(i)])] = i;
  std::vector<std::pair<int, int>> edges;
  for (auto [from, to] : input.edges) {
    if (rank[static_cast<size_t>(from)] > rank[static_cast<size_t>(to)]) std::swap(from, to);
    edges.emplace_back(from, to);
  }
  return edges;
}

/// Longest path from the sources, then boxes without inputs sink to just above their first reader.
std::vector<int> assignLayers(int n, const std::vector<std::pair<int, int>>& edges, const std::vector<int>& order) {
  std::vector<std::vector<int>> next(static_cast<size_t>(n));
  std::vector<int> inputs(static_cast<size_t>(n), 0), layer(static_cast<size_t>(n), 0);
  for (const auto& [from, to] : edges) {
    if (from == to) continue;
    next[static_cast<size_t>(from)].push_back(to);
    ++inputs[static_cast<size_t>(to)];
  }
  for (const int v : order) {
    for (const int w : next[static_cast<size_t>(v)]) layer[static_cast<size_t>(w)] = std::max(layer[static_cast<size_t>(w)], layer[static_cast<size_t>(v)] + 1);
  }
  for (int v = 0; v < n; ++v) {
    if (inputs[static_cast<size_t>(v)] != 0 || next[static_cast<size_t>(v)].empty()) continue;
    int first = layer[static_cast<size_t>(next[static_cast<size_t>(v)][0])];
    for (const int w : next[static_cast<size_t>(v)]) first = std::min(first, layer[static_cast<size_t>(w)]);
    layer[static_cast<size_t>(v)] = first - 1;
  }
  return layer;
}

}  // namespace

std::optional<Layout> layoutGraph(const LayoutInput& input, const LayoutSpacing& spacing, StopToken stop) {
  const int n = static_cast<int>(input.sizes.size());
  Layout result;
  result.boxes.resize(static_cast<size_t>(n));
  result.routes.resize(input.edges.size());
  if (n == 0) return result;
  std::vector<int> order;
  const std::vector<std::pair<int, int>> edges = acyclicEdges(input, &order);
  result.layers = assignLayers(n, edges, order);

  Layered net;
  for (const int v : order) {  // boxes enter their layer in depth-first order, which keeps branches together
    net.addItem(result.layers[static_cast<size_t>(v)], input.sizes[static_cast<size_t>(v)].width(), false, v);
  }
  std::vector<int> item(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) item[static_cast<size_t>(order[static_cast<size_t>(i)])] = i;
  std::vector<std::vector<int>> chains(edges.size());
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto [from, to] = edges[e];
    if (from == to) continue;
    if (stop.stop_requested()) return std::nullopt;
    int last = item[static_cast<size_t>(from)];
    chains[e].push_back(last);
    for (int layer = result.layers[static_cast<size_t>(from)] + 1; layer < result.layers[static_cast<size_t>(to)]; ++layer) {
      const int dummy = net.addItem(layer, spacing.dummy, true, -1);
      net.link(last, dummy);
      chains[e].push_back(last = dummy);
    }
    net.link(last, item[static_cast<size_t>(to)]);
    chains[e].push_back(item[static_cast<size_t>(to)]);
  }
  if (!net.reduceCrossings(8, stop) || !net.placeX(spacing.node, 10, stop)) return std::nullopt;

  std::vector<double> top(static_cast<size_t>(net.layerCount()), 0), height(top);
  for (int v = 0; v < n; ++v) {
    double& h = height[static_cast<size_t>(result.layers[static_cast<size_t>(v)])];
    h = std::max(h, input.sizes[static_cast<size_t>(v)].height());
  }
  for (size_t l = 1; l < top.size(); ++l) top[l] = top[l - 1] + height[l - 1] + spacing.layer;
  for (int v = 0; v < n; ++v) {
    const QSizeF size = input.sizes[static_cast<size_t>(v)];
    const size_t l = static_cast<size_t>(result.layers[static_cast<size_t>(v)]);
    const double x = net.x(item[static_cast<size_t>(v)]);
    result.boxes[static_cast<size_t>(v)] = QRectF(QPointF(x - size.width() / 2, top[l] + (height[l] - size.height()) / 2), size);
    result.bounds |= result.boxes[static_cast<size_t>(v)];
  }
  for (size_t e = 0; e < edges.size(); ++e) {
    if (chains[e].empty()) continue;
    auto& route = result.routes[e];
    const QRectF source = result.boxes[static_cast<size_t>(edges[e].first)], target = result.boxes[static_cast<size_t>(edges[e].second)];
    route.emplace_back(source.center().x(), source.bottom());
    for (size_t i = 1; i + 1 < chains[e].size(); ++i) {
      const double x = net.x(chains[e][i]);
      const size_t l = static_cast<size_t>(net.layerOf(chains[e][i]));
      route.emplace_back(x, top[l]);
      route.emplace_back(x, top[l] + height[l]);
      result.bounds |= QRectF(x - 1, top[l], 2, height[l]);
    }
    route.emplace_back(target.center().x(), target.top());
  }
  return result;
}

}  // namespace tw::widgets
