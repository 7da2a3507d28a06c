// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <vector>

#include "engine/graph/graph.h"

namespace tw::widgets {

/// What a fused group of nodes computes, as a person says it: `conv2d 7×7/2 · 3→16 @16² + add + relu`. Window and step where they are not 1, channels in and
/// out, size of the result; then the operators that are fused to it.
QString taskTitle(const graph::Graph& graph, const std::vector<int>& nodes);

}  // namespace tw::widgets
