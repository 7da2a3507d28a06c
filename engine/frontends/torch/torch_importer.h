// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <variant>

#include "engine/frontends/emitter.h"
#include "engine/frontends/frontend.h"
#include "engine/frontends/reading_log.h"
#include "engine/frontends/torch/program.h"

namespace tw::frontends {

/// What a view shows of what it is made of. Every kind can be written through: the same positions get new values.
struct ViewStep {
  enum class Kind : uint8_t { reshape, permute, slice, expand } kind;
  Dims shape;                 ///< reshape, expand: of the view; permute: the order; slice: sizes
  Dims starts = {}, steps = {};  ///< slice
};

/// A number that is known while importing.
using Number = std::variant<int64_t, double, bool>;
double as_real(const Number& n);
int64_t as_integer(const Number& n);

/// One result of a converter.
struct TorchResult {
  int value = -1;                           ///< a tensor, or -1
  std::optional<Number> number = {};        ///< or a number
  int of = -1;                              ///< or a view of this tensor (a reference), through `steps`
  std::vector<ViewStep> steps = {};
  bool itself = false;  ///< the very tensor `of`, whatever happens to it later
};
using TorchResults = std::vector<TorchResult>;

/// A name of the program while it is imported: nothing, a tensor by reference, or a number.
struct TorchValue {
  int tensor = -1;
  std::optional<Number> number = {};
};

/// Builds one graph from one exported program. Tensors are references to storage through views, because programs write in place: whoever reads a view
/// sees what was written through another.
class TorchImporter {
 public:
  TorchImporter(Program& program, const ImportOptions& options);
  graph::Graph run();
  const ReadingLog& log() const { return log_; }

  FoldingBuilder& builder() { return builder_; }
  /// A new storage that holds `value`.
  int reference(int value);
  /// A part of a reference, or its elements in another order.
  int viewed(int reference, const ViewStep& step);
  /// What a reference shows now.
  int read(int reference);
  /// Lets a reference show `value`, and all others of its storage what follows from that.
  void write(int reference, int value);
  const TorchValue* find(const std::string& name) const;
  const Json* meta_of(const std::string& tensor) const { return optional_field(*tensors_, tensor.c_str()); }
  std::vector<TorchResult> inline_graph(const Json& graph, const std::vector<TorchValue>& inputs);

 private:
  struct Reference {
    int storage;
    std::vector<ViewStep> steps;
    int value = -1;    ///< as of `version`
    int version = -1;  ///< of the storage
  };
  struct Storage {
    int value;
    int version = 0;
  };
  void add_inputs();
  void bind_symbols(const std::vector<std::string>& inputs);
  void add_nodes(const Json& nodes);
  void add_node(const Json& node);
  void bind(const Json& outputs, const TorchResults& results, const std::string& where);
  void bind_one(const std::string& name, const TorchResult& result);
  void refuse_unknown(const Json& graph) const;
  void count_unknown(const Json& graph, std::map<std::string, int>& counts, int depth) const;
  std::vector<std::pair<std::string, int>> outputs();
  int64_t size_now(const SymbolicSize& s, const std::string& where) const;
  int apply(const ViewStep& step, int value, const std::string& name);
  int unapply(const ViewStep& step, int base, int value, const std::string& name);

  Program& program_;
  const ImportOptions& options_;
  FoldingBuilder builder_;
  const Json* tensors_ = nullptr;  ///< descriptions of the graph that is being imported
  std::unordered_map<std::string, TorchValue> names_;
  std::unordered_map<std::string, std::string> absent_;  ///< results that are not computed, and the calls that have them: whoever reads one is refused
  std::vector<Reference> references_;
  std::vector<Storage> storages_;
  std::map<std::string, int64_t> symbols_;
  int64_t node_count_ = 0;
  int depth_ = 0;
  ReadingLog log_;
};

/// One call of the program while it is converted: typed access to its arguments, by the names that PyTorch's schema gives them.
class TorchNode : public Emitter {
 public:
  TorchNode(TorchImporter& importer, const Json& node, const std::string& target, const std::string& name);

  TorchImporter& importer() const { return importer_; }
  const std::string& overload() const { return overload_; }
  const std::string& target() const { return target_; }
  std::string where() const override;

  bool has(const char* name) const;           ///< given and not None
  bool is_tensor(const char* name) const;
  int tensor(const char* name);               ///< must be there
  int optional(const char* name) { return has(name) ? tensor(name) : -1; }
  int reference(const char* name) const;      ///< the tensor as something that can be viewed and written
  std::vector<int> tensors(const char* name);  ///< of a list; -1 for None
  std::vector<int> references(const char* name) const;
  Number number(const char* name) const;
  Number number(const char* name, Number fallback) const { return has(name) ? number(name) : fallback; }
  int64_t integer(const char* name, int64_t fallback) const { return has(name) ? as_integer(number(name)) : fallback; }
  double real(const char* name, double fallback) const { return has(name) ? as_real(number(name)) : fallback; }
  bool boolean(const char* name, bool fallback) const { return has(name) ? as_integer(number(name)) != 0 : fallback; }
  std::string text(const char* name, const std::string& fallback) const;
  Dims integers(const char* name, Dims fallback = {}) const;  ///< a list, or one number as a list of one
  std::vector<double> reals(const char* name) const;
  DType type_named(const char* name, DType fallback) const;
  const Json& graph(const char* name) const;
  std::vector<TorchValue> values(const char* name) const;
  Number argument(size_t i) const;  ///< by position, for functions of Python
  size_t arguments() const { return inputs_->size(); }
  TorchValue operand(size_t i) const;
  const Json* raw(const char* name) const;
  const Json* raw(size_t i) const;

  /// Strides of an argument as the program describes them; nullopt if they depend on symbols.
  std::optional<Dims> strides(const char* name) const;
  /// Element type of the first result as the program describes it, or of result `i`.
  DType result_type(size_t i = 0) const;
  bool has_result(size_t i = 0) const;

  /// Operands of one computation in the type that PyTorch gives it: tensors before tensors without dimensions before numbers.
  std::vector<int> promoted(const std::vector<const char*>& names);
  /// A tensor, or a number as a tensor of type t.
  int operand_in(const char* name, DType t);

  TorchResults one(int value) const { return {{.value = value}}; }
  TorchResults view(const char* name, ViewStep step) const { return {{.of = reference(name), .steps = {std::move(step)}}}; }

 private:
  const Json* argument_named(const char* name) const;
  Number number_of(const Json& argument) const;

  TorchImporter& importer_;
  const Json& node_;
  std::string target_, overload_, name_;
  const Json* inputs_;
};

/// Whether a view in row-major steps over memory with these strides exists. Source: the rule of torch.Tensor.view.
bool viewable(const Dims& sizes, const Dims& strides, const Dims& wanted);

}  // namespace tw::frontends
