// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/sink_transposes.h"

#include <algorithm>

#include "engine/graph/op.h"
#include "engine/graph/passes/constants.h"
#include "engine/graph/rewrite.h"

namespace tw::graph {

namespace {

using Dims = std::vector<int64_t>;

size_t from_front(int64_t axis, size_t rank) { return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis); }

/// Elements that all transpositions of a graph move; those that only move dimensions of extent 1 move none.
int64_t moved_elements(const Graph& g) {
  int64_t moved = 0;
  for (const Node& n : g.nodes) {
    if (n.op != "transpose") continue;
    const TensorType& x = g.values[static_cast<size_t>(n.inputs[0])].type;
    Dims order = permutation(n.attrs, x.shape.size());
    std::erase_if(order, [&](int64_t d) { return x.shape[static_cast<size_t>(d)] == 1; });
    if (!std::is_sorted(order.begin(), order.end())) moved += x.num_elements();
  }
  return moved;
}

class Sinker {
 public:
  /// Without `sink` transpositions only join those that follow at once.
  Sinker(const Graph& g, bool sink) : g_(g), sink_(sink), rewrite_(g), turned_(g.values.size()) {}

  Expected<Graph> run() {
    return std::move(rewrite_).run([this](const Node& n) { return rewrite(n); }, [this](int v) { return materialise(v); });
  }

 private:
  /// A value of the old graph as a transposition of one of the new graph.
  struct Turned {
    int from = -1;
    Dims perm = {};
    bool reshaped = false;  ///< on the way from the transposition
  };

  const TensorType& type(int v) const { return g_.values[static_cast<size_t>(v)].type; }
  const HostArray* constant(int v) const { return g_.values[static_cast<size_t>(v)].constant.get(); }
  const Turned* turned(int v) const { return v >= 0 && turned_[static_cast<size_t>(v)].from >= 0 ? &turned_[static_cast<size_t>(v)] : nullptr; }

  /// Lets the old value be `from` with its dimensions in the order of `perm`.
  void set(int v, int from, const Dims& perm, bool reshaped) {
    if (std::is_sorted(perm.begin(), perm.end()) && rewrite_.may_alias(v, from)) {
      rewrite_.replace(v, from);
    } else {
      turned_[static_cast<size_t>(v)] = {from, perm, reshaped};
    }
  }

  Expected<void> materialise(int v) {
    const Turned& t = *turned(v);
    const std::string& name = g_.values[static_cast<size_t>(v)].name;
    TW_TRY(const std::vector<int> out, rewrite_.builder().node("transpose", {t.from}, Attrs{{{"perm", t.perm}}}, name + ".transpose"));
    rewrite_.builder().rename(out[0], name);
    rewrite_.replace(v, out[0]);
    return {};
  }

  /// A constant that broadcasts with a result of these dimensions, for one with the dimensions as they are before `perm`.
  int turned_constant(int v, const Dims& perm) {
    HostArray a = *constant(v);
    if (a.num_elements() == 1) return rewrite_.value(v);
    a.shape.insert(a.shape.begin(), perm.size() - a.shape.size(), 1);
    Dims back(perm.size());
    for (size_t d = 0; d < perm.size(); ++d) back[static_cast<size_t>(perm[d])] = static_cast<int64_t>(d);
    return rewrite_.builder().constant(g_.values[static_cast<size_t>(v)].name, transposed(a, back));
  }

  /// The dimensions of an operand that broadcasts, as they are before `perm`, if its elements lie in that order anyway: dimensions of extent 1 move freely.
  std::optional<Dims> shape_in_place(int v, const Dims& perm) const {
    Dims shape = type(v).shape, before(perm.size()), order;
    if (shape.size() > perm.size()) return std::nullopt;
    shape.insert(shape.begin(), perm.size() - shape.size(), 1);
    for (size_t d = 0; d < perm.size(); ++d) {
      before[static_cast<size_t>(perm[d])] = shape[d];
      if (shape[d] != 1) order.push_back(perm[d]);
    }
    return std::is_sorted(order.begin(), order.end()) ? std::optional(before) : std::nullopt;
  }

