// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/graph_diff.h"

#include <QtTest>

#include "engine/graph/pass.h"

using namespace tw;
using namespace tw::graph;

class GraphDiffTest : public QObject {
  Q_OBJECT

  static Graph chain(const std::vector<std::string>& names, const std::string& op = "relu") {
    GraphBuilder b("chain");
    int x = b.input("x", {kFloat32, {4}});
    x = b.node("add", {x, b.constant("w", HostArray::make(kFloat32, {4}))}, {}, "first").value()[0];
    for (const std::string& name : names) x = b.node(op, {x}, {}, name).value()[0];
    b.output(x);
    return std::move(b).finish();
  }

 private Q_SLOTS:
  void made_removed_and_changed() {
    const Graph a = chain({"a", "b"}), b = chain({"a", "c"});
    const GraphDiff d = diff_graphs(a, b);
    QCOMPARE(d.before, (std::vector<NodeChange>{NodeChange::same, NodeChange::same, NodeChange::single}));
    QCOMPARE(d.after, (std::vector<NodeChange>{NodeChange::same, NodeChange::same, NodeChange::single}));
    QCOMPARE(d.after_of, (std::vector<int>{0, 1, -1}));
    QCOMPARE(d.before_of, (std::vector<int>{0, 1, -1}));
    QVERIFY(d.made == 1 && d.removed == 1 && d.changed == 0);
    // Another operator, and another operand.
    QCOMPARE(diff_graphs(a, chain({"a", "b"}, "tanh")).changed, 2);
    QCOMPARE(diff_graphs(a, chain({"z", "b"})).after[2], NodeChange::changed);
    QCOMPARE(diff_graphs(a, a).changed, 0);
  }

  /// Who shares a kernel with others has changed, who is alone in one has not.
  void kernels() {
    const Graph a = chain({"a", "b"});
    Graph fused = a;
    for (size_t i = 0; i < fused.nodes.size(); ++i) fused.nodes[i].group = i == 0 ? 0 : 1;
    const GraphDiff d = diff_graphs(a, fused);
    QCOMPARE(d.after, (std::vector<NodeChange>{NodeChange::same, NodeChange::changed, NodeChange::changed}));
    // Other numbers of the same kernels are no change.
    Graph renumbered = fused;
    for (Node& n : renumbered.nodes) n.group += 5;
    QCOMPARE(diff_graphs(fused, renumbered).changed, 0);
  }

  void lines_of_nodes() {
    const Graph g = chain({"a", "b"});
    const QStringList lines = QString::fromStdString(print(g)).split(QLatin1Char('\n'));
    for (size_t i = 0; i < g.nodes.size(); ++i)
      QVERIFY(lines[line_of_node(g, static_cast<int>(i))].contains(QStringLiteral("name \"%1\"").arg(QString::fromStdString(g.nodes[i].name))));
  }
};

QTEST_APPLESS_MAIN(GraphDiffTest)
#include "graph_diff_test.moc"
