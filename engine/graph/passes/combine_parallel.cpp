// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/combine_parallel.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/graph/derived_constants.h"
#include "engine/graph/op.h"
#include "engine/graph/rewrite.h"

namespace tw::graph {

namespace {

/// A constant that varies along dimension `dim` of a rank-`rank` result only, with one value for each of `features`; nothing if it varies elsewhere.
std::optional<HostArray> per_feature(const HostArray& c, size_t rank, size_t dim, int64_t features) {
  if (c.shape.size() > rank) return {};
  const size_t lead = rank - c.shape.size();
  for (size_t d = 0; d < c.shape.size(); ++d)
    if (c.shape[d] != 1 && (lead + d != dim || c.shape[d] != features)) return {};
  std::vector<int64_t> shape(rank - dim, 1);
  shape[0] = features;
  HostArray out = HostArray::make(c.dtype, shape);
  const size_t bytes = static_cast<size_t>(c.dtype.bytes());
  for (int64_t f = 0; f < features; ++f)
    std::memcpy(out.data.data() + static_cast<size_t>(f) * bytes, c.data.data() + (c.num_elements() == 1 ? 0 : static_cast<size_t>(f) * bytes), bytes);
  return out;
}

/// One follower of every branch: the same operator everywhere.
struct Level {
  std::vector<int> nodes;                 ///< per branch
  int constant_slot = -1;                 ///< which operand is constant, -1 for functions of one operand
  std::vector<HostArray> constants = {};  ///< per branch
};

struct Siblings {
  std::vector<int> layers;
  std::vector<Level> levels = {};
};

class Combiner {
 public:
  Combiner(const Graph& g, const ParallelLayers& kind) : g_(g), kind_(kind), consumers_(g.consumers()), is_output_(g.values.size(), false) {
    for (const int v : g.outputs) is_output_[static_cast<size_t>(v)] = true;
  }

  Expected<Graph> run() {
    find_groups();
    Rewriter rewrite(g_);
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      const auto at = group_of_.find(n);
      if (at == group_of_.end()) {
        TW_CHECK(rewrite.copy(g_.nodes[static_cast<size_t>(n)]));
      } else if (const Siblings& s = groups_[at->second]; s.layers[0] == n) {
        rewrite.at(g_.nodes[static_cast<size_t>(n)]);
        TW_CHECK(write(rewrite, s));
      }
    }
    return std::move(rewrite).finish();
  }

 private:
  const Node& node(int n) const { return g_.nodes[static_cast<size_t>(n)]; }
  const TensorType& type(int v) const { return g_.values[static_cast<size_t>(v)].type; }
  const HostArray* constant(int v) const { return v < 0 ? nullptr : g_.values[static_cast<size_t>(v)].constant.get(); }
  size_t weight_dim(const Node& n) const { return kind_.from_end ? type(n.inputs[1]).shape.size() - 1 - kind_.weight_dim : kind_.weight_dim; }
  size_t result_dim(const Node& n) const { return kind_.from_end ? type(n.outputs[0]).shape.size() - 1 - kind_.weight_dim : size_t{1}; }
  int64_t features(const Node& n) const { return type(n.inputs[1]).shape[weight_dim(n)]; }

  bool is_candidate(const Node& n) const {
    return n.op == kind_.op && constant(n.inputs[1]) && !constant(n.inputs[0]) && (n.inputs.size() < 3 || n.inputs[2] < 0 || constant(n.inputs[2])) &&
           (!kind_.fits || kind_.fits(g_, n));
  }

  /// What siblings must agree on: operand, attributes, all extents of the weights but one, having a bias.
  auto signature(const Node& n) const {
    std::vector<int64_t> rest = type(n.inputs[1]).shape;
    rest[weight_dim(n)] = -1;
    return std::tuple(n.inputs[0], n.attrs.values, rest, n.inputs.size() > 2 && n.inputs[2] >= 0);
  }

  void find_groups() {
    std::map<decltype(signature(g_.nodes[0])), std::vector<int>> siblings;
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n)
      if (is_candidate(node(n))) siblings[signature(node(n))].push_back(n);
    for (auto& [key, layers] : siblings) {
      if (layers.size() < 2) continue;
      Siblings s{layers};
      while (add_level(s)) {
      }
      if (!slices_are_free(s)) continue;
      for (const int n : s.layers) group_of_[n] = groups_.size();
      for (const Level& l : s.levels)
        for (const int n : l.nodes) group_of_[n] = groups_.size();
      groups_.push_back(std::move(s));
    }
  }

  int branch_end(const Siblings& s, size_t branch) const { return node(s.levels.empty() ? s.layers[branch] : s.levels.back().nodes[branch]).outputs[0]; }

