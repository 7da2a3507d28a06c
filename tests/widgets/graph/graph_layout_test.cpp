// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/graph_layout.h"

#include <QElapsedTimer>
#include <QtTest>
#include <random>

using namespace tw::widgets;

namespace {

/// A random graph whose edges go from lower to higher numbers; `skip` is the chance of a long edge.
LayoutInput randomGraph(unsigned seed, int nodes, double density, double skip) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  LayoutInput in;
  for (int i = 0; i < nodes; ++i) in.sizes.emplace_back(20 + 120 * unit(rng), 16 + 40 * unit(rng));
  for (int i = 1; i < nodes; ++i) {
    const int fan = 1 + static_cast<int>(density * unit(rng));
    for (int k = 0; k < fan; ++k) {
      const int reach = unit(rng) < skip ? i : std::min(i, 4);
      in.edges.emplace_back(i - 1 - static_cast<int>(unit(rng) * reach * 0.999), i);
    }
  }
  return in;
}

void checkLayout(const LayoutInput& in, const Layout& out) {
  QCOMPARE(out.boxes.size(), in.sizes.size());
  for (size_t i = 0; i < out.boxes.size(); ++i) {
    QCOMPARE(out.boxes[i].size(), in.sizes[i]);
    QVERIFY(out.bounds.adjusted(-1, -1, 1, 1).contains(out.boxes[i]));
    for (size_t j = i + 1; j < out.boxes.size(); ++j) QVERIFY2(!out.boxes[i].intersects(out.boxes[j]), qPrintable(QString("%1 and %2").arg(i).arg(j)));
  }
  for (size_t e = 0; e < in.edges.size(); ++e) {
    const auto [from, to] = in.edges[e];
    if (from == to) continue;
    const auto& route = out.routes[e];
    QVERIFY(route.size() >= 2);
    QVERIFY2(out.boxes[static_cast<size_t>(from)].bottom() < out.boxes[static_cast<size_t>(to)].top(), "an edge points up");
    for (size_t k = 1; k < route.size(); ++k) QVERIFY(route[k].y() >= route[k - 1].y());
    QCOMPARE(route.front().y(), out.boxes[static_cast<size_t>(from)].bottom());
    QCOMPARE(route.back().y(), out.boxes[static_cast<size_t>(to)].top());
  }
}

}  // namespace

class GraphLayoutTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void emptyAndSingle() {
    QVERIFY(layoutGraph({}, {}, {})->boxes.empty());
    const auto one = layoutGraph({{QSizeF(10, 10)}, {}}, {}, {});
    QCOMPARE(one->boxes.size(), size_t{1});
    QCOMPARE(one->bounds, one->boxes[0]);
  }

  void randomGraphsKeepTheRules() {
    for (unsigned seed = 0; seed < 60; ++seed) {
      const LayoutInput in = randomGraph(seed, 5 + static_cast<int>(seed) * 3, 1 + seed % 4, 0.05 * (seed % 5));
      const auto out = layoutGraph(in, {}, {});
      QVERIFY(out.has_value());
      checkLayout(in, *out);
      if (QTest::currentTestFailed()) return;
    }
  }

  void sameInputSameDrawing() {
    const LayoutInput in = randomGraph(7, 300, 3, 0.1);
    const auto a = layoutGraph(in, {}, {}), b = layoutGraph(in, {}, {});
    QVERIFY(a->boxes == b->boxes);
    QVERIFY(a->routes == b->routes);
  }

  void aChainIsStraight() {
    LayoutInput in;
    for (int i = 0; i < 20; ++i) in.sizes.emplace_back(40 + i, 20);
    for (int i = 1; i < 20; ++i) in.edges.emplace_back(i - 1, i);
    const auto out = layoutGraph(in, {}, {});
    for (const QRectF& box : out->boxes) QVERIFY(qAbs(box.center().x() - out->boxes[0].center().x()) < 0.5);
  }

  void twoParallelPathsDoNotCross() {
    // Two chains from one source to one sink, their nodes interleaved in the input.
    LayoutInput in;
    in.sizes.assign(10, QSizeF(50, 20));
    for (int i = 1; i <= 8; ++i) in.edges.emplace_back(i <= 2 ? 0 : i - 2, i);
    in.edges.emplace_back(7, 9), in.edges.emplace_back(8, 9);
    const auto out = layoutGraph(in, {}, {});
    const bool left = out->boxes[1].x() < out->boxes[2].x();
    for (size_t i = 1; i <= 7; i += 2) QCOMPARE(out->boxes[i].x() < out->boxes[i + 1].x(), left);
  }

  void cyclesAreDrawn() {
    LayoutInput in;
    in.sizes.assign(3, QSizeF(10, 10));
    in.edges = {{0, 1}, {1, 2}, {2, 0}, {1, 1}};
    const auto out = layoutGraph(in, {}, {});
    QVERIFY(out.has_value());
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = i + 1; j < 3; ++j) QVERIFY(!out->boxes[i].intersects(out->boxes[j]));
    }
  }

  void stopsWhenAsked() {
    const LayoutInput in = randomGraph(3, 4000, 6, 0.3);
    tw::StopSource source;
    source.request_stop();
    QVERIFY(!layoutGraph(in, {}, source.get_token()).has_value());
  }

  void fiveThousandNodes() {
    const LayoutInput in = randomGraph(1, 5000, 2, 0);
    QElapsedTimer timer;
    timer.start();
    QVERIFY(layoutGraph(in, {}, {}).has_value());
    qInfo("5000 nodes: %lld ms", timer.elapsed());
  }
};

QTEST_APPLESS_MAIN(GraphLayoutTest)
#include "graph_layout_test.moc"
