// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/node_view.h"

#include <QVBoxLayout>

#include "app/selection_hub.h"
#include "widgets/graph/node_details.h"

namespace tw::app {

NodeView::NodeView(Services& services, QWidget* parent) : QWidget(parent), m_services(services), m_details(new widgets::NodeDetails(this)) {
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_details);
  connect(&services.hub, &SelectionHub::nodeChanged, this, &NodeView::showNode);
}

void NodeView::showNode() {
  const auto& model = m_services.hub.model();
  const int node = m_services.hub.node();
  if (!model || node < 0) return m_details->showNothing();
  const int group = model->groupOfNode(node), task = model->taskOfNode(node);
  const QString groupText = group < 0 ? QString() : QString::fromStdString(model->network.partition.groups[static_cast<size_t>(group)].name);
  const QString taskText = task < 0 ? QString() : tr("T%1 (×%2)").arg(task + 1).arg(model->tasks[static_cast<size_t>(task)].weight);
  m_details->showNode(model->network.optimized, node, groupText, taskText);
}

}  // namespace tw::app