  /// The next follower of all branches, if they are equal.
  bool add_level(Siblings& s) const {
    Level level;
    for (size_t b = 0; b < s.layers.size(); ++b) {
      const int v = branch_end(s, b);
      const auto& readers = consumers_[static_cast<size_t>(v)];
      if (is_output_[static_cast<size_t>(v)] || readers.size() != 1) return false;
      const Node& n = node(readers[0]);
      const FusionKind fusion = find_op(n.op)->fusion;
      if (n.outputs.size() != 1 || type(n.outputs[0]).shape != type(v).shape) return false;
      int slot = -1;
      if (n.inputs.size() == 2 && fusion == FusionKind::broadcast) {
        slot = n.inputs[0] == v ? 1 : 0;
        const HostArray* c = constant(n.inputs[static_cast<size_t>(slot)]);
        const Node& layer = node(s.layers[b]);
        auto expanded = c ? per_feature(*c, type(v).shape.size(), result_dim(layer), features(layer)) : std::nullopt;
        if (!expanded) return false;
        level.constants.push_back(std::move(*expanded));
      } else if (n.inputs.size() != 1 || fusion != FusionKind::elementwise) {
        return false;
      }
      if (b == 0) level.constant_slot = slot;
      const Node& first = b == 0 ? n : node(level.nodes[0]);
      if (n.op != first.op || !(n.attrs == first.attrs) || slot != level.constant_slot || type(n.outputs[0]).dtype != type(first.outputs[0]).dtype)
        return false;
      level.nodes.push_back(readers[0]);
    }
    s.levels.push_back(std::move(level));
    return true;
  }

  bool slices_are_free(const Siblings& s) const {
    for (size_t b = 0; b < s.layers.size(); ++b) {
      const int v = branch_end(s, b);
      const auto& readers = consumers_[static_cast<size_t>(v)];
      if (is_output_[static_cast<size_t>(v)] || readers.empty()) return false;
      for (const int r : readers)
        if (find_op(node(r).op)->fusion != FusionKind::injective) return false;
    }
    return true;
  }

  Expected<void> write(Rewriter& rewrite, const Siblings& s) const {
    GraphBuilder& b = rewrite.builder();
    const Node& first = node(s.layers[0]);
    const auto gathered = [&](size_t slot, size_t dim) {
      std::vector<HostArray> parts;
      for (const int n : s.layers) parts.push_back(*constant(node(n).inputs[slot]));
      return joined(parts, static_cast<int64_t>(dim));
    };
    std::vector<int> inputs = {rewrite.value(first.inputs[0]), b.constant(first.name + ".weights", gathered(1, weight_dim(first)))};
    if (first.inputs.size() > 2 && first.inputs[2] >= 0) inputs.push_back(b.constant(first.name + ".bias", gathered(2, 0)));
    TW_TRY(std::vector<int> out, b.node(first.op, std::move(inputs), first.attrs, first.name + ".combined"));
    for (const Level& level : s.levels) {
      const Node& n = node(level.nodes[0]);
      std::vector<int> operands = out;
      if (level.constant_slot >= 0) {
        operands.insert(operands.begin() + level.constant_slot, b.constant(n.name + ".constants", joined(level.constants, 0)));
      }
      TW_TRY(out, b.node(n.op, std::move(operands), n.attrs, n.name + ".combined"));
    }
    const std::vector<int64_t> whole = b.graph().values[static_cast<size_t>(out[0])].type.shape;
    int64_t begin = 0;
    for (size_t k = 0; k < s.layers.size(); ++k) {
      const int v = branch_end(s, k);
      std::vector<int64_t> starts(whole.size(), 0);
      starts[result_dim(first)] = begin;
      begin += type(v).shape[result_dim(first)];
      Attrs attrs{{{"starts", starts}, {"steps", std::vector<int64_t>(whole.size(), 1)}, {"sizes", type(v).shape}}};
      const Node& last = node(g_.values[static_cast<size_t>(v)].producer);
      TW_TRY(const std::vector<int> slice, b.node("slice", out, std::move(attrs), last.name));
      b.rename(slice[0], g_.values[static_cast<size_t>(v)].name);
      rewrite.replace(v, slice[0]);
    }
    return {};
  }

  const Graph& g_;
  const ParallelLayers& kind_;
  std::vector<std::vector<int>> consumers_;
  std::vector<bool> is_output_;
  std::vector<Siblings> groups_;
  std::map<int, size_t> group_of_;
};

}  // namespace

Expected<Graph> combine_parallel(const Graph& g, const ParallelLayers& layers) { return Combiner(g, layers).run(); }

}  // namespace tw::graph
