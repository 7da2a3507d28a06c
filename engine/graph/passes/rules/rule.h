// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <variant>

#include "engine/graph/graph.h"
#include "engine/graph/passes/constants.h"
#include "engine/graph/passes/quantised.h"
#include "engine/target/target.h"

/// Local rewritings of one node, which simplify_expressions applies until none fits.
namespace tw::graph::rules {

/// A node that is about to be written: operands are values of the new graph.
struct Draft {
  std::string op;
  std::vector<int> inputs;
  Attrs attrs = {};
};

/// What a rule makes of a draft: another draft that computes the same, or a value that already holds it.
using Outcome = std::variant<std::monostate, Draft, int>;
inline Outcome nothing() { return std::monostate{}; }
inline int64_t product(const std::vector<int64_t>& d) { return std::accumulate(d.begin(), d.end(), int64_t{1}, std::multiplies<>()); }
inline Draft reshape_of(int v, const std::vector<int64_t>& shape) { return {"reshape", {v}, Attrs{{{"shape", shape}}}}; }

/// What a rule sees: the draft, the type of its result and the new graph up to it. Rules may add constants and nodes to the graph.
class Site {
 public:
  Site(GraphBuilder& b, const Draft& draft, const TensorType& result, const std::string& name, const Target& target)
      : draft_(draft), result_(result), name_(name), target_(target), b_(b) {}

  /// The same place with another draft, of a node that a rule is about to add. Both outlive what is returned.
  Site with(const Draft& draft, const TensorType& result) const { return {b_, draft, result, name_, target_}; }

  const Target& target() const { return target_; }
  const Draft& draft() const { return draft_; }
  const TensorType& result() const { return result_; }
  int input(size_t i) const { return draft_.inputs[i]; }
  TensorType type(int v) const { return value(v).type; }  ///< not by reference: what a rule adds moves the graph's values
  const HostArray* constant(int v) const { return v < 0 ? nullptr : value(v).constant.get(); }
  /// The node that makes `v` if it applies `op`, else null.
  const Node* made_by(int v, std::string_view op) const { return tw::graph::made_by(b_.graph(), v, op); }
  const Graph& graph() const { return b_.graph(); }
  int add_constant(HostArray a) { return b_.constant(name_ + ".constant", std::move(a)); }
  Expected<int> add_node(const Draft& d, const std::string& suffix) {
    TW_TRY(const std::vector<int> out, b_.node(d.op, d.inputs, d.attrs, name_ + suffix));
    return out[0];
  }
  /// A node only where the shape is another one.
  Expected<int> reshaped(int v, const std::vector<int64_t>& shape, const std::string& suffix) {
    return type(v).shape == shape ? Expected<int>(v) : add_node(reshape_of(v, shape), suffix);
  }

 private:
  const Value& value(int v) const { return b_.graph().values[static_cast<size_t>(v)]; }
  const Draft& draft_;
  const TensorType& result_;
  const std::string& name_;
  const Target& target_;
  GraphBuilder& b_;
};

struct Rule {
  const char* ops;  ///< operators it looks at, separated by spaces
  Expected<Outcome> (*apply)(Site&);
  const char* summary;
};

/// Data movement: reshapes, transposes, slices, concatenations, padding, broadcasts, casts.
std::span<const Rule> movement();
/// Arithmetic with constants, negations and functions that undo or repeat each other.
std::span<const Rule> arithmetic();
/// Normalisations that models spell out in single steps.
std::span<const Rule> normalisation();
/// What is left of quantising and dequantising again.
std::span<const Rule> quantisation();
/// Convolutions in another form.
std::span<const Rule> convolutions();
/// Scattering to places that are constants.
std::span<const Rule> scattering();
/// Putting elements in order.
std::span<const Rule> ordering();
/// Products of matrices that are no constants.
std::span<const Rule> products();
/// Sliding windows.
std::span<const Rule> pooling();
/// Activations that models spell out.
std::span<const Rule> activations();

}  // namespace tw::graph::rules
