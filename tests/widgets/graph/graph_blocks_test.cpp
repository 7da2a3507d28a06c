// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/graph_blocks.h"

#include <QPainter>
#include <QSignalSpy>
#include <QPainter>
#include <QtTest>
#include <algorithm>

#include "widgets/graph/graph_view.h"
#include "widgets/theme/theme.h"

using namespace tw;
using namespace tw::widgets;

class GraphBlocksTest : public QObject {
  Q_OBJECT

  /// stem → three residual blocks, the first of another operator → head. `separator` spells the names.
  static graph::Graph residual(char separator = '.') {
    graph::GraphBuilder b("residual");
    const auto named = [&](std::string name) {
      std::replace(name.begin(), name.end(), '.', separator);
      return name;
    };
    int x = (*b.node("relu", {b.input("x", {kFloat32, {1, 8}})}, {}, "stem"))[0];
    for (int i = 0; i < 3; ++i) {
      const std::string block = "body.layer." + std::to_string(i) + ".";
      const int left = (*b.node(i == 0 ? "tanh" : "relu", {x}, {}, named(block + "left")))[0], right = (*b.node("relu", {x}, {}, named(block + "right")))[0];
      x = (*b.node("add", {left, right}, {}, named(block + "join")))[0];
    }
    b.output((*b.node("tanh", {x}, {}, "head"))[0]);
    return std::move(b).finish();
  }

  static std::shared_ptr<const GraphScene> scene(const graph::Graph& g, const std::set<int>& open) {
    return buildGraphScene(g, groupingOf(graphBlocks(g), open), QFont(), {});
  }

 private Q_SLOTS:
  /// Modules come before names, which a framework numbers as it likes.
  void modulesSpellBlocks() {
    graph::GraphBuilder b("net");
    int x = b.input("x", {kFloat32, {1, 8}});
    for (const char* module : {"", "layer1.0", "layer1.0.act", "layer1.1", "layer1.1.act"}) {
      b.set_origin({module, *module ? "net.py:12" : ""});
      x = (*b.node("relu", {x}, {}, "relu_7"))[0];
    }
    b.output(x);
    const graph::Graph g = std::move(b).finish();
    const GraphBlocks blocks = graphBlocks(g);
    QCOMPARE(blocks.blocks.size(), size_t{4});  // the root, layer1, and its two blocks; those of one node are none
    QCOMPARE(blocks.blocks[1].name, QStringLiteral("layer1"));
    QCOMPARE(blocks.blocks[2].name, QStringLiteral("layer1.0"));
    QCOMPARE(blocks.blocks[2].alike, 2);
    QCOMPARE(blocks.blockOf[0], 0);
    QCOMPARE(blocks.blockOf[4], 3);
    const auto drawn = scene(g, {1, 2, 3});
    QCOMPARE(drawn->find(QStringLiteral("layer1.1")).size(), size_t{2});
    QCOMPARE(drawn->find(QStringLiteral("net.py:12")).size(), size_t{4});
  }

  void namesSpellBlocks() {
    for (const char separator : {'.', '/'}) {
      const GraphBlocks blocks = graphBlocks(residual(separator));
      QCOMPARE(blocks.blocks.size(), size_t{5});  // the root, body.layer (body holds no more), and three inside it
      QCOMPARE(blocks.blocks[0].nodes.size(), size_t{11});
      QString layer = QStringLiteral("body.layer");
      layer.replace(QLatin1Char('.'), QLatin1Char(separator));
      QCOMPARE(blocks.blocks[1].name, layer);
      QCOMPARE(blocks.blocks[1].parent, 0);
      for (size_t b = 2; b < 5; ++b) {
        QCOMPARE(blocks.blocks[b].parent, 1);
        QCOMPARE(blocks.blocks[b].nodes.size(), size_t{3});
      }
      QCOMPARE(blocks.blockOf.front(), 0);
      QCOMPARE(blocks.blockOf[1], 2);
      // The second and the third compute the same, the first has a tanh.
      QCOMPARE(blocks.blocks[2].alike, 1);
      QCOMPARE(blocks.blocks[3].alike, 2);
      QCOMPARE(blocks.blocks[4].like, 3);
    }
  }

