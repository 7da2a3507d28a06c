// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/graph_scene.h"

#include <QSignalSpy>
#include <QtTest>

#include "widgets/common/property_tree.h"
#include "widgets/graph/graph_view.h"
#include "widgets/graph/node_properties.h"
#include "widgets/theme/theme.h"

using namespace tw;
using namespace tw::widgets;

namespace {

/// input → relu → (relu, relu) → add → output, the last three one group.
graph::Graph diamond() {
  graph::GraphBuilder b("diamond");
  const int x = b.input("x", {kFloat32, {1, 8}});
  const int a = (*b.node("relu", {x}, {}, "stem"))[0];
  const int left = (*b.node("relu", {a}, {}, "left"))[0], right = (*b.node("relu", {a}, {}, "right"))[0];
  b.output((*b.node("add", {left, right}, {}, "join"))[0]);
  return std::move(b).finish();
}

GraphGrouping grouped() {
  GraphGrouping g;
  g.groupOf = {0, 1, 1, 1};
  g.groups = {{QStringLiteral("T2 · relu"), 1}, {QStringLiteral("T1 · fused_relu_relu_add"), 0}};
  return g;
}

}  // namespace

class GraphSceneTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void framesHoldTheirNodesAndNoOthers() {
    const auto scene = buildGraphScene(diamond(), grouped(), QFont(), {});
    QCOMPARE(scene->nodes.size(), size_t{6});  // four operators, one input, one output
    QCOMPARE(scene->frames.size(), size_t{2});
    for (const auto& node : scene->nodes) {
      for (size_t f = 0; f < scene->frames.size(); ++f) QCOMPARE(scene->frames[f].rect.contains(node.rect), node.frame == static_cast<int>(f));
    }
    QVERIFY(!scene->frames[0].rect.intersects(scene->frames[1].rect));
    for (size_t i = 0; i < scene->nodes.size(); ++i) {
      for (size_t j = i + 1; j < scene->nodes.size(); ++j) QVERIFY(!scene->nodes[i].rect.intersects(scene->nodes[j].rect));
    }
  }

  /// Frames four deep: each holds its own nodes and frames and nothing else, and edges end at their nodes.
  void framesLieInFrames() {
    graph::GraphBuilder b("deep");
    int x = b.input("x", {kFloat32, {1, 8}});
    constexpr int kDepth = 4;
    GraphGrouping grouping;
    for (int d = 0; d < kDepth; ++d) grouping.groups.push_back({QString::number(d), -1, d - 1});
    // Into the innermost frame and out again, two nodes in each.
    std::vector<int> depths;
    for (int d = 0; d < kDepth; ++d) depths.push_back(d);
    for (int d = kDepth; d-- > 0;) depths.push_back(d);
    for (const int d : depths) {
      const int left = (*b.node("relu", {x}))[0];
      x = (*b.node("add", {left, x}))[0];
      grouping.groupOf.insert(grouping.groupOf.end(), {d, d});
    }
    x = (*b.node("tanh", {x}))[0];
    grouping.groupOf.push_back(-1);
    b.output(x);
    const graph::Graph graph = std::move(b).finish();
    const auto scene = buildGraphScene(graph, grouping, QFont(), {});
    QCOMPARE(scene->frames.size(), size_t{kDepth});
    for (int f = 0; f < kDepth; ++f) {
      const GraphScene::Frame& frame = scene->frames[static_cast<size_t>(f)];
      QCOMPARE(frame.parent, f - 1);
      if (f > 0) QVERIFY(scene->frames[static_cast<size_t>(f - 1)].rect.contains(frame.rect));
      for (const auto& node : scene->nodes) QCOMPARE(frame.rect.contains(node.rect), node.frame >= f);
    }
    for (size_t i = 0; i < scene->nodes.size(); ++i) {
      for (size_t j = i + 1; j < scene->nodes.size(); ++j) QVERIFY(!scene->nodes[i].rect.intersects(scene->nodes[j].rect));
    }
    for (const auto& edge : scene->edges) {
      QVERIFY(edge.points.size() >= 2);
      const QRectF from = scene->nodes[static_cast<size_t>(edge.from)].rect, to = scene->nodes[static_cast<size_t>(edge.to)].rect;
      QVERIFY(from.adjusted(-1, -1, 1, 1).contains(edge.points.front()));
      QVERIFY(to.adjusted(-1, -1, 1, 1).contains(edge.points.back()));
    }
    QCOMPARE(scene->frameAt(scene->nodes[static_cast<size_t>(scene->sceneNodeOf(6))].rect.center()), 3);
    QVERIFY(scene->bounds.contains(scene->frames[0].rect));
  }

  void edgesPointDown() {
    const auto scene = buildGraphScene(diamond(), grouped(), QFont(), {});
    QCOMPARE(scene->edges.size(), size_t{6});
    for (const auto& edge : scene->edges) {
      QVERIFY(edge.points.size() >= 2);
      for (size_t i = 1; i < edge.points.size(); ++i) QVERIFY(edge.points[i].y() >= edge.points[i - 1].y());
    }
  }

  void searchFindsNamesOperatorsAndShapes() {
    const auto scene = buildGraphScene(diamond(), {}, QFont(), {});
    QCOMPARE(scene->find(QStringLiteral("LEFT")).size(), size_t{1});
    QCOMPARE(scene->find(QStringLiteral("relu")).size(), size_t{3});
    QVERIFY(scene->find(QStringLiteral("[1, 8]")).size() >= 4);
    QVERIFY(scene->find(QStringLiteral("  ")).empty());
    QVERIFY(scene->find(QStringLiteral("nothing like it")).empty());
  }

  void stops() {
    StopSource source;
    source.request_stop();
    QVERIFY(!buildGraphScene(diamond(), grouped(), QFont(), source.get_token()));
  }

  void viewFitsZoomsAndSelects() {
    applyTheme(ThemeChoice::light);
    GraphView view;
    view.resize(500, 500);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    view.setScene(buildGraphScene(diamond(), grouped(), QFont(), {}));
    view.fit();
    const double fitted = view.zoom();
    QTest::keyClick(&view, Qt::Key_Plus);
    QVERIFY(view.zoom() > fitted);
    QTest::keyClick(&view, Qt::Key_F);
    QCOMPARE(view.zoom(), fitted);
    QSignalSpy chosen(&view, &GraphView::nodeActivated);
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Down);
    QCOMPARE(chosen.count(), 2);
    QVERIFY(view.selectedNode() >= 0);
    const QImage image = view.grab().toImage();
    int painted = 0;
    for (int y = 0; y < image.height(); y += 4) {
      for (int x = 0; x < image.width(); x += 4) painted += image.pixelColor(x, y) != lightTheme().base ? 1 : 0;
    }
    QVERIFY(painted > 100);
  }

  void zoomKeepsThePointUnderTheCursor() {
    GraphView view;
    view.resize(400, 400);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    view.setScene(buildGraphScene(diamond(), grouped(), QFont(), {}));
    view.fit();
    view.resetZoom();
    QVERIFY(qFuzzyCompare(view.zoom(), 1.0));
    view.zoomBy(0.001);
    QVERIFY(view.zoom() > 0.01);  // bounded
  }

  void detailsListTensorsAndAttributes() {
    PropertyTree details;
    addNodeProperties(details, diamond(), 3);
    QVERIFY(!details.findItems(QStringLiteral("add"), Qt::MatchExactly | Qt::MatchRecursive, 1).isEmpty());
    QVERIFY(!details.findItems(QStringLiteral("float32"), Qt::MatchContains | Qt::MatchRecursive, 1).isEmpty());
    details.showMessage(QStringLiteral("Nothing"));
    QCOMPARE(details.topLevelItemCount(), 1);
  }
};

QTEST_MAIN(GraphSceneTest)
#include "graph_scene_test.moc"
