// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/stop_token.h"

namespace tw::widgets {

/// A directed graph of boxes. Lengths in scene units (pixels at 100 %).
struct LayoutInput {
  std::vector<QSizeF> sizes;
  std::vector<std::pair<int, int>> edges;  ///< from, to; self loops are ignored
};

struct LayoutSpacing {
  double layer = 34;  ///< between layers
  double node = 26;   ///< between boxes of a layer
  double dummy = 12;  ///< width that an edge passing a layer takes
};

/// Boxes in layers, every edge pointing down.
struct Layout {
  std::vector<QRectF> boxes;
  std::vector<std::vector<QPointF>> routes;  ///< per edge: from the lower border of its source to the upper border of its target, y never decreasing
  std::vector<int> layers;                   ///< per box
  QRectF bounds;
};

/// Layered drawing: longest-path layers, dummy boxes where an edge passes a layer, barycentre sweeps against crossings, then exact
/// least-squares x positions per layer. Deterministic. Edges against the order of the boxes (cycles) are laid out reversed.
/// Returns nothing when stopped.
/// Source: Sugiyama, Tagawa, Toda, "Methods for visual understanding of hierarchical system structures", 1981; x positions by pool-adjacent-violators.
std::optional<Layout> layoutGraph(const LayoutInput& input, const LayoutSpacing& spacing, StopToken stop);

}  // namespace tw::widgets