  void namesWithoutPartsSpellNone() {
    graph::GraphBuilder b("plain");
    const int x = b.input("x", {kFloat32, {8}});
    b.output((*b.node("relu", {x}, {}, "a.only"))[0]);
    QCOMPARE(graphBlocks(std::move(b).finish()).blocks.size(), size_t{1});
    QCOMPARE(graphBlocks(graph::Graph{}).blocks.size(), size_t{1});
  }

  void closedBlocksAreBoxes() {
    const graph::Graph g = residual();
    const auto closed = scene(g, {});
    QCOMPARE(closed->nodes.size(), size_t{5});  // stem, body.layer, head, input, output
    QCOMPARE(closed->edges.size(), size_t{4});
    const GraphScene::Node& box = closed->nodes[1];
    QCOMPARE(box.title, QStringLiteral("body.layer"));
    QCOMPARE(box.block, 1);
    QCOMPARE(box.members.size(), size_t{9});
    QCOMPARE(box.node, -1);
    QCOMPARE(closed->sceneNodeOf(4), 1);
    QCOMPARE(closed->sceneNodeOf(10), 2);
    QCOMPARE(closed->sceneNodeOf(11), -1);
    QCOMPARE(closed->find(QStringLiteral("layer.2.join")), std::vector<int>{1});  // found in the box it is in
  }

  void openBlocksAreFrames() {
    const graph::Graph g = residual();
    const auto open = scene(g, {1});
    QCOMPARE(open->frames.size(), size_t{1});
    QCOMPARE(open->frames[0].title, QStringLiteral("body.layer"));
    QCOMPARE(open->frames[0].group, 1);
    QCOMPARE(open->nodes.size(), size_t{7});
    QVERIFY(open->nodes[2].subtitle.contains(QStringLiteral("2 alike")) != open->nodes[1].subtitle.contains(QStringLiteral("2 alike")));
    const auto inner = scene(g, {1, 3});
    QCOMPARE(inner->nodes.size(), size_t{9});
    QCOMPARE(inner->frames.size(), size_t{2});
    QCOMPARE(inner->frames[0].title, QStringLiteral("body.layer"));
    QCOMPARE(inner->frames[1].title, QStringLiteral("body.layer.1"));
    QCOMPARE(inner->frames[1].parent, 0);
    QVERIFY(inner->frames[0].rect.contains(inner->frames[1].rect));
    for (const auto& node : inner->nodes) {
      for (int f = node.frame; f >= 0; f = inner->frames[static_cast<size_t>(f)].parent)
        QVERIFY(inner->frames[static_cast<size_t>(f)].rect.contains(node.rect));
    }
    const GraphBlocks blocks = graphBlocks(g);
    QCOMPARE(openBlockAround(blocks, {1, 3}, 5), 3);     // an operator of body.layer.1
    QCOMPARE(openBlockAround(blocks, {1, 3}, 1, 2), 1);  // the box body.layer.0
    QCOMPARE(openBlockAround(blocks, {1, 3}, 0), 0);     // the stem
    // A block inside a closed one stays hidden.
    QCOMPARE(scene(g, {3})->nodes.size(), size_t{5});
  }

  void everyEdgeBetweenBoxesIsDrawnOnce() {
    const graph::Graph g = residual();
    for (const std::set<int>& open : {std::set<int>{}, {1}, {1, 2}, {1, 2, 3, 4}}) {
      const auto s = scene(g, open);
      std::set<std::pair<int, int>> seen;
      for (const auto& e : s->edges) {
        QVERIFY(e.from != e.to);
        if (s->nodes[static_cast<size_t>(e.from)].block >= 0 || s->nodes[static_cast<size_t>(e.to)].block >= 0) QVERIFY(seen.emplace(e.from, e.to).second);
      }
    }
  }

