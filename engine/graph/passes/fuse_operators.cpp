// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/fuse_operators.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "engine/base/text.h"
#include "engine/graph/op.h"
#include "engine/graph/to_dag.h"
#include "engine/te/written_size.h"

namespace tw::graph {

namespace {

constexpr int kMaxGroupNodes = 256;

struct Edge {
  int consumer;
  FusionKind kind;
};

/// What fusion sees of the graph. Values that leave it, and nodes with several results, end a group.
struct Flow {
  std::vector<FusionKind> kind;
  std::vector<std::vector<Edge>> out;  ///< per node, one edge per reading operand
  std::vector<bool> external;          ///< something outside the nodes reads the result
  std::vector<bool> cuts, by_place;    ///< reshapes that cut across dimensions; what does other than the same to every element
};

/// Whether a reshape's dimensions cut across those before it: no loops walk through both, and places of one are divisions of the other's.
bool cuts_across(const Graph& g, const Node& n) {
  if (n.op != "reshape") return false;
  std::vector<int64_t> steps;  // between neighbours
  for (const int v : {n.inputs[0], n.outputs[0]}) {
    const std::vector<int64_t>& shape = g.values[static_cast<size_t>(v)].type.shape;
    int64_t step = 1;
    for (size_t d = shape.size(); d-- > 0; step *= shape[d]) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return std::adjacent_find(steps.begin(), steps.end(), [](int64_t a, int64_t b) { return a > 0 && b % a != 0; }) != steps.end();
}

bool computes_by_place(const Graph& g, const Node& n, FusionKind kind) {
  if (kind > FusionKind::broadcast) return n.op != "reshape";
  return std::any_of(n.inputs.begin(), n.inputs.end(), [&](int v) {
    if (v < 0) return false;
    const TensorType& t = g.values[static_cast<size_t>(v)].type;
    return t.num_elements() != 1 && t.shape != g.values[static_cast<size_t>(n.outputs[0])].type.shape;
  });
}

Flow flow_of(const Graph& g) {
  Flow f;
  for (const Node& n : g.nodes) {
    const OpDef* def = find_op(n.op);
    f.kind.push_back(!def || n.outputs.size() != 1 ? FusionKind::opaque : def->fusion);
    f.cuts.push_back(cuts_across(g, n));
    f.by_place.push_back(computes_by_place(g, n, f.kind.back()));
  }
  f.out.resize(g.nodes.size());
  f.external.assign(g.nodes.size(), false);
  for (size_t n = 0; n < g.nodes.size(); ++n)
    for (const int v : g.nodes[n].inputs) {
      if (v < 0 || g.values[static_cast<size_t>(v)].producer < 0) continue;
      FusionKind kind = f.kind[n];
      // A broadcast that leaves this operand's shape alone is elementwise in it.
      if (kind == FusionKind::broadcast && g.values[static_cast<size_t>(v)].type.shape == g.values[static_cast<size_t>(g.nodes[n].outputs[0])].type.shape)
        kind = FusionKind::elementwise;
      f.out[static_cast<size_t>(g.values[static_cast<size_t>(v)].producer)].push_back({static_cast<int>(n), kind});
    }
  for (const int v : g.outputs)
    if (const int n = g.values[static_cast<size_t>(v)].producer; n >= 0) f.external[static_cast<size_t>(n)] = true;
  return f;
}

/// Immediate post-dominators: the first node that every use of a result passes through.
struct PostDominators {
  struct Entry {
    int parent = -1;
    int depth = 1;
    FusionKind kind = FusionKind::opaque;  ///< largest kind of the edges on all paths to the parent
  };
  std::vector<Entry> of;

  /// Common ancestor of two nodes (either may be -1: none). `kind` grows by what is passed on the way.
  int common(int a, int b, FusionKind& kind) const {
    const auto climb = [&](int& n) {
      kind = std::max(kind, of[static_cast<size_t>(n)].kind);
      n = of[static_cast<size_t>(n)].parent;
    };
    while (a != b) {
      if (a < 0 || b < 0) return -1;
      const int da = of[static_cast<size_t>(a)].depth, db = of[static_cast<size_t>(b)].depth;
      if (da >= db) climb(a);
      if (db >= da) climb(b);
    }
    return a;
  }
};

PostDominators post_dominators(const Flow& f) {
  PostDominators tree;
  tree.of.resize(f.kind.size());
  for (size_t n = f.kind.size(); n-- > 0;) {
    if (f.external[n] || f.out[n].empty()) continue;
    PostDominators::Entry e{f.out[n][0].consumer, 1, f.out[n][0].kind};
    for (const Edge& edge : f.out[n]) {
      e.parent = e.parent < 0 ? -1 : tree.common(e.parent, edge.consumer, e.kind);
      e.kind = std::max(e.kind, edge.kind);
    }
    if (e.parent >= 0) e.depth = tree.of[static_cast<size_t>(e.parent)].depth + 1;
    tree.of[n] = e;
  }
  return tree;
}

/// Union-find over nodes. The root's entry describes the group.
class Groups {
 public:
  explicit Groups(const Flow& f) : f_(f), parent_(f.kind.size()), kind_(f.kind), members_(f.kind.size()), anchor_(f.kind.size(), -1) {
    for (size_t n = 0; n < parent_.size(); ++n) {
      parent_[n] = static_cast<int>(n);
      members_[n] = {static_cast<int>(n)};
      if (kind_[n] == FusionKind::out_elementwise_fusable) anchor_[n] = static_cast<int>(n);
    }
  }
  int root(int n) {
    while (parent_[static_cast<size_t>(n)] != n) n = parent_[static_cast<size_t>(n)] = parent_[static_cast<size_t>(parent_[static_cast<size_t>(n)])];
    return n;
  }
  FusionKind kind(int n) { return kind_[static_cast<size_t>(root(n))]; }
  /// The layer of a node's group, or -1.
  int anchor(int n) { return anchor_[static_cast<size_t>(root(n))]; }
  const std::vector<int>& members(int n) { return members_[static_cast<size_t>(root(n))]; }
  int size(int n) { return static_cast<int>(members(n).size()); }

  /// Nodes strictly between `source` and `sink`, and the sink.
  std::set<int> path(int source, int sink) const {
    std::set<int> nodes;
    std::vector<int> todo{source};
    while (!todo.empty()) {
      const int n = todo.back();
      todo.pop_back();
      if (n == sink) continue;
      for (const Edge& e : f_.out[static_cast<size_t>(n)])
        if (nodes.insert(e.consumer).second) todo.push_back(e.consumer);
    }
    return nodes;
  }
  void fuse(int source, int sink, const std::set<int>& path) {
    merge(source, sink);
    for (const int n : path) merge(n, sink);
  }

 private:
  void merge(int child, int into) {
    child = root(child);
    into = root(into);
    if (child == into) return;
    const size_t c = static_cast<size_t>(child), p = static_cast<size_t>(into);
    parent_[c] = into;
    if (members_[c].size() > members_[p].size()) members_[c].swap(members_[p]);
    members_[p].insert(members_[p].end(), members_[c].begin(), members_[c].end());
    members_[c] = {};
    if (anchor_[c] < 0) return;
    TW_ASSERT(anchor_[p] < 0 && kind_[p] <= FusionKind::broadcast, "two anchors in one fused group");
    anchor_[p] = anchor_[c];
    kind_[p] = std::max(kind_[p], kind_[c]);
  }

  const Flow& f_;
  std::vector<int> parent_;
  std::vector<FusionKind> kind_;
  std::vector<std::vector<int>> members_;  ///< per root
  std::vector<int> anchor_;                ///< likewise
};

/// How large the definitions of a kernel are once elementwise ones are written into those that read them.
class Sizes {
 public:
  Sizes(const Graph& g, Groups& groups) : g_(g), groups_(groups), of_(g.values.size()) {}

  /// The largest definition of the kernel that a group and what lies between it and a later node, which is not of it yet, would make; `accept` keeps what was
  /// found. Sizes before `path` stay as they are: nothing of it is read there.
  double largest(int source, int sink, const std::set<int>& path) {
    if (const double least = alone(sink); least > te::kMostWrittenNodes) return least;
    std::set<int> roots{groups_.root(source), groups_.root(sink)}, nodes = path;
    for (const int n : path) roots.insert(groups_.root(n));
    for (const int n : groups_.members(sink))
      if (n > sink) nodes.insert(n);
    found_.clear();
    double most = 0;
    for (const int n : nodes) most = std::max(most, node(n, [&](int producer) { return roots.count(groups_.root(producer)) > 0; }));
    return most;
  }
  void accept() {
    for (auto& [value, size] : found_) of_[static_cast<size_t>(value)] = std::move(size);
  }

 private:
  using Inside = std::function<bool(int producer)>;

  /// What a read of a value stands for, if its node is of the same kernel.
  const te::WrittenSize& value(int v) {
    if (const auto it = found_.find(v); it != found_.end()) return it->second;
    if (of_[static_cast<size_t>(v)].nodes == 0) {  // of a node that is alone so far
      const int producer = g_.values[static_cast<size_t>(v)].producer;
      node(producer, [](int) { return false; });
      for (const int o : g_.nodes[static_cast<size_t>(producer)].outputs) {
        of_[static_cast<size_t>(o)] = std::move(found_.at(o));
        found_.erase(o);
      }
    }
    return of_[static_cast<size_t>(v)];
  }

  /// The largest definition of a node whose operands are all stored.
  double alone(int n) {
    const auto [it, is_new] = alone_.try_emplace(n, 0);
    if (is_new) it->second = node(n, [](int) { return false; });
    return it->second;
  }

  /// Works out what reads of a node's results stand for, into found_. Returns the largest of its definitions.
  double node(int n, const Inside& inside) {
    const Node& node = g_.nodes[static_cast<size_t>(n)];
    for (const int o : node.outputs) found_[o] = te::WrittenSize::stored(g_.values[static_cast<size_t>(o)].type.shape.size());
    const auto made = dag_of(n);
    const auto& dag = *made;
    if (!dag) return 0;  // partition says what is wrong with it
    const te::Dag& d = *dag->dag;
    std::vector<te::WrittenSize> sizes;
    std::unordered_map<const ir::BufferNode*, size_t> op_of;
    double most = 0;
    for (size_t i = 0; i < d.ops.size(); ++i) {
      const te::Op& op = d.ops[i];
      op_of[op.output.get()] = i;
      if (op.is_placeholder()) {
        const int v = dag->inputs[i];
        const int producer = g_.values[static_cast<size_t>(v)].producer;
        sizes.push_back(producer >= 0 && inside(producer) ? value(v) : te::WrittenSize::stored(op.output->shape.size()));
        continue;
      }
      te::WrittenSize size = te::written_size(op, [&](const ir::BufferNode& b) { return sizes[op_of.at(&b)]; });
      most = std::max(most, size.nodes);
      sizes.push_back(op.reducer == te::Reducer::none ? std::move(size) : te::WrittenSize::stored(op.output->shape.size()));
    }
    for (size_t k = 0; k < node.outputs.size(); ++k) found_[node.outputs[k]] = sizes[static_cast<size_t>(d.outputs[k])];
    return most;
  }

  using Made = std::shared_ptr<const Expected<NodesDag>>;
  /// A node of many operands, as what recurrences leave is put together by, is asked about for each of them.
  Made dag_of(int n) {
    constexpr size_t kMany = 16;
    const Node& node = g_.nodes[static_cast<size_t>(n)];
    if (node.inputs.size() < kMany) return std::make_shared<const Expected<NodesDag>>(to_dag(g_, node));
    Made& made = wide_[n];
    if (!made) made = std::make_shared<const Expected<NodesDag>>(to_dag(g_, node));
    return made;
  }

  const Graph& g_;
  Groups& groups_;
  std::map<int, Made> wide_;
  std::map<int, double> alone_;
  std::vector<te::WrittenSize> of_;         ///< per value; no nodes: not worked out yet
  std::map<int, te::WrittenSize> found_;  ///< by the last question
};

/// Whether a group of kind `from` may be merged along edges of kind `dominated` into its post-dominator.
bool may_fuse(Groups& groups, int phase, FusionKind from, FusionKind dominated, int sink, const std::set<int>& path) {
  using K = FusionKind;
  const auto all = [&](K limit, bool with_sink) {
    return std::all_of(path.begin(), path.end(), [&](int n) { return (!with_sink && n == sink) || groups.kind(n) <= limit; });
  };
  switch (from) {
    case K::out_elementwise_fusable:
      return phase == 0 && dominated == K::elementwise && all(K::broadcast, true);
    case K::elementwise:
    case K::broadcast:
      return (dominated <= K::injective || dominated == K::reduction) && all(K::injective, false) && groups.kind(sink) != K::opaque;
    case K::injective:
      return phase == 1 && all(K::injective, true);
    case K::reduction:
    case K::opaque:
      return false;
  }
  return false;
}

struct Fusion {
  Flow flow;
  PostDominators tree;
  Groups groups;
  std::map<int, double> too_large;  ///< nodes that their size alone keeps apart from what reads them, with the size that the kernel would have

  explicit Fusion(const Graph& g) : flow(flow_of(g)), tree(post_dominators(flow)), groups(flow) {
    Sizes sizes(g, groups);
    const auto fuse_all = [&](int phase, bool layers_alone) {
      for (int n = 0; n < static_cast<int>(g.nodes.size()); ++n) {
        if (layers_alone && groups.anchor(n) < 0) continue;
        const auto& [sink, depth, dominated] = tree.of[static_cast<size_t>(n)];
        if (sink < 0 || groups.kind(n) == FusionKind::opaque || groups.root(n) == groups.root(sink) || is_beside(g, n, sink)) continue;
        const std::set<int> path = groups.path(n, sink);
        if (too_many(n, sink, path) || cuts_places(n, sink, path) || !may_fuse(groups, phase, groups.kind(n), dominated, sink, path)) continue;
        if (const double nodes = sizes.largest(n, sink, path); nodes > te::kMostWrittenNodes) {
          too_large[n] = nodes;
          continue;
        }
        sizes.accept();
        groups.fuse(n, sink, path);
      }
    };
    fuse_all(0, true);  // first: what follows a layer is its own, whatever else is computed beside
    fuse_all(0, false);
    fuse_all(1, false);
  }
  Fusion(const Fusion&) = delete;

  /// Whether a node is computed beside the layer of its reader's kernel, in another shape: the layer's schedule has loops of its result alone.
  bool is_beside(const Graph& g, int n, int sink) {
    const int layer = groups.anchor(sink);
    if (layer < 0 || layer == sink || groups.anchor(n) >= 0) return false;
    const auto shape = [&](int node) { return g.values[static_cast<size_t>(g.nodes[static_cast<size_t>(node)].outputs[0])].type.shape; };
    return shape(n) != shape(layer);
  }
  /// Whether a reshape that cuts across dimensions would meet what computes by place; as a kernel of its own it is a view.
  bool cuts_places(int n, int sink, const std::set<int>& path) {
    std::set<int> roots{groups.root(n), groups.root(sink)};
    for (const int p : path) roots.insert(groups.root(p));
    bool cuts = false, places = false;
    for (const int r : roots)
      for (const int m : groups.members(r)) {
        cuts = cuts || flow.cuts[static_cast<size_t>(m)];
        places = places || flow.by_place[static_cast<size_t>(m)];
      }
    return cuts && places;
  }
  bool too_many(int n, int sink, const std::set<int>& path) { return groups.size(n) + groups.size(sink) + static_cast<int>(path.size()) - 1 > kMaxGroupNodes; }

  /// Why node `n` is in another group than its reader.
  std::string reason(const Graph& g, int n) {
    using K = FusionKind;
    const auto name = [&](int node) {
      return fmt::format("'{}' ({})", printable(g.nodes[static_cast<size_t>(node)].name), g.nodes[static_cast<size_t>(node)].op);
    };
    const auto& [sink, depth, dominated] = tree.of[static_cast<size_t>(n)];
    if (flow.external[static_cast<size_t>(n)]) return "the caller reads its result";
    if (g.nodes[static_cast<size_t>(n)].outputs.size() != 1) return "it has several results";
    if (groups.kind(n) == K::opaque) return "it is a kernel of its own";
    if (sink < 0) return "its readers meet in no later node";
    const std::set<int> path = groups.path(n, sink);
    if (const auto it = too_large.find(n); it != too_large.end())
      return fmt::format("with all definitions written where they are read, an expression of the kernel would have {:.6g} parts, more than {:.0f}", it->second,
                         te::kMostWrittenNodes);
    if (too_many(n, sink, path)) return fmt::format("the kernel would hold more than {} operators", kMaxGroupNodes);
    if (cuts_places(n, sink, path)) return "a reshape cuts across dimensions, whose places would be divisions";
    if (groups.kind(n) == K::reduction) return "a reduction ends its kernel";
    for (const int p : path)
      if (groups.kind(p) == K::opaque) return fmt::format("{} is a kernel of its own", name(p));
    const bool layer = groups.kind(n) == K::out_elementwise_fusable;
    if (is_beside(g, n, sink)) return fmt::format("it is computed beside {}, in another shape", name(groups.anchor(sink)));
    if (layer && dominated != K::elementwise) return "a reader is not elementwise in it: it moves, repeats or reduces the result";
    for (const int p : path) {
      const K kind = groups.kind(p);
      if (layer && kind > K::broadcast) return fmt::format("the kernel of {} has a layer already, or moves data", name(p));
      if (kind > K::injective) return fmt::format("{} reads its operands many times: what it reads is computed before", name(p));
    }
    return "their kinds of operators do not fuse";
  }
};

}  // namespace

std::vector<KernelBorder> kernel_borders(const Graph& g) {
  Fusion fusion(g);
  std::vector<KernelBorder> out;
  for (int n = 0; n < static_cast<int>(g.nodes.size()); ++n)
    for (const Edge& e : fusion.flow.out[static_cast<size_t>(n)])
      if (fusion.groups.root(n) != fusion.groups.root(e.consumer)) out.push_back({n, e.consumer, fusion.reason(g, n)});
  return out;
}

Expected<Graph> fuse_operators(const Graph& g, const Target&) {
  Fusion fusion(g);
  Groups& groups = fusion.groups;
  // Numbered by their last nodes: all uses of a group's values from outside come after it.
  std::vector<int> last(g.nodes.size(), -1), number(g.nodes.size(), -1);
  for (int n = 0; n < static_cast<int>(g.nodes.size()); ++n) last[static_cast<size_t>(groups.root(n))] = n;
  Graph out = g;
  int count = 0;
  for (int n = 0; n < static_cast<int>(g.nodes.size()); ++n)
    if (last[static_cast<size_t>(groups.root(n))] == n) number[static_cast<size_t>(groups.root(n))] = count++;
  for (int n = 0; n < static_cast<int>(g.nodes.size()); ++n) out.nodes[static_cast<size_t>(n)].group = number[static_cast<size_t>(groups.root(n))];
  return out;
}

}  // namespace tw::graph
