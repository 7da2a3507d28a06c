// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/node_properties.h"

#include <QCoreApplication>

#include "engine/graph/op.h"
#include "widgets/common/format.h"
#include "widgets/common/property_tree.h"
#include "widgets/graph/graph_scene.h"

namespace tw::widgets {
namespace {

struct NodeTexts {
  Q_DECLARE_TR_FUNCTIONS(NodeProperties)
};

void addTensor(PropertyTree& tree, QTreeWidgetItem* section, const graph::Graph& graph, int value, const QString& role) {
  if (value < 0) return tree.line(section, role, NodeTexts::tr("absent"));
  const graph::Value& v = graph.values[static_cast<size_t>(value)];
  const QString kind = v.constant ? NodeTexts::tr("constant, %1 KiB").arg(numberText(static_cast<double>(v.type.bytes()) / 1024, 3)) : QString();
  tree.line(section, role, QString::fromStdString(v.type.text()) + (kind.isEmpty() ? QString() : QStringLiteral("  ·  ") + kind),
            QString::fromStdString(v.name));
}

}  // namespace

void addNodeProperties(PropertyTree& tree, const graph::Graph& graph, int node) {
  const graph::Node& n = graph.nodes[static_cast<size_t>(node)];
  const graph::OpDef* def = graph::find_op(n.op);
  auto* about = tree.section(NodeTexts::tr("Node"));
  tree.line(about, NodeTexts::tr("Name"), QString::fromStdString(n.name));
  tree.line(about, NodeTexts::tr("Operator"), QString::fromStdString(n.op), def ? QString::fromUtf8(def->summary) : QString());
  if (!n.origin.module.empty()) tree.line(about, NodeTexts::tr("Module"), QString::fromStdString(n.origin.module));
  if (!n.origin.source.empty()) tree.line(about, NodeTexts::tr("Source"), QString::fromStdString(n.origin.source));
  if (def) {
    tree.line(about, NodeTexts::tr("Meaning"), QString::fromUtf8(def->summary));
    tree.line(about, NodeTexts::tr("Fusion kind"), QString::fromLatin1(graph::fusion_kind_name(def->fusion)));
  }
  if (!n.attrs.values.empty()) {
    auto* attributes = tree.section(NodeTexts::tr("Attributes"));
    for (const auto& [name, value] : n.attrs.values) tree.line(attributes, QString::fromStdString(name), attributeText(value));
  }
  auto* inputs = tree.section(NodeTexts::tr("Inputs"));
  for (size_t i = 0; i < n.inputs.size(); ++i) addTensor(tree, inputs, graph, n.inputs[i], QString::number(i));
  auto* outputs = tree.section(NodeTexts::tr("Outputs"));
  for (size_t i = 0; i < n.outputs.size(); ++i) addTensor(tree, outputs, graph, n.outputs[i], QString::number(i));
}

}  // namespace tw::widgets