  /// The node on what its operands are made from, all by the same permutation, constant or free to have it, with its attributes for that order of dimensions.
  Expected<bool> apply(const Node& n, const Dims& perm, Attrs attrs, const Dims& result) {
    std::vector<int> inputs;
    // What the new graph has in the old order too, for a normalisation's mean, is not needed in the other one.
    const bool as_it_was = std::any_of(n.inputs.begin(), n.inputs.end(), [&](int v) { return turned(v) && turned(v)->perm == perm && rewrite_.has(v); });
    for (const int v : n.inputs) {
      const Turned* t = turned(v);
      const bool turns = t ? t->perm == perm : constant(v) && type(v).shape.size() <= perm.size();
      if (!turns && (as_it_was || !shape_in_place(v, perm))) return false;
    }
    for (const int v : n.inputs) {
      if (const Turned* t = turned(v); t && t->perm == perm) {
        inputs.push_back(t->from);
      } else if (constant(v)) {
        inputs.push_back(turned_constant(v, perm));
      } else {
        if (!rewrite_.has(v)) TW_CHECK(materialise(v));
        const std::string name = g_.values[static_cast<size_t>(v)].name + ".in_place";
        TW_TRY(const std::vector<int> out, rewrite_.builder().node("reshape", {rewrite_.value(v)}, Attrs{{{"shape", *shape_in_place(v, perm)}}}, name));
        inputs.push_back(out[0]);
      }
    }
    TW_TRY(const std::vector<int> out, rewrite_.builder().node(n.op, std::move(inputs), std::move(attrs), n.name));
    rewrite_.builder().rename(out[0], g_.values[static_cast<size_t>(n.outputs[0])].name + (std::is_sorted(result.begin(), result.end()) ? "" : ".turned"));
    set(n.outputs[0], out[0], result, std::any_of(n.inputs.begin(), n.inputs.end(), [&](int v) { return turned(v) && turned(v)->reshaped; }));
    return true;
  }

  /// True if the node was written, or will be where something needs its result.
  Expected<bool> rewrite(const Node& n) {
    if (n.inputs.empty() || n.inputs[0] < 0 || n.outputs.size() != 1) return false;
    const size_t rank = type(n.inputs[0]).shape.size();
    if (n.op == "transpose") {
      const Turned* t = turned(n.inputs[0]);
      Dims perm = permutation(n.attrs, rank);
      if (t)
        for (int64_t& p : perm) p = t->perm[static_cast<size_t>(p)];
      set(n.outputs[0], t ? t->from : rewrite_.value(n.inputs[0]), perm, t && t->reshaped);
      return true;
    }
    if (!sink_ || std::find(n.inputs.begin(), n.inputs.end(), -1) != n.inputs.end()) return false;
    const auto turned_elements = [&](int v) { return turned(v) ? type(v).num_elements() : -1; };
    const int largest = *std::max_element(n.inputs.begin(), n.inputs.end(), [&](int a, int b) { return turned_elements(a) < turned_elements(b); });
    if (!turned(largest) || type(largest).shape.size() < rank) return false;
    if (n.op == "reshape") return reshape(n, *turned(n.inputs[0]));
    const Dims& perm = turned(largest)->perm;
    Attrs attrs = n.attrs;
    const auto turn_axis = [&](int64_t otherwise) { attrs.values["axis"] = perm[from_front(n.attrs.integer("axis", otherwise), rank)]; };
    const FusionKind kind = find_op(n.op)->fusion;
    if ((n.inputs.size() == 1 && kind == FusionKind::elementwise) || (n.inputs.size() == 2 && kind == FusionKind::broadcast))
      return apply(n, perm, attrs, perm);
    if (n.op == "concat") {
      turn_axis(0);
      return std::all_of(n.inputs.begin(), n.inputs.end(), [&](int v) { return turned(v); }) ? apply(n, perm, attrs, perm) : false;
    }
    if (n.op == "softmax" || n.op == "log_softmax") {
      turn_axis(-1);
      return apply(n, perm, attrs, perm);
    }
    if (n.op == "pad") {
      const Dims given = n.attrs.integers("pads", Dims(2 * rank, 0));
      Dims pads(2 * rank);
      for (size_t d = 0; d < rank; ++d)
        for (const size_t end : {size_t{0}, rank}) pads[end + static_cast<size_t>(perm[d])] = given[end + d];
      attrs.values["pads"] = pads;
      return apply(n, perm, attrs, perm);
    }
    if (n.op.starts_with("reduce_")) return reduce(n, perm, rank);
    return false;
  }

