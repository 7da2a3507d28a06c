// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"

namespace tw::widgets {
class NodeDetails;
}

namespace tw::app {

/// Details of the node selected in the graph.
class NodeView : public QWidget {
  Q_OBJECT
 public:
  explicit NodeView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new NodeView(services, parent); }

 private:
  void showNode();
  Services& m_services;
  widgets::NodeDetails* m_details;
};

}  // namespace tw::app
