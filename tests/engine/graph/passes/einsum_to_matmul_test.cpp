// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/einsum_to_matmul.h"

#include <QtTest>

#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::Net;

class EinsumToMatmulTest : public QObject {
  Q_OBJECT

  using Dims = std::vector<int64_t>;

 private Q_SLOTS:
  void rewritten_data() {
    QTest::addColumn<QString>("equation");
    QTest::addColumn<QString>("operators");
    // Every letter has an extent of its own.
    QTest::newRow("product") << "ij,jk->ik"
                             << "matmul";
    QTest::newRow("scores") << "bhid,bhjd->bhij"
                            << "transpose matmul";
    QTest::newRow("heads in the middle") << "bihd,bjhd->bhij"
                                         << "transpose transpose matmul";
    QTest::newRow("heads back") << "bhij,bjhd->bihd"
                                << "transpose matmul transpose";
    QTest::newRow("several sums") << "abij,ijk->abk"
                                  << "reshape reshape matmul reshape";
    QTest::newRow("rows of the second") << "jd,id->ij"
                                        << "transpose matmul";
    QTest::newRow("rest is implied") << "ji,ik"
                                     << "matmul";
    QTest::newRow("a large result in another order") << "bhi,bjd->hjid"
                                                     << "einsum";
    QTest::newRow("outer product") << "i,j->ij"
                                   << "reshape reshape mul";
    QTest::newRow("gates") << "bhij,bi->bhij"
                           << "reshape mul";
    QTest::newRow("gates in another order") << "bhij,ib->bhij"
                                            << "einsum";
    QTest::newRow("rows by rows") << "bij,bij->bi"
                                  << "einsum";
    QTest::newRow("one vector") << "bij,bj->bi"
                                << "einsum";
    QTest::newRow("diagonal") << "iij,jk->ik"
                              << "einsum";
    QTest::newRow("summed alone") << "ijk,jm->im"
                                  << "einsum";
    QTest::newRow("ellipsis") << "...ij,...jk->...ik"
                              << "matmul";
    QTest::newRow("ellipsis and an implied output") << "...ij,jk"
                                                    << "reshape matmul reshape";
    QTest::newRow("ellipses and an outer product") << "...ij,...hk->...ijhk"
                                                   << "reshape reshape mul";
    QTest::newRow("three") << "ij,jk,km->im"
                           << "matmul matmul";
    QTest::newRow("a product and a gate") << "bihd,bhjd,bih->bihj"
                                          << "reshape mul transpose transpose matmul transpose";
    QTest::newRow("four") << "bi,ij,jk,b->bk"
                          << "reshape mul matmul matmul";
    QTest::newRow("three with a diagonal") << "ij,jj,jk->ik"
                                           << "einsum";
  }
  void rewritten() {
    QFETCH(QString, equation);
    QFETCH(QString, operators);
    const auto extent = [](char c) { return c == 'b' ? 2 : c == 'h' ? 3 : c == 'i' ? 4 : c == 'j' ? 5 : c == 'd' ? 6 : c == 'k' ? 7 : 2; };
    Net n;
    std::vector<int> inputs;
    for (const QString& term : equation.section("->", 0, 0).split(',')) {
      Dims shape;
      const QString letters = QString(term).replace("...", "b");
      for (const QChar c : letters) shape.push_back(extent(c.toLatin1()));
      inputs.push_back(n.input(shape));
    }
    const Graph g = n.finish({n.op("einsum", inputs, Attrs{{{"equation", equation.toStdString()}}})});
    const Graph after = einsum_to_matmul(g, Target{}).value();
    QCOMPARE(QString::fromStdString(tw::graph::testing::operators_of(after)), operators);
    QCOMPARE(tw::graph::testing::what_differs(g, after, 1e-6), std::string());
  }

  /// What one operand has alone is columns, of constants above all: experts that read the same rows are one layer, whose weights are packed.
  void constants_have_the_columns() {
    for (const bool first : {false, true}) {
      Net n;
      const int x = n.input({4, 6}), w = n.weight({3, 6, 5});
      const Graph g =
          n.finish({n.op("einsum", first ? std::vector{w, x} : std::vector{x, w}, Attrs{{{"equation", std::string(first ? "edf,td->etf" : "td,edf->etf")}}})});
      const Graph after = einsum_to_matmul(g, Target{}).value();
      QCOMPARE(tw::graph::testing::operators_of(after), std::string("transpose reshape matmul reshape transpose"));
      const Node& product = *std::find_if(after.nodes.begin(), after.nodes.end(), [](const Node& node) { return node.op == "matmul"; });
      QCOMPARE(after.values[static_cast<size_t>(product.inputs[1])].type.shape, (Dims{6, 15}));
      QCOMPARE(tw::graph::testing::what_differs(g, after, 1e-6), std::string());
    }
  }
};

QTEST_APPLESS_MAIN(EinsumToMatmulTest)
#include "einsum_to_matmul_test.moc"
