// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/te/dag.h"

namespace tw::api {

/// Error allowed for one result of one node, relative to the largest magnitude of the result: what the operator's row says, or the rounding
/// errors of its sums where they are larger. `dag` is the node alone; `tf32` as in measure::output_tolerance.
double node_tolerance(const graph::Node& node, const te::Dag& dag, int output, bool tf32 = false);

}  // namespace tw::api
