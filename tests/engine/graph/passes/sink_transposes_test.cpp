// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/sink_transposes.h"

#include <QtTest>

#include "engine/base/rng.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::count;
using tw::graph::testing::Net;

class SinkTransposesTest : public QObject {
  Q_OBJECT

  using Dims = std::vector<int64_t>;
  static int turn(Net& n, int x, const Dims& perm) { return n.op("transpose", {x}, Attrs{{{"perm", perm}}}); }
  static int first(Net& n, int x) { return turn(n, x, {0, 3, 1, 2}); }  // channels first
  static int last(Net& n, int x) { return turn(n, x, {0, 2, 3, 1}); }
  /// A convolution of an image with channels last.
  static int conv_last(Net& n, int x, int64_t in, int64_t out, int64_t kernel = 3) { return last(n, n.conv(first(n, x), in, out, kernel)); }

  static void becomes(const Graph& g, const std::string& operators) {
    const auto s = sink_transposes(g, Target{});
    QVERIFY2(s, s ? "" : s.error().text().c_str());
    QCOMPARE(QString::fromStdString(tw::graph::testing::operators_of(*s)), QString::fromStdString(operators));
    const std::string differs = tw::graph::testing::what_differs(g, *s);
    QVERIFY2(differs.empty(), differs.c_str());
  }

 private Q_SLOTS:
  void biasesAndActivations() {
    Net n;
    const int a = n.op("relu", {n.op("add", {conv_last(n, n.input({1, 6, 5, 3}), 3, 4), n.weight({4})})});
    const int b = n.op("clip", {n.op("mul", {n.weight({5, 4}), conv_last(n, a, 4, 4)})}, Attrs{{{"min", 0.0}, {"max", 6.0}}});
    becomes(n.finish({conv_last(n, b, 4, 2)}), "transpose conv2d add relu conv2d mul clip conv2d transpose");
  }

  void residuals() {
    Net n;
    const int x = conv_last(n, n.input({1, 6, 6, 3}), 3, 4);
    const int y = n.op("add", {x, n.op("sigmoid", {conv_last(n, x, 4, 4)})});
    becomes(n.finish({conv_last(n, y, 4, 2)}), "transpose conv2d conv2d sigmoid add conv2d transpose");
  }

  void gatesByMeans() {
    Net n;
    const int x = conv_last(n, n.input({1, 6, 6, 3}), 3, 4);
    const int mean = n.op("reduce_mean", {x}, Attrs{{{"axes", Dims{1, -2}}, {"keepdims", int64_t{1}}}});
    const int gate = n.op("sigmoid", {conv_last(n, mean, 4, 4, 1)});
    const int y = conv_last(n, n.op("mul", {x, gate}), 4, 5);
    const int flat = n.op("reduce_max", {y}, Attrs{{{"axes", Dims{1, 2}}, {"keepdims", int64_t{0}}}});
    becomes(n.finish({flat}), "transpose conv2d reduce_mean conv2d sigmoid mul conv2d reduce_max");
  }

  void rowsThatStayTurned() {
    Net n;
    const int x = conv_last(n, n.input({2, 6, 5, 3}), 3, 4);
    const int rows = n.op("reduce_sum", {x}, Attrs{{{"axes", Dims{2}}, {"keepdims", int64_t{0}}}});
    becomes(n.finish({rows}), "transpose conv2d reduce_sum transpose");
  }

  void paddingAndJoining() {
    Net n;
    const int x = conv_last(n, n.input({1, 6, 5, 3}), 3, 4);
    const int wide = n.op("pad", {x}, Attrs{{{"pads", Dims{0, 1, 0, 2, 0, 0, 3, 1}}}});  // to 7 x 8 x 7
    const int other = n.op("pad", {n.op("neg", {x})}, Attrs{{{"pads", Dims{0, 1, 0, 0, 0, 0, 3, 1}}}});
    const int both = n.op("concat", {wide, other}, Attrs{{{"axis", int64_t{-1}}}});
    becomes(n.finish({conv_last(n, n.op("softmax", {both}), 12, 2)}), "transpose conv2d pad neg pad concat softmax conv2d transpose");
  }

  /// An operand with channels last needs its partner as it was.
  void whatReadsTheOldOrder() {
    Net n;
    const int x = n.input({1, 6, 6, 4}), y = conv_last(n, x, 4, 4);
    const int short_way = conv_last(n, n.op("relu", {y}), 4, 3), long_way = conv_last(n, n.op("add", {y, x}), 4, 2);
    becomes(n.finish({short_way, long_way}), "transpose conv2d relu conv2d transpose add transpose conv2d transpose transpose");
  }