  /// Dimensions that are joined or taken apart, if they lie one after the other before the permutation too.
  Expected<bool> reshape(const Node& n, const Turned& t) {
    const Dims &in = type(n.inputs[0]).shape, &out = type(n.outputs[0]).shape,
               &from = rewrite_.builder().graph().values[static_cast<size_t>(t.from)].type.shape;
    if (type(n.inputs[0]).num_elements() == 0) return false;
    struct Run {
      int64_t at;              ///< of its first dimension, before the permutation
      std::vector<size_t> of;  ///< dimensions of the result that it becomes
    };
    std::vector<Run> runs{{-1, {}}};  // the first one of dimensions of extent 1 in front
    for (size_t i = 0, o = 0; i < in.size() || o < out.size();) {
      if (o < out.size() && out[o] == 1) {
        runs.back().of.push_back(o++);
        continue;
      }
      if (i < in.size() && in[i] == 1) {
        ++i;
        continue;
      }
      int64_t before = t.perm[i], elements = in[i], made = out[o];
      runs.push_back({before, {o++}});
      ++i;
      while (elements != made) {
        if (elements > made) {
          made *= out[o];
          runs.back().of.push_back(o++);
          continue;
        }
        elements *= in[i];
        if (in[i] != 1) {  // the next one that has some elements
          do ++before;
          while (before < static_cast<int64_t>(from.size()) && from[static_cast<size_t>(before)] == 1);
          if (t.perm[i] != before) return false;
        }
        ++i;
      }
    }
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.at < b.at; });
    Dims shape, perm(out.size());
    for (const Run& r : runs)
      for (const size_t o : r.of) {
        perm[o] = static_cast<int64_t>(shape.size());
        shape.push_back(out[o]);
      }
    const std::string& name = g_.values[static_cast<size_t>(n.outputs[0])].name;
    TW_TRY(const std::vector<int> made, rewrite_.builder().node("reshape", {t.from}, Attrs{{{"shape", shape}}}, n.name));
    rewrite_.builder().rename(made[0], name + (std::is_sorted(perm.begin(), perm.end()) ? "" : ".turned"));
    set(n.outputs[0], made[0], perm, true);
    return true;
  }

  Expected<bool> reduce(const Node& n, const Dims& perm, size_t rank) {
    std::vector<bool> gone(rank, false);  // of the operand as it is before the permutation
    const Dims given = n.attrs.integers("axes", {});
    for (const int64_t a : given) gone[static_cast<size_t>(perm[from_front(a, rank)])] = true;
    if (given.empty()) gone.assign(rank, true);
    Attrs attrs = n.attrs;
    Dims axes, result;
    for (size_t d = 0; d < rank; ++d)
      if (gone[d]) axes.push_back(static_cast<int64_t>(d));
    attrs.values["axes"] = axes;
    // Rules know normalisations by means along the last dimension. Those of images with channels last, which no reshape takes apart, lie well as they are.
    if (turned(n.inputs[0])->reshaped && n.op == "reduce_mean" && axes.size() == 1 && perm.back() == axes[0] && axes[0] + 1 != static_cast<int64_t>(rank))
      return false;
    if (type(n.outputs[0]).shape.size() == rank) return apply(n, perm, attrs, perm);
    for (const int64_t p : perm)
      if (!gone[static_cast<size_t>(p)]) result.push_back(p - std::count(gone.begin(), gone.begin() + p, true));
    return apply(n, perm, attrs, result);
  }

  const Graph& g_;
  bool sink_;
  Rewriter rewrite_;
  std::vector<Turned> turned_;  ///< per old value
};

}  // namespace

Expected<Graph> with_sunk_transposes(const Graph& g) { return Sinker(g, true).run(); }

Expected<Graph> sink_transposes(const Graph& g, const Target&) {
  if (moved_elements(g) == 0) return g;
  TW_TRY(Graph sunk, with_sunk_transposes(g));
  TW_TRY(const Graph joined, Sinker(g, false).run());
  return moved_elements(sunk) < moved_elements(joined) ? std::move(sunk) : g;
}

}  // namespace tw::graph
