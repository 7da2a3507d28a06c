// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/rewrite.h"

namespace tw::graph {

Rewriter::Rewriter(const Graph& old) : old_(old), builder_(old.name), map_(old.values.size(), -1), is_output_(old.values.size(), false) {
  for (const int v : old.outputs) is_output_[static_cast<size_t>(v)] = true;
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
  at(node);
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

void Rewriter::replace(int old_value, int new_value) {
  map_[static_cast<size_t>(old_value)] = new_value;
  if (is_output_[static_cast<size_t>(old_value)]) taken_.insert(new_value);
}

bool Rewriter::may_alias(int old_value, int new_value) const {
  if (!is_output_[static_cast<size_t>(old_value)]) return true;
  return builder_.graph().values[static_cast<size_t>(new_value)].producer >= 0 && !taken_.count(new_value);
}

Expected<Graph> Rewriter::run(const std::function<Expected<bool>(const Node&)>& rewrite, const std::function<Expected<void>(int)>& materialise) && {
  const auto make = [&](const std::vector<int>& values) -> Expected<void> {
    for (const int v : values)
      if (v >= 0 && !has(v)) TW_CHECK(materialise(v));
    return {};
  };
  for (const Node& n : old_.nodes) {
    at(n);
    TW_TRY(const bool done, rewrite(n));
    if (done) continue;
    TW_CHECK(make(n.inputs));
    TW_CHECK(copy(n));
  }
  TW_CHECK(make(old_.outputs));
  return std::move(*this).finish();
}

Graph Rewriter::finish() && {
  for (const int v : old_.outputs) {
    const int mapped = value(v);
    if (builder_.graph().values[static_cast<size_t>(mapped)].producer >= 0) builder_.name_output(mapped, old_.values[static_cast<size_t>(v)].name);
    builder_.output(mapped);
  }
  return std::move(builder_).finish();
}

}  // namespace tw::graph
