// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/graph/passes/combine_parallel_batch_matmul.h"
#include "engine/graph/passes/combine_parallel_conv2d.h"
#include "engine/graph/passes/combine_parallel_dense.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::count;
using tw::graph::testing::Net;

class CombineParallelTest : public QObject {
  Q_OBJECT

  using Dims = std::vector<int64_t>;
  static int reshape(Net& n, int x, Dims shape) { return n.op("reshape", {x}, Attrs{{{"shape", std::move(shape)}}}); }
  static int concat(Net& n, std::vector<int> parts, int64_t axis) { return n.op("concat", std::move(parts), Attrs{{{"axis", axis}}}); }
  /// The graph is rewritten to `operators` and computes the same.
  static void becomes(Expected<Graph> (*pass)(const Graph&, const Target&), const Graph& g, const char* operators) {
    const Graph f = pass(g, Target{}).value();
    QCOMPARE(tw::graph::testing::operators_of(f), std::string(operators));
    QCOMPARE(tw::graph::testing::what_differs(g, f), std::string());
  }

 private Q_SLOTS:
  void projectionsOfAttention() {
    Net n;
    const int x = n.input({6, 8});
    const auto head = [&](int64_t features) {
      return reshape(n, n.op("add", {n.op("dense", {x, n.weight({features, 8})}), n.weight({features})}), {2, 3, features});
    };
    becomes(combine_parallel_dense, n.finish({head(8), head(8), head(4)}), "dense add slice slice slice reshape reshape reshape");
  }

  void biasesAndFunctionsJoin() {
    Net n;
    const int x = n.input({6, 8});
    const auto head = [&](int64_t features, double bound) {
      const int y = n.op("dense", {x, n.weight({features, 8}), n.weight({features})});
      return reshape(n, n.op("mul", {n.op("relu", {y}), n.weight({1}, bound, bound)}), {3, 2, features});
    };
    becomes(combine_parallel_dense, n.finish({head(5, 2), head(3, 0.5)}), "dense relu mul slice slice reshape reshape");
  }

  /// Only biases that are known can be joined; absent ones may be named as such.
  void biasesThatAreNotConstants() {
    for (const bool absent : {true, false}) {
      Net n;
      const int x = n.input({6, 8}), bias = absent ? -1 : n.input({4});
      const auto head = [&] { return reshape(n, n.op("relu", {n.op("dense", {x, n.weight({4, 8}), bias})}), {3, 2, 4}); };
      const Graph g = n.finish({head(), head()});
      if (absent)
        becomes(combine_parallel_dense, g, "dense relu slice slice reshape reshape");
      else
        QCOMPARE(print(combine_parallel_dense(g, Target{}).value()), print(g));
    }
  }

  void convolutionsOfOneWindow() {
    Net n;
    const int x = n.input({1, 4, 6, 6});
    const auto branch = [&](int64_t features, int64_t kernel) {
      return n.op("relu", {n.op("add", {n.conv(x, 4, features, kernel), n.weight({features, 1, 1})})});
    };
    becomes(combine_parallel_conv2d, n.finish({concat(n, {branch(2, 1), branch(5, 1), branch(3, 3)}, 1)}),
            "conv2d add relu slice slice conv2d add relu concat");
  }

  void stacksOfMatrices() {
    Net n;
    const int x = n.input({2, 3, 4});
    const auto branch = [&](int64_t features) {
      return reshape(n, n.op("add", {n.op("matmul", {x, n.weight({2, 4, features})}), n.weight({features})}), {6, features});
    };
    becomes(combine_parallel_batch_matmul, n.finish({branch(2), branch(5)}), "matmul add slice slice reshape reshape");
  }

  void differingFollowersStayOutside_data() {
    QTest::addColumn<int>("kind");
    for (int i = 0; i < 3; ++i) QTest::addRow("%d", i) << i;
  }
  /// One branch has a follower that the other has not: combining would cost the fusion of the layer with it.
  void differingFollowersStayOutside() {
    QFETCH(int, kind);
    Net n;
    const int x = n.input({6, 8}), a = n.op("dense", {x, n.weight({4, 8})}), b = n.op("dense", {x, n.weight({4, 8})});
    std::vector<int> out;
    if (kind == 0) out = {n.op("mul", {n.op("silu", {a}), b})};
    if (kind == 1) out = {a, reshape(n, b, {2, 3, 4})};
    if (kind == 2) out = {reshape(n, n.op("relu", {a}), {2, 3, 4}), reshape(n, n.op("neg", {b}), {2, 3, 4})};
    const Graph g = n.finish(out);
    QCOMPARE(print(combine_parallel_dense(g, Target{}).value()), print(g));
  }

  void unlikeLayersStay() {
    Net n;
    const int x = n.input({1, 4, 6, 6});
    Attrs wide;
    wide.values["dilations"] = Dims{2, 2};
    wide.values["pads"] = Dims(4, 2);
    const int a = n.conv(x, 4, 4), b = n.conv(x, 4, 4, 1), c = n.op("conv2d", {x, n.weight({4, 4, 3, 3})}, wide), d = n.conv(x, 4, 4, 3, 4),
              e = n.conv(x, 4, 4, 3, 4);
    const Graph g = n.finish({concat(n, {a, b, c, d, e}, 1)});
    QCOMPARE(count(combine_parallel_conv2d(g, Target{}).value(), "conv2d"), 5);
  }
};

QTEST_APPLESS_MAIN(CombineParallelTest)
#include "combine_parallel_test.moc"
