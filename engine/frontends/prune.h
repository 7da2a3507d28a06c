// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace tw::frontends {

/// The graph without nodes that no output needs and without values that nothing reads, such as shapes that were evaluated
/// during import. Inputs stay, used or not.
graph::Graph prune(graph::Graph g);

}  // namespace tw::frontends