  void keysAndDoubleClicksOpenAndClose() {
    applyTheme(ThemeChoice::light);
    const graph::Graph g = residual();
    GraphView view;
    view.resize(600, 600);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    view.setScene(scene(g, {}));
    QSignalSpy opened(&view, &GraphView::boxActivated), closed(&view, &GraphView::closeAsked);
    view.setSelectedNode(0);
    QTest::keyClick(&view, Qt::Key_Return);
    QCOMPARE(opened.count(), 0);  // a single operator
    view.setSelectedNode(1);
    QTest::keyClick(&view, Qt::Key_Return);
    QCOMPARE(opened.count(), 1);
    view.zoomBy(0.7);
    const double zoom = view.zoom();
    view.replaceScene(scene(g, {1}), graphBlocks(g).blocks[1].nodes);
    QCOMPARE(view.zoom(), zoom);
    view.setSelectedNode(2);
    QTest::keyClick(&view, Qt::Key_Backspace);
    QCOMPARE(closed.count(), 1);
  }

  void overlaysAddUpAndMarkWhatIsUnknown() {
    applyTheme(ThemeChoice::light);
    const graph::Graph g = residual();
    GraphOverlay overlay;
    overlay.kind = GraphOverlay::Kind::share;
    overlay.parts.resize(11);
    for (auto& p : overlay.parts) p.seconds = 1, p.tuned = true, p.first = 2, p.second = 1;
    overlay.parts[0] = {};                    // the stem was not measured
    overlay.parts[10] = {.computed = false};  // the head is no kernel
    QVERIFY(std::abs(overlay.valueOf({1, 2, 3}).value - 3.0 / 9) < 1e-12);
    QVERIFY(!overlay.valueOf({0}).known);
    QVERIFY(overlay.valueOf({10}).text.isEmpty());
    GraphView view;
    view.setScene(scene(g, {}));
    view.setOverlay(overlay);
    Table table = view.table();
    QCOMPARE(table.rows.size(), size_t{5});
    QCOMPARE(table.rows[1][5].toDouble(), 1.0);
    QCOMPARE(table.rows[0][6], QStringLiteral("not measured"));
    QCOMPARE(table.rows[2][6], QString());
    overlay.kind = GraphOverlay::Kind::difference;
    view.setOverlay(overlay);
    QCOMPARE(view.table().rows[1][5].toDouble(), 0.5);
    overlay.kind = GraphOverlay::Kind::tuned;
    view.setOverlay(overlay);
    table = view.table();
    QCOMPARE(table.rows[0][6], QStringLiteral("not tuned"));
    QCOMPARE(table.rows[1][5], QStringLiteral("1"));
    overlay.kind = GraphOverlay::Kind::none;
    view.setOverlay(overlay);
    QCOMPARE(view.table().columns.size(), 5);
  }

  void differencesDivergeAboutOne() {
    for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
      const auto colour = [&](double ratio) {
        GraphOverlay::Value v;
        v.known = true, v.value = ratio;
        return overlayBrush(GraphOverlay::Kind::difference, v, 2, *theme).color();
      };
      QCOMPARE(colour(1), theme->base);
      QCOMPARE(colour(0.1), theme->series[0]);
      QCOMPARE(colour(8), theme->series[5]);
      QVERIFY(colour(0.7) != colour(0.5) && colour(1.4) != colour(2));
      QCOMPARE(overlayBrush(GraphOverlay::Kind::difference, {}, 2, *theme).style(), Qt::BDiagPattern);
    }
  }

  void theWholeGraphIsPaintedHoweverSmallTheView() {
    applyTheme(ThemeChoice::light);
    const graph::Graph g = residual();
    GraphView view;
    view.resize(60, 40);
    QVERIFY(view.pictureSize().isEmpty());
    view.setScene(scene(g, {1, 2, 3, 4}));
    const QSizeF size = view.pictureSize();
    QVERIFY(size.height() > 400);
    QImage image(size.toSize(), QImage::Format_RGB32);
    image.fill(Qt::black);
    {
      QPainter painter(&image);
      view.paintPicture(painter, 1);
    }
    // Every node's fill is there.
    for (const auto& node : view.scene()->nodes) {
      const QPoint at = (node.rect.topLeft() - view.scene()->bounds.topLeft() + QPointF(node.rect.width() / 2, 4)).toPoint();
      QVERIFY(image.pixelColor(at) != lightTheme().base && image.pixelColor(at) != QColor(Qt::black));
    }
  }
};

QTEST_MAIN(GraphBlocksTest)
#include "graph_blocks_test.moc"
