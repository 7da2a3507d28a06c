// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engine/graph/op.h"

namespace tw::frontends {

using Dims = std::vector<int64_t>;

/// Why a model cannot be imported. Thrown by converters and caught where a reader ends: it never leaves this folder.
struct Refusal {
  Error error;
};

template <class T>
T checked(Expected<T> e) {
  if (!e) throw Refusal{std::move(e).error()};
  return std::move(*e);
}
[[noreturn]] void refuse(ErrorCode code, const std::string& message, const std::string& where = {});

/// A graph that is being imported. What depends on small constants alone is evaluated at once, so that shapes are known when they are needed; values without
/// elements are constants.
class FoldingBuilder {
 public:
  explicit FoldingBuilder(std::string name) : builder_(std::move(name)) {}

  /// Adds a node, or the constant that it gives. Throws Refusal.
  int emit(const std::string& op, const std::vector<int>& inputs, graph::Attrs attrs, const std::string& name);
  int constant(const std::string& name, HostArray array) { return builder_.constant(name, std::move(array)); }
  const graph::Value& value(int v) const { return builder_.graph().values[static_cast<size_t>(v)]; }
  /// Makes values the outputs of the graph under the names they are known by, each with a node of its own.
  void add_outputs(const std::vector<std::pair<std::string, int>>& outputs);
  graph::GraphBuilder& builder() { return builder_; }

 private:
  std::optional<HostArray> evaluate(const std::string& op, const std::vector<int>& inputs, const graph::Attrs& attrs) const;
  std::optional<HostArray> without_elements(const std::string& op, const std::vector<int>& inputs, const graph::TensorType& result) const;

  graph::GraphBuilder builder_;
};

}  // namespace tw::frontends
