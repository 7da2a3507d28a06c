// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <limits>
#include <set>
#include <unordered_map>

#include "engine/base/text.h"
#include "engine/frontends/emitter.h"
#include "engine/frontends/frontend.h"
#include "engine/frontends/onnx/external_data.h"
#include "engine/frontends/onnx/tensor_reader.h"
#include "engine/frontends/reading_log.h"

namespace tw::frontends {

/// What stands for a value that a node leaves out, and for an optional value that holds nothing. Numbers below kAbsent stand for sequences (Importer::items).
inline constexpr int kAbsent = -1, kNothing = std::numeric_limits<int>::min();

/// Names visible to the nodes of one graph, branch or function body.
struct Scope {
  const Scope* parent = nullptr;
  std::unordered_map<std::string, int> values;  ///< ONNX value name to value index of the graph being built, or a sequence, or kAbsent
  /// Attributes of the call, while a function body is being inlined.
  const std::unordered_map<std::string, const onnx::AttributeProto*>* attributes = nullptr;
  int64_t opset = 0;
  int depth = 0;
  const int* find(const std::string& name) const;
};

/// `node 'name' (Operator)`, for errors.
std::string node_place(const onnx::NodeProto& n);

/// Builds one graph from one model.
class Importer {
 public:
  /// Takes the initialisers of the main graph out of the model, so that they are in memory once.
  Importer(onnx::ModelProto& model, const ImportOptions& options, ExternalData& external);
  graph::Graph run();
  const ReadingLog& log() const { return log_; }

  FoldingBuilder& builder() { return builder_; }
  const graph::Value& value(int v) const { return builder_.value(v); }
  HostArray tensor(const onnx::TensorProto& t);
  HostArray tensor(const onnx::SparseTensorProto& t);
  /// ONNX's element type of a value that is kept as something else (see ElementType), else 0.
  int64_t narrow(int v) const;
  void set_narrow(int v, int64_t data_type);
  /// Sequences exist while importing alone: lists of values.
  int sequence(std::vector<int> items);
  const std::vector<int>& items(int sequence) const { return sequences_[static_cast<size_t>(-2 - sequence)]; }
  /// How inputs that are one integer could be fixed, such as `--dim rate=VALUE`; empty if the model has none that is open.
  std::string open_integers() const;
  /// Imports a branch or loop body in the scope of its node with its inputs bound to values; returns its outputs.
  std::vector<int> inline_graph(const onnx::GraphProto& g, const Scope& outer, const std::vector<int>& inputs);

 private:
  void add_inputs();
  void count_tensor();
  template <typename Tensor>
  void add_initializer(const Tensor& t, const std::string& name, int64_t data_type, Scope& scope);
  void add_sparse_initializers(const onnx::GraphProto& g, Scope& scope);
  void add_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, Scope& scope);
  void add_node(const onnx::NodeProto& node, Scope& scope);
  void inline_function(const onnx::FunctionProto& f, const onnx::NodeProto& call, Scope& scope);
  void bind_outputs(const onnx::NodeProto& node, const std::vector<int>& results, Scope& scope);
  void add_outputs(const Scope& scope);
  void refuse_unknown_operators() const;
  void count_unknown(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, std::map<std::string, int>& counts, std::string& first,
                     std::set<std::string>& seen) const;

  onnx::ModelProto& model_;
  const ImportOptions& options_;
  ExternalData& external_;
  FoldingBuilder builder_;
  Scope root_;
  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;
  std::unordered_map<int, int64_t> narrow_;
  std::vector<std::vector<int>> sequences_;
  ReadingLog log_;
  int64_t node_count_ = 0, tensor_count_ = 0;
};

/// One ONNX node while it is being converted: typed access to its operands and attributes, and short ways to emit nodes of ours.
/// Everything refuses (throws Refusal) rather than returning something unusable.
class OnnxNode : public Emitter {
 public:
  OnnxNode(Importer& importer, const onnx::NodeProto& proto, const Scope& scope);

  const std::string& op() const { return proto_.op_type(); }
  int64_t opset() const { return scope_.opset; }
  const Scope& scope() const { return scope_; }
  Importer& importer() const { return importer_; }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return proto_.output_size(); }
  bool wants_output(int i) const { return i < proto_.output_size() && !proto_.output(i).empty(); }
  bool has(int i) const { return any(i) != kAbsent; }
  int any(int i) const { return i < num_inputs() ? inputs_[static_cast<size_t>(i)] : kAbsent; }  ///< operand i, whatever it is
  int in(int i) const;                                                                         ///< operand i, which must be there and a tensor
  std::vector<int> sequence(int i) const;                                                      ///< operand i, which must be a sequence
  int optional(int i) const { return has(i) ? in(i) : -1; }
  std::vector<int> all_inputs() const;  ///< all operands, none absent

  bool narrow(int value) const { return importer_.narrow(value) != 0; }
  int64_t element_type(int value) const;  ///< ONNX's number
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
  std::optional<int> tensor(const std::string& name);  ///< as a constant
  const onnx::GraphProto& subgraph(const std::string& name) const;
  /// Integers from attribute `name` in old opsets or from operand `i` since `since`; nullopt if absent.
  std::optional<Dims> integers_either(const std::string& name, int i, int64_t since) const;

  int narrowed(int v, int64_t data_type);  ///< v, which holds values or codes of a narrow type
  std::string where() const override;

 private:
  const onnx::AttributeProto* attr(const std::string& name) const;
  const onnx::AttributeProto* attr_of_type(const std::string& name, onnx::AttributeProto::AttributeType type, const char* what) const;

  Importer& importer_;
  const onnx::NodeProto& proto_;
  const Scope& scope_;
  std::vector<int> inputs_;
};

}  // namespace tw::frontends
