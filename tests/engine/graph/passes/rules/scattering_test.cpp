// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/graph/passes/simplify_expressions.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::Net;

/// Many updates at constant places; what few become is among the cases of simplify_expressions.
class ScatteringTest : public QObject {
  Q_OBJECT

  /// Operators of a network that updates all but the first row and column of an image, or, `but_one`, all of those but one.
  static std::string operators_of(int64_t side, bool but_one) {
    const int64_t inner = side - 1, count = inner * inner - (but_one ? 1 : 0);
    HostArray places = HostArray::make(kInt64, {count, 2});
    for (int64_t i = 0; i < count; ++i) {
      places.set_int(2 * i, 1 + i / inner);
      places.set_int(2 * i + 1, 1 + i % inner);
    }
    Net n;
    const int x = n.input({side, side}), updates = n.input({count});
    const Graph g = n.finish({n.op("scatter_nd", {x, n.b.constant("places", std::move(places)), updates})});
    const auto simple = simplify_expressions(g, Target{});
    if (!simple) qFatal("%s", simple.error().text().c_str());
    std::string ops;
    for (const Node& node : simple->nodes) ops += node.op + " ";
    return ops;
  }

 private Q_SLOTS:
  /// A box needs no table of places, however many there are; another shape has one as far as its memory is worth it.
  void boxesOfMillions() {
    const auto is_box = [](const std::string& ops) { return ops.find("scatter") == std::string::npos && ops.find("concat") != std::string::npos; };
    QVERIFY(is_box(operators_of(40, false)));
    QVERIFY(is_box(operators_of(2200, false)));
    QVERIFY(operators_of(40, true).find("where") != std::string::npos);
    QCOMPARE(operators_of(2200, true), std::string("scatter_nd "));
  }
};

QTEST_APPLESS_MAIN(ScatteringTest)
#include "scattering_test.moc"
