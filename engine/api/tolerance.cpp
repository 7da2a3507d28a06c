// SPDX-License-Identifier: Apache-2.0
#include "engine/api/tolerance.h"

#include <algorithm>
#include <cmath>

#include "engine/api/compile.h"
#include "engine/graph/op.h"
#include "engine/graph/to_dag.h"
#include "engine/measure/check.h"

namespace tw::api {

namespace {

/// Where an inexact number is rounded to 8 bits the other way, it is a step of a signed range off, 1/127; half as much again, because later layers magnify it: a BERT
/// that is quantised while it runs needs 1.15 to 1.3 steps.
constexpr double kRoundingStep = 1.5 / 127;

}  // namespace

double node_tolerance(const graph::Node& node, const te::Dag& dag, int output, bool tf32) {
  return std::max(measure::output_tolerance(dag, output, tf32), graph::find_op(node.op)->tolerance);
}

Expected<std::vector<double>> output_tolerances(const graph::Graph& g, bool tf32) {
  std::vector<double> allowed(g.values.size(), 0);
  for (const graph::Node& n : g.nodes) {
    double operands = 0;
    for (const int v : n.inputs)
      if (v >= 0) operands = std::max(operands, allowed[static_cast<size_t>(v)]);
    TW_TRY(const graph::NodesDag dag, graph::to_dag(g, n));
    for (size_t o = 0; o < n.outputs.size(); ++o) {
      const auto v = static_cast<size_t>(n.outputs[o]);
      const bool inexact = g.values[v].type.dtype.is_float();  // integers are as inexact as what they were made of
      const double own = !inexact ? 0 : n.op == "round" && operands > 0 ? kRoundingStep : node_tolerance(n, *dag.dag, static_cast<int>(o), tf32);
      allowed[v] = std::hypot(operands, own);
    }
  }
  std::vector<double> out;
  for (const int v : g.outputs) out.push_back(allowed[static_cast<size_t>(v)]);
  return out;
}

}  // namespace tw::api
