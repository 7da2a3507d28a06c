// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTreeWidget>

#include "engine/graph/graph.h"

namespace tw::widgets {

/// Everything about one node of a graph: operator, attributes, tensors with types, group and task.
class NodeDetails : public QTreeWidget {
  Q_OBJECT
 public:
  explicit NodeDetails(QWidget* parent = nullptr);
  /// `group` and `task` as texts; empty where the node has none.
  void showNode(const graph::Graph& graph, int node, const QString& group, const QString& task);
  void showValue(const graph::Graph& graph, int value);
  void showNothing();

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QTreeWidgetItem* section(const QString& title);
  void line(QTreeWidgetItem* parent, const QString& name, const QString& value, const QString& help = {});
  void tensor(QTreeWidgetItem* parent, const graph::Graph& graph, int value, const QString& role);
};

}  // namespace tw::widgets
