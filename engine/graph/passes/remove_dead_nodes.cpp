// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/remove_dead_nodes.h"

#include "engine/graph/rewrite.h"

namespace tw::graph {

Expected<Graph> remove_dead_nodes(const Graph& g, const Target&) {
  std::vector<bool> needed(g.values.size(), false);
  for (const int v : g.outputs) needed[static_cast<size_t>(v)] = true;
  std::vector<bool> alive(g.nodes.size(), false);
  for (size_t i = g.nodes.size(); i-- > 0;) {
    for (const int v : g.nodes[i].outputs) alive[i] = alive[i] || needed[static_cast<size_t>(v)];
    if (!alive[i]) continue;
    for (const int v : g.nodes[i].inputs)
      if (v >= 0) needed[static_cast<size_t>(v)] = true;
  }
  Rewriter rewrite(g);
  for (size_t i = 0; i < g.nodes.size(); ++i)
    if (alive[i]) TW_CHECK(rewrite.copy(g.nodes[i]));
  return std::move(rewrite).finish();
}

}  // namespace tw::graph
