// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/te/dag.h"

/// The operator `expression`: a node that computes what its attribute `text` says (te/source.h).
namespace tw::graph {

inline constexpr const char* kExpression = "expression";

/// The computation of such a node. Errors: those of te::parse_source; unsupported for other than one output.
Expected<te::DagPtr> expression_of(const Node& node);

/// A graph of one node, whose inputs are called as the placeholders and whose output as the text's. Errors: the same.
Expected<Graph> graph_of(const std::string& name, const std::string& text);

/// The text of a graph of one such node, else null.
const std::string* text_of(const Graph& g);

}  // namespace tw::graph
