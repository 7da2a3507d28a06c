// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/quantised.h"

#include <algorithm>
#include <cmath>

namespace tw::graph {

namespace {

const HostArray* constant(const Graph& g, int v) { return v < 0 ? nullptr : g.values[static_cast<size_t>(v)].constant.get(); }
bool is_rounded(const Graph& g, int v) { return made_by(g, v, "round") || made_by(g, v, "floor") || made_by(g, v, "ceil") || made_by(g, v, "trunc"); }

}  // namespace

const Node* made_by(const Graph& g, int v, std::string_view op) {
  const int producer = v < 0 ? -1 : g.values[static_cast<size_t>(v)].producer;
  if (producer < 0) return nullptr;
  const Node& n = g.nodes[static_cast<size_t>(producer)];
  return n.op == op && n.outputs.size() == 1 ? &n : nullptr;
}

bool is_whole(double v) { return std::isfinite(v) && v == std::floor(v); }

std::optional<WholeRange> whole_range(const HostArray& a) {
  if (a.num_elements() == 0) return {};
  WholeRange r{a.get(0), a.get(0)};
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    if (!is_whole(a.get(i))) return {};
    r = {std::min(r.low, a.get(i)), std::max(r.high, a.get(i))};
  }
  return r;
}

std::optional<Shifted> shifted(const Graph& g, int v) {
  if (const Node* n = made_by(g, v, "add")) {
    if (const HostArray* c = constant(g, n->inputs[1])) return Shifted{n->inputs[0], c};
    if (const HostArray* c = constant(g, n->inputs[0])) return Shifted{n->inputs[1], c};
  }
  if (const Node* n = made_by(g, v, "sub"))
    if (const HostArray* c = constant(g, n->inputs[1])) return Shifted{n->inputs[0], c, true};
  return {};
}

std::optional<WholeRange> quantised_range(const Graph& g, int v) {
  const Node* clip = made_by(g, v, "clip");
  if (!clip || !g.values[static_cast<size_t>(v)].type.dtype.is_float()) return {};
  const WholeRange r{clip->attrs.real("min", -HUGE_VAL), clip->attrs.real("max", HUGE_VAL)};
  if (!is_whole(r.low) || !is_whole(r.high) || r.low > r.high) return {};
  if (is_rounded(g, clip->inputs[0])) return r;
  const auto moved = shifted(g, clip->inputs[0]);
  return moved && is_rounded(g, moved->data) && whole_range(*moved->by) ? std::optional(r) : std::nullopt;
}

}  // namespace tw::graph
