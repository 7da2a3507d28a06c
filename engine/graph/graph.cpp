// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/graph.h"

#include <algorithm>
#include <set>

#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/graph/op.h"

namespace tw::graph {

int64_t TensorType::num_elements() const {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return n;
}

std::string TensorType::text() const { return dtype.name() + shape_text(shape); }

std::vector<std::vector<int>> Graph::consumers() const {
  std::vector<std::vector<int>> out(values.size());
  for (size_t n = 0; n < nodes.size(); ++n)
    for (const int v : nodes[n].inputs) {
      if (v < 0) continue;
      std::vector<int>& list = out[static_cast<size_t>(v)];
      if (list.empty() || list.back() != static_cast<int>(n)) list.push_back(static_cast<int>(n));
    }
  return out;
}

int64_t Graph::parameter_count() const {
  std::set<int> read;
  for (const Node& n : nodes)
    for (const int v : n.inputs)
      if (v >= 0 && values[static_cast<size_t>(v)].constant) read.insert(v);
  int64_t count = 0;
  for (const int v : read) count += values[static_cast<size_t>(v)].type.num_elements();
  return count;
}

int find_value(const Graph& g, std::string_view name) {
  for (size_t v = 0; v < g.values.size(); ++v)
    if (g.values[v].name == name) return static_cast<int>(v);
  return -1;
}

std::string constant_key(const HostArray& array) {
  ContentHasher hasher;
  hasher.add(TensorType{array.dtype, array.shape}.text());
  hasher.add(array.data.digest());
  return hasher.key();
}

GraphBuilder::GraphBuilder(std::string name) { graph_.name = std::move(name); }

namespace {

/// `hint`, with a number appended where taken; the map counts what was handed out.
std::string unique(std::map<std::string, int>& names, const std::string& hint) {
  const std::string base = hint.empty() ? "t" : hint;
  if (names.emplace(base, 0).second) return base;
  for (;;) {
    std::string candidate = base + "_" + std::to_string(++names[base]);
    if (names.emplace(candidate, 0).second) return candidate;
  }
}

}  // namespace

int GraphBuilder::input(const std::string& name, TensorType type) {
  const int v = static_cast<int>(graph_.values.size());
  graph_.values.push_back({.name = unique(value_names_, name), .type = std::move(type)});
  graph_.inputs.push_back(v);
  return v;
}

int GraphBuilder::constant(const std::string& name, HostArray array) { return constant(name, std::make_shared<const HostArray>(std::move(array))); }

int GraphBuilder::constant(const std::string& name, std::shared_ptr<const HostArray> array) {
  TW_ASSERT(array != nullptr, "a constant without data");
  const TensorType type{array->dtype, array->shape};
  graph_.values.push_back({.name = unique(value_names_, name), .type = type, .constant = std::move(array)});
  return static_cast<int>(graph_.values.size()) - 1;
}

Expected<std::vector<int>> GraphBuilder::node(const std::string& op, std::vector<int> inputs, Attrs attrs, const std::string& name, int num_outputs) {
  const OpDef* def = find_op(op);
  if (!def) return Error(ErrorCode::unsupported, fmt::format("Expected an operator of the table, found '{}'", printable(op)), name);
  for (const int v : inputs) TW_ASSERT(v >= -1 && v < static_cast<int>(graph_.values.size()), "value index of an input");
  Node n{.name = unique(node_names_, name.empty() ? op : name), .op = op, .inputs = std::move(inputs), .attrs = std::move(attrs), .origin = origin_};
  n.outputs.assign(static_cast<size_t>(num_outputs), -1);
  auto types = def->infer(context_of(graph_, n));
  if (!types) {
    Error e = types.error();
    if (e.where.empty()) e.where = fmt::format("node '{}' ({})", printable(n.name), op);
    return e;
  }
  if (static_cast<int>(types->size()) != num_outputs)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected {} outputs of '{}', found {}", num_outputs, op, types->size()),
                 fmt::format("node '{}'", printable(n.name)));
  for (int i = 0; i < num_outputs; ++i) {
    const std::string value_name = unique(value_names_, i == 0 ? n.name + ".out" : fmt::format("{}.out{}", n.name, i));
    n.outputs[static_cast<size_t>(i)] = static_cast<int>(graph_.values.size());
    graph_.values.push_back({.name = value_name, .type = (*types)[static_cast<size_t>(i)], .producer = static_cast<int>(graph_.nodes.size())});
  }
  graph_.nodes.push_back(std::move(n));
  return graph_.nodes.back().outputs;
}

void GraphBuilder::rename(int value, const std::string& name) {
  Value& v = graph_.values[static_cast<size_t>(value)];
  if (v.name == name) return;
  value_names_.erase(v.name);
  v.name = unique(value_names_, name);
}

void GraphBuilder::name_output(int value, const std::string& name) {
  const int holder = find_value(graph_, name);
  const auto in = [&](const std::vector<int>& list) { return std::find(list.begin(), list.end(), holder) != list.end(); };
  if (holder >= 0 && holder != value && !in(graph_.inputs) && !in(graph_.outputs)) {
    Value& v = graph_.values[static_cast<size_t>(holder)];
    v.name = unique(value_names_, name);
    value_names_.erase(name);
  }
  rename(value, name);
}

Graph GraphBuilder::finish() && { return std::move(graph_); }

}  // namespace tw::graph
