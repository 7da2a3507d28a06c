// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/rewrite.h"

#include <algorithm>

namespace tw::graph {

namespace {

bool contains(const std::vector<int>& list, int v) { return std::find(list.begin(), list.end(), v) != list.end(); }

}  // namespace

Rewriter::Rewriter(const Graph& old) : old_(old), builder_(old.name), map_(old.values.size(), -1) {
  for (const int v : old.inputs) {
    const Value& value = old.values[static_cast<size_t>(v)];
    map_[static_cast<size_t>(v)] = builder_.input(value.name, value.type);
  }
}

int Rewriter::value(int old_value) {
  if (old_value < 0) return -1;
  int& mapped = map_[static_cast<size_t>(old_value)];
  const Value& v = old_.values[static_cast<size_t>(old_value)];
  if (mapped < 0) {
    TW_ASSERT(v.constant != nullptr, "value '" + v.name + "' is read before it is computed");
    mapped = builder_.constant(v.name, v.constant);
  }
  return mapped;
}

Expected<void> Rewriter::copy(const Node& node) {
  std::vector<int> inputs;
  for (const int v : node.inputs) inputs.push_back(value(v));
  TW_TRY(const std::vector<int> outputs, builder_.node(node.op, std::move(inputs), node.attrs, node.name, static_cast<int>(node.outputs.size())));
  builder_.set_group(node.group);
  for (size_t i = 0; i < outputs.size(); ++i) {
    builder_.rename(outputs[i], old_.values[static_cast<size_t>(node.outputs[i])].name);
    replace(node.outputs[i], outputs[i]);
  }
  return {};
}

bool Rewriter::may_alias(int output, int input) const {
  if (!contains(old_.outputs, output)) return true;
  return old_.values[static_cast<size_t>(input)].producer >= 0 && !contains(old_.outputs, input);
}

Graph Rewriter::finish() && {
  for (const int v : old_.outputs) {
    const int mapped = value(v);
    if (builder_.graph().values[static_cast<size_t>(mapped)].producer >= 0) builder_.rename(mapped, old_.values[static_cast<size_t>(v)].name);
    builder_.output(mapped);
  }
  return std::move(builder_).finish();
}

}  // namespace tw::graph
