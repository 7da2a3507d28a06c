// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/stop_token.h"
#include "engine/graph/graph.h"
#include "widgets/graph/graph_overlay.h"
#include "widgets/graph/graph_scene.h"

namespace tw::widgets {

/// One of the two pictures of a pass: what there was, or what it made. Boxes are nodes of the graph, or parts of a kernel's text.
struct PassSide {
  std::shared_ptr<const GraphScene> scene;
  GraphOverlay overlay;    ///< what became of each box
  std::vector<int> lines;  ///< per box, the line (0-based) of the text that it begins with, ascending
  std::vector<int> other;  ///< per box, the same one on the other side; -1 if it is not there

  int boxOfLine(int line) const;  ///< the box that the line lies in; -1 before the first
  std::vector<int> lit() const;   ///< boxes that are not the same on both sides
};

/// A pass in pictures. An immutable value made on a worker thread.
struct PassScene {
  PassSide before, after;
  int made = 0, removed = 0, changed = 0;  ///< boxes
};

/// Of a graph's pass: nodes with frames around those that share a kernel, by diff_graphs(). Nothing when stopped.
std::optional<PassScene> graphPassScene(const graph::Graph& before, const graph::Graph& after, const QFont& font, StopToken stop);
/// Of a kernel's pass: loops, branches and other heads as a tree, statements that follow each other as one box. What the difference of the texts removes and
/// adds is removed and made; a loop over the same variable that stands on both sides of a change is changed. Nothing when stopped.
std::optional<PassScene> nestPassScene(std::string_view before, std::string_view after, const QFont& font, StopToken stop);

}  // namespace tw::widgets
