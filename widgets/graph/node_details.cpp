// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/node_details.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>

#include "engine/graph/op.h"
#include "widgets/common/format.h"
#include "widgets/graph/graph_scene.h"

namespace tw::widgets {

NodeDetails::NodeDetails(QWidget* parent) : QTreeWidget(parent) {
  setObjectName(QStringLiteral("view.node.details"));
  setAccessibleName(tr("Details of the selected node"));
  setColumnCount(2);
  setHeaderLabels({tr("Property"), tr("Value")});
  setUniformRowHeights(true);
  setAlternatingRowColors(true);
  setFrameShape(QFrame::NoFrame);
  header()->setStretchLastSection(true);
  header()->resizeSection(0, 130);
  showNothing();
}

QTreeWidgetItem* NodeDetails::section(const QString& title) {
  auto* item = new QTreeWidgetItem(this, {title});
  QFont font = item->font(0);
  font.setBold(true);
  item->setFont(0, font);
  item->setFirstColumnSpanned(true);
  item->setExpanded(true);
  return item;
}

void NodeDetails::line(QTreeWidgetItem* parent, const QString& name, const QString& value, const QString& help) {
  auto* item = new QTreeWidgetItem(parent, {name, value});
  item->setToolTip(1, (help.isEmpty() ? value : help).toHtmlEscaped());
}

void NodeDetails::tensor(QTreeWidgetItem* parent, const graph::Graph& graph, int value, const QString& role) {
  if (value < 0) return line(parent, role, tr("absent"));
  const graph::Value& v = graph.values[static_cast<size_t>(value)];
  const QString kind = v.constant ? tr("constant, %1 KiB").arg(numberText(static_cast<double>(v.type.bytes()) / 1024, 3)) : QString();
  line(parent, role, QString::fromStdString(v.type.text()) + (kind.isEmpty() ? QString() : QStringLiteral("  ·  ") + kind), QString::fromStdString(v.name));
}

void NodeDetails::showNode(const graph::Graph& graph, int node, const QString& group, const QString& task) {
  clear();
  const graph::Node& n = graph.nodes[static_cast<size_t>(node)];
  const graph::OpDef* def = graph::find_op(n.op);
  auto* about = section(tr("Node"));
  line(about, tr("Name"), QString::fromStdString(n.name));
  line(about, tr("Operator"), QString::fromStdString(n.op), def ? QString::fromUtf8(def->summary) : QString());
  if (def) {
    line(about, tr("Meaning"), QString::fromUtf8(def->summary));
    line(about, tr("Fusion kind"), QString::fromLatin1(graph::fusion_kind_name(def->fusion)));
  }
  if (!group.isEmpty()) line(about, tr("Group"), group);
  if (!task.isEmpty()) line(about, tr("Task"), task);
  if (!n.attrs.values.empty()) {
    auto* attributes = section(tr("Attributes"));
    for (const auto& [name, value] : n.attrs.values) line(attributes, QString::fromStdString(name), attributeText(value));
  }
  auto* inputs = section(tr("Inputs"));
  for (size_t i = 0; i < n.inputs.size(); ++i) tensor(inputs, graph, n.inputs[i], QString::number(i));
  auto* outputs = section(tr("Outputs"));
  for (size_t i = 0; i < n.outputs.size(); ++i) tensor(outputs, graph, n.outputs[i], QString::number(i));
}

void NodeDetails::showValue(const graph::Graph& graph, int value) {
  clear();
  auto* about = section(tr("Tensor"));
  line(about, tr("Name"), QString::fromStdString(graph.values[static_cast<size_t>(value)].name));
  tensor(about, graph, value, tr("Type"));
}

void NodeDetails::showNothing() {
  clear();
  auto* item = new QTreeWidgetItem(this, {tr("Select a node in the graph to see its attributes and tensors.")});
  item->setFirstColumnSpanned(true);
  item->setFlags(Qt::ItemIsEnabled);
}

void NodeDetails::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy) && currentItem()) {
    QApplication::clipboard()->setText(currentItem()->text(0) + QLatin1Char('\t') + currentItem()->text(1));
    return;
  }
  QTreeWidget::keyPressEvent(event);
}

}  // namespace tw::widgets