  /// Dimensions that a reshape joins or takes apart lie beside each other; gates that broadcast need no move.
  void reshapesAndOperandsInPlace() {
    Net n;
    const int apart = n.op("reshape", {turn(n, n.input({2, 6, 4}), {0, 2, 1})}, Attrs{{{"shape", Dims{2, 4, 1, 2, 3}}}});
    const int gated = n.op("mul", {apart, n.input({2, 1, 1, 2, 3})});
    const int joined = n.op("reshape", {gated}, Attrs{{{"shape", Dims{1, 2, 4, 6}}}});
    becomes(n.finish({n.op("reduce_sum", {joined}, Attrs{{{"axes", Dims{3}}, {"keepdims", int64_t{0}}}})}), "reshape reshape mul reshape reduce_sum");
  }

  /// Its mean is along the last dimension, as rules know it.
  void normalisationsOfReshapedRowsStay() {
    Net n;
    const int x = n.op("reshape", {turn(n, n.input({2, 6, 2, 2}), {0, 2, 3, 1})}, Attrs{{{"shape", Dims{2, 4, 6}}}});
    const int mean = n.op("reduce_mean", {x}, Attrs{{{"axes", Dims{-1}}, {"keepdims", int64_t{1}}}});
    becomes(n.finish({turn(n, n.op("sub", {x, mean}), {0, 2, 1})}), "transpose reshape reduce_mean sub transpose");
  }

  void reshapesAcrossTheOrder() {
    Net n;
    const int x = n.op("neg", {turn(n, n.input({2, 6, 4}), {0, 2, 1})});
    const Graph g = n.finish({n.op("reshape", {x}, Attrs{{{"shape", Dims{6, 8}}}})});
    const Graph sunk = with_sunk_transposes(g).value();
    QCOMPARE(tw::graph::testing::operators_of(sunk), "neg transpose reshape");
    QCOMPARE(tw::graph::testing::what_differs(g, sunk), "");
  }

  void randomReshapes() {
    Rng rng(1);
    int behind = 0, before = 0;
    for (int k = 0; k < 1000; ++k) {
      Dims in, perm, out;
      int64_t elements = 1;
      for (int64_t d = 0; d < rng.range(1, 4); ++d) {
        in.push_back(std::array<int64_t, 5>{1, 2, 3, 4, 6}[static_cast<size_t>(rng.range(0, 4))]);
        perm.insert(perm.begin() + rng.range(0, d), d);
        elements *= in.back();
      }
      for (int64_t left = elements; left > 1;) {
        int64_t factor = rng.range(1, left);
        while (left % factor != 0) --factor;
        out.push_back(factor);
        left /= factor;
      }
      Net n;
      const Graph g = n.finish({n.op("reshape", {turn(n, n.input(in), perm)}, Attrs{{{"shape", out}}})});
      const Graph sunk = with_sunk_transposes(g).value();
      const std::string differs = tw::graph::testing::what_differs(g, sunk);
      QVERIFY2(differs.empty(), (print(g, 0) + print(sunk, 0) + differs).c_str());
      (tw::graph::testing::operators_of(sunk) == "transpose reshape" ? before : behind) += 1;
    }
    QVERIFY2(behind > 100 && before > 100, qPrintable(QString("%1 behind, %2 before").arg(behind).arg(before)));
  }

  void nothingToGain() {
    Net n;
    const int x = n.input({2, 3, 4});
    const Graph g = n.finish({n.op("relu", {n.op("add", {turn(n, x, {2, 0, 1}), n.weight({3})})})});
    becomes(g, "transpose add relu");
    const Graph same = sink_transposes(g, Target{}).value();
    QCOMPARE(print(same, 0), print(g, 0));
  }

  void constantsAndBothEnds() {
    Net n;
    const int w = turn(n, n.weight({3, 5}), {1, 0});
    const int x = turn(n, turn(n, n.input({5, 3}), {1, 0}), {1, 0});
    const Graph g = n.finish({x, n.op("neg", {w})});
    const auto s = sink_transposes(g, Target{});
    QVERIFY(s.has_value());
    const std::string differs = tw::graph::testing::what_differs(g, *s);
    QVERIFY2(differs.empty(), differs.c_str());
  }
};

QTEST_APPLESS_MAIN(SinkTransposesTest)
#include "sink_transposes_test.moc"
