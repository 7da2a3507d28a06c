// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/host_array.h"

/// Operator graphs over typed tensors with static shapes.
namespace tw::graph {

struct TensorType {
  DType dtype;
  std::vector<int64_t> shape;
  int64_t num_elements() const;
  int64_t bytes() const { return num_elements() * dtype.bytes(); }
  std::string text() const;  ///< `float32[1, 3, 224, 224]`
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

using AttrValue = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;
/// Attributes by name, with typed access that supplies a default.
class Attrs {
 public:
  std::map<std::string, AttrValue> values;
  bool has(const std::string& name) const { return values.count(name) != 0; }
  int64_t integer(const std::string& name, int64_t fallback) const;
  double real(const std::string& name, double fallback) const;
  std::string text(const std::string& name, const std::string& fallback) const;
  std::vector<int64_t> integers(const std::string& name, std::vector<int64_t> fallback) const;
  friend bool operator==(const Attrs&, const Attrs&) = default;
};

/// A tensor of the graph: an input, a constant or a node's output.
struct Value {
  std::string name;  ///< unique in the graph
  TensorType type;
  std::shared_ptr<const HostArray> constant = {};  ///< set for constants
  int producer = -1;                               ///< node index, or -1
};

/// Where in a person's model something comes from; texts for reading, empty where the file does not say.
struct Origin {
  std::string module = {};  ///< path of the module, such as `layer1.0.conv1`
  std::string source = {};  ///< file and line, such as `resnet.py:285`
  friend bool operator==(const Origin&, const Origin&) = default;
};

struct Node {
  std::string name;               ///< unique in the graph
  std::string op;                 ///< key of the operator table
  std::vector<int> inputs = {};   ///< value indices; -1 for an absent optional input
  std::vector<int> outputs = {};  ///< value indices
  Attrs attrs = {};
  int group = -1;      ///< fused group, set by fuse_operators
  Origin origin = {};  ///< says nothing of what the node computes
};

/// An operator graph. Treat as immutable once built: passes return new graphs. Nodes stand in topological order.
struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<int> inputs;  ///< value indices
  std::vector<int> outputs;

  std::vector<std::vector<int>> consumers() const;  ///< per value, node indices
  int64_t parameter_count() const;                  ///< elements of all constants that nodes read
};

/// Appends to a graph with unique names and inferred types.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name);
  int input(const std::string& name, TensorType type);
  int constant(const std::string& name, HostArray array);
  int constant(const std::string& name, std::shared_ptr<const HostArray> array);
  /// Adds a node and infers its output types through the operator table. Errors: what the operator's inference says, with the node's name.
  /// Inference sees a node whose `outputs` has `num_outputs` entries of -1. Output values are called `NODE.out`, `NODE.out1`, ...
  Expected<std::vector<int>> node(const std::string& op, std::vector<int> inputs, Attrs attrs = {}, const std::string& name = {}, int num_outputs = 1);
  const Graph& graph() const { return graph_; }
  void output(int value) { graph_.outputs.push_back(value); }
  /// Gives a value this name, with a number appended if another has it.
  void rename(int value, const std::string& name);
  /// Gives an output of the graph the name that its caller knows it by: what a node made under that name gets another. Inputs and other outputs keep theirs.
  void name_output(int value, const std::string& name);
  /// Where the nodes added from now on come from.
  void set_origin(Origin origin) { origin_ = std::move(origin); }
  /// Fused group of the node added last.
  void set_group(int group) { graph_.nodes.back().group = group; }
  Graph finish() &&;

 private:
  Graph graph_;
  Origin origin_;
  std::map<std::string, int> value_names_, node_names_;
};

/// Index of the value called `name`, or -1.
int find_value(const Graph& g, std::string_view name);

/// Topological order, types equal to what inference gives, unique names, indices in range.
Expected<void> verify(const Graph& g);

/// Content key of an array: type, shape and bytes.
std::string constant_key(const HostArray& array);

/// Text with one line a node. Constants print as `constant %w: float32[64, 3, 7, 7] = {0.1, ...}` up to `max_elements` elements, else as a content key.
std::string print(const Graph& g, int max_elements = 16);
/// Reads what print writes; constants given by key are looked up in `constants`.
Expected<Graph> parse(std::string_view text, const std::map<std::string, std::shared_ptr<const HostArray>>& constants = {});

}  // namespace tw::graph
