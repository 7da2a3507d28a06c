// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/matmul_to_dense.h"

#include <algorithm>

#include "engine/graph/op.h"
#include "engine/graph/passes/constants.h"
#include "engine/graph/rewrite.h"

namespace tw::graph {

namespace {

/// [rows, columns] of a tensor whose leading dimensions are walked as one.
std::vector<int64_t> flat_shape(const TensorType& t) { return {t.num_elements() / t.shape.back(), t.shape.back()}; }

class FlatRewriter {
 public:
  explicit FlatRewriter(const Graph& g) : g_(g), rewrite_(g), flat_(g.values.size(), -1) {}

  Expected<Graph> run() {
    return std::move(rewrite_).run([this](const Node& n) { return rewrite_flat(n); }, [this](int v) { return materialise(v); });
  }

 private:
  const TensorType& type(int v) const { return g_.values[static_cast<size_t>(v)].type; }
  bool flat_at(int v) const { return v >= 0 && flat_[static_cast<size_t>(v)] >= 0; }
  bool is_constant(int v) const { return v >= 0 && g_.values[static_cast<size_t>(v)].constant != nullptr; }
  void set(int old_value, int new_value) {
    rewrite_.builder().rename(new_value, g_.values[static_cast<size_t>(old_value)].name);
    rewrite_.replace(old_value, new_value);
  }

  Expected<int> add_node(const std::string& op, std::vector<int> inputs, Attrs attrs, const std::string& name) {
    TW_TRY(const std::vector<int> out, rewrite_.builder().node(op, std::move(inputs), std::move(attrs), name));
    return out[0];
  }
  Expected<int> reshape(int value, const std::vector<int64_t>& shape, const std::string& name) {
    Attrs attrs;
    attrs.values["shape"] = shape;
    return add_node("reshape", {value}, std::move(attrs), name);
  }

  /// Makes the value as the graph has it, if so far it exists in flat form only.
  Expected<void> materialise(int v) {
    if (rewrite_.has(v)) return {};
    TW_TRY(const int y, reshape(flat_[static_cast<size_t>(v)], type(v).shape, g_.values[static_cast<size_t>(v)].name + ".full"));
    set(v, y);
    return {};
  }

  /// The flat form of a value; a reshape of it, or of what it is itself a reshape of, if there is none yet.
  Expected<int> flat(int v) {
    int& f = flat_[static_cast<size_t>(v)];
    if (f >= 0) return f;
    if (type(v).shape.size() == 2) return rewrite_.value(v);
    int from = v;
    const int producer = g_.values[static_cast<size_t>(v)].producer;
    if (producer >= 0 && g_.nodes[static_cast<size_t>(producer)].op == "reshape") from = g_.nodes[static_cast<size_t>(producer)].inputs[0];
    if (!flat_at(from)) TW_CHECK(materialise(from));
    TW_TRY(f, reshape(flat_at(from) ? flat_[static_cast<size_t>(from)] : rewrite_.value(from), flat_shape(type(v)),
                      g_.values[static_cast<size_t>(v)].name + ".flat"));
    return f;
  }

  bool is_output(int v) const { return std::find(g_.outputs.begin(), g_.outputs.end(), v) != g_.outputs.end(); }

  /// Reshapes between a tensor and its flat form are no work; those of a flat form need no other in between.
  Expected<bool> rewrite_reshape(const Node& n) {
    const int x = n.inputs[0], out = n.outputs[0];
    const TensorType &from = type(x), &to = type(out);
    if (from.shape.size() == 2 && to.shape.size() > 2 && from.shape[1] == to.shape.back()) {
      flat_[static_cast<size_t>(out)] = rewrite_.value(x);
      return true;
    }
    if (from.shape.size() > 2 && to.shape == flat_shape(from) && !is_output(out)) {
      TW_TRY(const int f, flat(x));
      rewrite_.replace(out, f);
      return true;
    }
    if (!flat_at(x) || rewrite_.has(x)) return false;
    TW_TRY(const int y, reshape(flat_[static_cast<size_t>(x)], to.shape, n.name));
    set(out, y);
    return true;
  }

