// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/graph_blocks.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>

#include "engine/base/hash.h"

namespace tw::widgets {
namespace {

struct BlockTexts {
  Q_DECLARE_TR_FUNCTIONS(GraphBlocks)
};

/// A tree of name prefixes before the blocks of no use are left out.
struct Prefix {
  std::string name;
  int parent = -1;
  std::vector<int> nodes;
};

/// What spells a node's blocks: the path of its module, if the model tells any, else its name.
std::vector<std::string> pathsOf(const graph::Graph& graph) {
  const bool modules = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const graph::Node& n) { return !n.origin.module.empty(); });
  std::vector<std::string> paths;
  for (const graph::Node& n : graph.nodes) {
    if (!modules) {
      paths.push_back(n.name);
      continue;
    }
    // What stands in a module is called as the module, and its last part is the node.
    const char separator = n.origin.module.find('/') != std::string::npos ? '/' : '.';
    paths.push_back(n.origin.module.empty() ? std::string() : n.origin.module + separator);
  }
  return paths;
}

std::vector<Prefix> prefixesOf(const graph::Graph& graph) {
  const std::vector<std::string> paths = pathsOf(graph);
  const bool slashes = std::any_of(paths.begin(), paths.end(), [](const std::string& p) { return p.find('/', 1) != std::string::npos; });
  const char separator = slashes ? '/' : '.';
  std::vector<Prefix> prefixes(1);
  std::map<std::string, int> known;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::string& name = paths[i];
    prefixes[0].nodes.push_back(static_cast<int>(i));
    int parent = 0;
    for (size_t end = name.find(separator, 1); end != std::string::npos; end = name.find(separator, end + 1)) {
      const auto [it, fresh] = known.emplace(name.substr(0, end), static_cast<int>(prefixes.size()));
      if (fresh) prefixes.push_back({it->first, parent, {}});
      parent = it->second;
      prefixes[static_cast<size_t>(parent)].nodes.push_back(static_cast<int>(i));
    }
  }
  return prefixes;
}

/// The same for blocks that compute the same: what stands outside counts by its type alone.
uint64_t shapeOf(const graph::Graph& graph, const std::vector<int>& nodes) {
  std::map<int, uint64_t> inside;  // value to its number in the block
  std::string text;
  for (const int n : nodes) {
    const graph::Node& node = graph.nodes[static_cast<size_t>(n)];
    text += node.op + "(";
    for (const int v : node.inputs) {
      const auto it = inside.find(v);
      text += v < 0 ? "-," : it != inside.end() ? "#" + std::to_string(it->second) + "," : graph.values[static_cast<size_t>(v)].type.text() + ",";
    }
    text += ")";
    for (const auto& [name, value] : node.attrs.values) text += name + "=" + attributeText(value).toStdString() + ";";
    for (const int v : node.outputs) {
      inside.emplace(v, inside.size());
      text += graph.values[static_cast<size_t>(v)].type.text() + ",";
    }
    text += "\n";
  }
  return stable_hash(text);
}

}  // namespace

GraphBlocks graphBlocks(const graph::Graph& graph) {
  const std::vector<Prefix> prefixes = prefixesOf(graph);
  GraphBlocks out;
  std::vector<int> blockOfPrefix(prefixes.size(), 0);
  // A prefix that holds one node, or as many as one of those inside it, is left out: opening it would show a single box.
  std::vector<bool> useful(prefixes.size(), true);
  for (size_t p = 1; p < prefixes.size(); ++p) {
    if (prefixes[p].nodes.size() < 2) useful[p] = false;
    if (const int parent = prefixes[p].parent; parent > 0 && prefixes[static_cast<size_t>(parent)].nodes.size() == prefixes[p].nodes.size())
      useful[static_cast<size_t>(parent)] = false;
  }
  out.blocks.push_back({{}, -1, prefixes[0].nodes, 0, 1});
  out.blockOf.assign(graph.nodes.size(), 0);
  std::map<uint64_t, int> first;
  for (size_t p = 1; p < prefixes.size(); ++p) {
    const int parent = blockOfPrefix[static_cast<size_t>(prefixes[p].parent)];
    blockOfPrefix[p] = parent;
    if (!useful[p]) continue;
    const int number = blockOfPrefix[p] = static_cast<int>(out.blocks.size());
    const int like = first.emplace(shapeOf(graph, prefixes[p].nodes), number).first->second;
    out.blocks.push_back({QString::fromStdString(prefixes[p].name), parent, prefixes[p].nodes, like, 1});
    // Those further inside come later and win.
    for (const int n : prefixes[p].nodes) out.blockOf[static_cast<size_t>(n)] = number;
  }
  std::vector<int> alike(out.blocks.size(), 0);
  for (const auto& b : out.blocks) ++alike[static_cast<size_t>(b.like)];
  for (auto& b : out.blocks) b.alike = alike[static_cast<size_t>(b.like)];
  return out;
}

int openBlockAround(const GraphBlocks& blocks, const std::set<int>& open, int node, int box) {
  int b = box >= 0 ? blocks.blocks[static_cast<size_t>(box)].parent : blocks.blockOf[static_cast<size_t>(node)];
  while (b > 0 && !open.contains(b)) b = blocks.blocks[static_cast<size_t>(b)].parent;
  return std::max(b, 0);
}

GraphGrouping groupingOf(const GraphBlocks& blocks, const std::set<int>& open) {
  GraphGrouping grouping;
  const auto isOpen = [&](int block) { return block == 0 || open.contains(block); };
  for (const auto& b : blocks.blocks) grouping.groups.push_back({b.name, -1, b.parent > 0 ? b.parent : -1});
  grouping.groupOf.assign(blocks.blockOf.size(), -1);
  grouping.boxOf.assign(blocks.blockOf.size(), -1);
  std::map<int, int> boxes;
  for (size_t n = 0; n < blocks.blockOf.size(); ++n) {
    // The outermost closed block around the node, if there is one.
    int closed = -1, inside = blocks.blockOf[n];
    for (int b = blocks.blockOf[n]; b > 0; b = blocks.blocks[static_cast<size_t>(b)].parent) {
      if (!isOpen(b)) closed = b;
    }
    if (closed >= 0) {
      const auto& block = blocks.blocks[static_cast<size_t>(closed)];
      const auto [it, fresh] = boxes.emplace(closed, static_cast<int>(grouping.boxes.size()));
      if (fresh) {
        QString inner = BlockTexts::tr("%n operator(s)", nullptr, static_cast<int>(block.nodes.size()));
        if (block.alike > 1) inner += BlockTexts::tr(" · %1 alike").arg(block.alike);
        grouping.boxes.push_back({block.name, inner, closed});
      }
      grouping.boxOf[n] = it->second;
      inside = block.parent;
    }
    grouping.groupOf[n] = inside > 0 ? inside : -1;
  }
  return grouping;
}

}  // namespace tw::widgets
