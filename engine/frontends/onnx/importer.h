// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <unordered_map>

#include "engine/base/text.h"
#include "engine/frontends/frontend.h"
#include "engine/frontends/onnx/external_data.h"
#include "engine/graph/op.h"

namespace tw::frontends {

using Dims = std::vector<int64_t>;

/// Why a model cannot be imported. Thrown by the converters and caught in onnx_reader.cpp: it never leaves this folder.
struct Refusal {
  Error error;
};

/// Names visible to the nodes of one graph, branch or function body.
struct Scope {
  const Scope* parent = nullptr;
  std::unordered_map<std::string, int> values;  ///< ONNX value name to value index of the graph being built
  /// Attributes of the call, while a function body is being inlined.
  const std::unordered_map<std::string, const onnx::AttributeProto*>* attributes = nullptr;
  int64_t opset = 0;
  int depth = 0;
  const int* find(const std::string& name) const;
};

/// Builds one graph from one model.
class Importer {
 public:
  /// Takes the initialisers of the main graph out of the model, so that they are in memory once.
  Importer(onnx::ModelProto& model, const ImportOptions& options, ExternalData& external);
  graph::Graph run();

  /// Adds a node of ours; evaluates it at once if all operands are small constants.
  int emit(const std::string& op, const std::vector<int>& inputs, graph::Attrs attrs, const std::string& name);
  int constant(const std::string& name, HostArray array) { return builder_.constant(name, std::move(array)); }
  const graph::Value& value(int v) const { return builder_.graph().values[static_cast<size_t>(v)]; }
  HostArray tensor(const onnx::TensorProto& t);
  /// Imports a branch or loop body in the scope of its node with its inputs bound to values; returns its outputs.
  std::vector<int> inline_graph(const onnx::GraphProto& g, const Scope& outer, const std::vector<int>& inputs);

 private:
  void add_inputs();
  void add_initializer(const onnx::TensorProto& t, Scope& scope);
  void add_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, Scope& scope);
  void add_node(const onnx::NodeProto& node, Scope& scope);
  void inline_function(const onnx::FunctionProto& f, const onnx::NodeProto& call, Scope& scope);
  void bind_outputs(const onnx::NodeProto& node, const std::vector<int>& results, Scope& scope);
  void add_outputs(const Scope& scope);
  std::optional<HostArray> evaluate(const std::string& op, const std::vector<int>& inputs, const graph::Attrs& attrs) const;

  onnx::ModelProto& model_;
  const ImportOptions& options_;
  ExternalData& external_;
  graph::GraphBuilder builder_;
  Scope root_;
  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;
  int64_t node_count_ = 0, tensor_count_ = 0;
};

/// One ONNX node while it is being converted: typed access to its operands and attributes, and short ways to emit nodes of ours.
/// Everything refuses (throws Refusal) rather than returning something unusable.
class OnnxNode {
 public:
  OnnxNode(Importer& importer, const onnx::NodeProto& proto, const Scope& scope);

  const std::string& op() const { return proto_.op_type(); }
  int64_t opset() const { return scope_.opset; }
  const Scope& scope() const { return scope_; }
  Importer& importer() const { return importer_; }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return proto_.output_size(); }
  bool wants_output(int i) const { return i < proto_.output_size() && !proto_.output(i).empty(); }
  bool has(int i) const { return i < num_inputs() && inputs_[static_cast<size_t>(i)] >= 0; }
  int in(int i) const;  ///< operand i, which must be there
  int optional(int i) const { return has(i) ? in(i) : -1; }
  std::vector<int> all_inputs() const;  ///< all operands, none absent

  const graph::TensorType& type(int value) const { return importer_.value(value).type; }
  const Dims& shape(int value) const { return type(value).shape; }
  int64_t rank(int value) const { return static_cast<int64_t>(shape(value).size()); }
  DType dtype(int value) const { return type(value).dtype; }
  const HostArray* constant_of(int value) const { return importer_.value(value).constant.get(); }
  const HostArray& constant_input(int i, const char* what) const;  ///< operand i, which must be a constant
  Dims integers_input(int i, const char* what) const;              ///< a constant list (or scalar) of integers
  double number_input(int i, const char* what) const;              ///< a constant of one element

  bool has_attr(const std::string& name) const { return attr(name) != nullptr; }
  int64_t integer(const std::string& name, int64_t fallback) const;
  double real(const std::string& name, double fallback) const;
  std::string text(const std::string& name, const std::string& fallback) const;
  Dims integers(const std::string& name, Dims fallback) const;
  std::vector<double> reals(const std::string& name, std::vector<double> fallback) const;
  std::vector<std::string> texts(const std::string& name) const;
  std::optional<HostArray> tensor(const std::string& name) const;
  const onnx::GraphProto& subgraph(const std::string& name) const;
  /// Integers from attribute `name` in old opsets or from operand `i` since `since`; nullopt if absent.
  std::optional<Dims> integers_either(const std::string& name, int i, int64_t since) const;

  int64_t axis(int64_t a, int64_t rank) const;  ///< counted from the front
  Dims axes(Dims a, int64_t rank) const;

  int emit(const std::string& op, std::vector<int> inputs, graph::Attrs attrs = {});
  int constant(HostArray array);
  int integers_constant(const Dims& v);
  int scalar(DType t, double v);
  int reshape(int v, const Dims& shape);
  int transpose(int v, const Dims& perm);
  int cast(int v, DType t);
  int slice(int v, int64_t axis, int64_t from, int64_t size);
  int binary(const std::string& op, int a, int b) { return emit(op, {a, b}); }
  int with_scalar(const std::string& op, int a, double b) { return emit(op, {a, scalar(dtype(a), b)}); }

  [[noreturn]] void unsupported(const std::string& why) const;
  [[noreturn]] void invalid(const std::string& why) const;
  std::string where() const;

 private:
  const onnx::AttributeProto* attr(const std::string& name) const;
  const onnx::AttributeProto* attr_of_type(const std::string& name, onnx::AttributeProto::AttributeType type, const char* what) const;

  Importer& importer_;
  const onnx::NodeProto& proto_;
  const Scope& scope_;
  std::vector<int> inputs_;
};

/// Shorthand for attribute lists of our operators.
inline graph::Attrs attrs(std::map<std::string, graph::AttrValue> values) { return graph::Attrs{std::move(values)}; }

}  // namespace tw::frontends
