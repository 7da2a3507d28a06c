// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QRectF>
#include <QString>
#include <QStringList>
#include <memory>
#include <vector>

#include "engine/base/stop_token.h"
#include "engine/graph/graph.h"

namespace tw::widgets {

/// What of a graph belongs together in the drawing.
struct GraphGrouping {
  struct Group {
    QString title;  ///< on the frame
    int task = -1;  ///< number of its task, which decides the colour; -1 for none
    int parent = -1;  ///< the group around it, which comes before it; -1 for none
  };
  /// Nodes that are drawn as one.
  struct Box {
    QString title, subtitle;
    int block = -1;  ///< the caller's number
  };
  std::vector<int> groupOf;  ///< per node, the innermost; empty: no groups; nodes of one box lie in one group
  std::vector<Group> groups;
  std::vector<int> boxOf;  ///< per node, -1 for none; empty: no boxes
  std::vector<Box> boxes;
};

/// A graph ready to paint: positions, texts, nothing that needs the engine. An immutable value made on a worker thread.
struct GraphScene {
  enum class Look : uint8_t { heavy, light, plain, data };
  struct Node {
    QRectF rect;
    QString title, subtitle;  ///< operator and output shape, or name and type for inputs and outputs
    QString name;
    Look look = Look::plain;
    int node = -1;             ///< index in the graph, -1 for graph inputs, outputs and boxes
    int value = -1;            ///< for graph inputs and outputs
    int block = -1;            ///< of a box, the caller's number
    std::vector<int> members;  ///< of the graph: the node alone, or all nodes of a box
    int frame = -1;
    QStringList searchable;  ///< name, operator, types, attributes, module and line of the model's code
  };
  struct Frame {
    QRectF rect;
    QString title;
    int task = -1, group = -1;
    int parent = -1;  ///< the frame around it, which comes before it; -1 for none
  };
  struct Edge {
    std::vector<QPointF> points;
    QRectF bounds;
    int from = -1, to = -1;  ///< indices of `nodes`
    QString label;           ///< type of the tensor
  };
  std::vector<Node> nodes;
  std::vector<Frame> frames;
  std::vector<Edge> edges;
  std::vector<int> sceneNodes;  ///< per node of the graph, the index in `nodes`
  QRectF bounds;

  int nodeAt(const QPointF& point) const;  ///< topmost, or -1
  int frameAt(const QPointF& point) const;           ///< innermost, or -1
  int sceneNodeOf(int graphNode) const;              ///< the node, or the box it is in; -1 if there is none
  std::vector<int> find(const QString& text) const;  ///< indices of nodes with `text` in one of their searchable strings
};

/// Lays a graph out. Nodes of a group stand together in a frame of their own, frames of groups inside the frames of those around them. Constants are not drawn;
/// the details panel lists them. Returns null when stopped. Threads: any; `font` must be a copy.
std::shared_ptr<const GraphScene> buildGraphScene(const graph::Graph& graph, const GraphGrouping& grouping, const QFont& font, StopToken stop);

/// `1×3×224×224`, for people; scalars are "scalar".
QString shapeText(const std::vector<int64_t>& shape);
/// One attribute value as text.
QString attributeText(const graph::AttrValue& value);

}  // namespace tw::widgets