  /// True if the node was written in flat form.
  Expected<bool> rewrite_flat(const Node& n) {
    if (n.op == "matmul") return rewrite_matmul(n);
    if (n.op == "reshape") return rewrite_reshape(n);
    const bool reads_flat = std::any_of(n.inputs.begin(), n.inputs.end(), [&](int v) { return flat_at(v); });
    if (!reads_flat || n.outputs.size() != 1) return false;
    const FusionKind kind = find_op(n.op)->fusion;
    const TensorType& out = type(n.outputs[0]);
    if (n.op == "layer_norm" || n.op == "rms_norm") return rewrite_row_norm(n);
    const bool positional = n.inputs.size() == 1 ? kind == FusionKind::elementwise : n.inputs.size() == 2 && kind == FusionKind::broadcast;
    if (!positional) return false;
    std::vector<int> inputs;
    for (const int v : n.inputs)
      if (!is_constant(v) ? type(v).shape != out.shape : !column_constant(v, out)) return false;
    for (const int v : n.inputs) {
      if (is_constant(v)) {
        inputs.push_back(add_column_constant(v));
      } else {
        TW_TRY(const int f, flat(v));
        inputs.push_back(f);
      }
    }
    return finish_flat(n.op, n, std::move(inputs), n.attrs);
  }

  /// A constant with one value, or one value per column, of a result of type `out`.
  bool column_constant(int v, const TensorType& out) const {
    const TensorType& t = type(v);
    return t.num_elements() == 1 || (t.num_elements() == out.shape.back() && t.shape.back() == out.shape.back() && t.shape.size() <= out.shape.size());
  }
  int add_column_constant(int v) {
    HostArray a = *g_.values[static_cast<size_t>(v)].constant;
    a.shape = {a.num_elements()};
    return rewrite_.builder().constant(g_.values[static_cast<size_t>(v)].name, std::move(a));
  }

  /// Adds the node; its result is the flat form of what the old one made.
  Expected<bool> finish_flat(const std::string& op, const Node& n, std::vector<int> inputs, Attrs attrs) {
    TW_TRY(const int y, add_node(op, std::move(inputs), std::move(attrs), n.name));
    const int v = n.outputs[0];
    if (type(v).shape.size() == 2)
      set(v, y);
    else
      rewrite_.builder().rename(y, g_.values[static_cast<size_t>(v)].name + ".flat");
    flat_[static_cast<size_t>(v)] = y;
    return true;
  }

  Expected<bool> rewrite_matmul(const Node& n) {
    const int x = n.inputs[0], w = n.inputs[1];
    if (n.attrs.integer("transpose_b", 0) != 0 || !is_constant(w) || is_constant(x) || type(w).shape.size() != 2 || type(x).dtype != kFloat32) return false;
    TW_TRY(const int data, flat(x));
    const int weight = rewrite_.builder().constant(g_.values[static_cast<size_t>(w)].name, transposed(*g_.values[static_cast<size_t>(w)].constant, {1, 0}));
    return finish_flat("dense", n, {data, weight}, {});
  }

  Expected<bool> rewrite_row_norm(const Node& n) {
    const int64_t rank = static_cast<int64_t>(type(n.inputs[0]).shape.size()), axis = n.attrs.integer("axis", -1);
    if (axis != -1 && axis != rank - 1) return false;
    std::vector<int> inputs;
    TW_TRY(const int x, flat(n.inputs[0]));
    inputs.push_back(x);
    for (size_t i = 1; i < n.inputs.size(); ++i) {
      const int v = n.inputs[i];
      if (v >= 0 && !is_constant(v)) TW_CHECK(materialise(v));
      inputs.push_back(rewrite_.value(v));
    }
    Attrs attrs = n.attrs;
    attrs.values["axis"] = int64_t{-1};
    return finish_flat(n.op, n, std::move(inputs), std::move(attrs));
  }

  const Graph& g_;
  Rewriter rewrite_;
  std::vector<int> flat_;  ///< per old value: the new value that holds it as [rows, columns], or -1
};

}  // namespace

Expected<Graph> matmul_to_dense(const Graph& g, const Target&) { return FlatRewriter(g).run(); }

}  // namespace tw::graph
