// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/graph/evaluate.h"
#include "engine/graph/expression.h"
#include "engine/graph/pass.h"
#include "engine/graph/passes/eliminate_common_subexpr.h"
#include "engine/graph/passes/fold_constants.h"
#include "engine/graph/passes/fold_scale_axis.h"
#include "engine/graph/passes/matmul_to_dense.h"
#include "engine/graph/passes/remove_dead_nodes.h"
#include "engine/graph/passes/simplify_inference.h"
#include "engine/graph/passes/widen_sums.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::count;
using tw::graph::testing::Net;

class RewritingPassesTest : public QObject {
  Q_OBJECT

  static bool same_results(const Graph& before, const Graph& after, double tolerance = 1e-5) {
    const std::string differs = tw::graph::testing::what_differs(before, after, tolerance);
    if (!differs.empty()) qWarning("%s", differs.c_str());
    return differs.empty();
  }
  static int count_of_casts(const Graph& g) { return count(g, "cast"); }
  static Graph run(Expected<Graph> (*pass)(const Graph&, const Target&), const Graph& g) { return pass(g, Target{}).value(); }

 private Q_SLOTS:
  void batchNormBecomesMulAndAdd() {
    Net n;
    const int x = n.input({2, 4, 5, 5});
    const Graph g = n.finish({n.op("relu", {n.batch_norm(x, 4)}), n.batch_norm(x, 4)});
    const Graph s = run(simplify_inference, g);
    QCOMPARE(count(s, "batch_norm"), 0);
    QCOMPARE(count(s, "mul"), 2);
    QVERIFY(same_results(g, s));
  }

  void batchNormOfDataStays() {
    Net n;
    const int x = n.input({2, 4, 5}), scale = n.input({4}, "scale");
    const Graph g = n.finish({n.op("batch_norm", {x, scale, n.weight({4}), n.weight({4}), n.weight({4}, 1, 2)})});
    QCOMPARE(count(run(simplify_inference, g), "batch_norm"), 1);
  }

  void identitiesDisappear() {
    Net n;
    const int x = n.input({3});
    const int a = n.op("identity", {x}), b = n.op("relu", {a}), c = n.op("identity", {b}), d = n.op("identity", {n.op("neg", {c})});
    const Graph g = n.finish({b, c, a, d});
    const Graph s = run(simplify_inference, g);
    // Those whose results leave the graph beside their operands need nodes of their own; the last one does not.
    QCOMPARE(count(s, "identity"), 2);
    QVERIFY(same_results(g, s));
  }

  void constantsAreFolded() {
    Net n;
    const int x = n.input({2, 3});
    const int c = n.op("exp", {n.op("add", {n.weight({3}), n.weight({2, 3})})});
    const int out = n.op("neg", {n.weight({2})});
    const Graph g = n.finish({n.op("mul", {x, c}), out});
    const Graph s = run(fold_constants, g);
    QCOMPARE(static_cast<int>(s.nodes.size()), 2);  // the mul, and the neg that makes an output
    QVERIFY(same_results(g, s, 0));
  }

  void deadNodesGo() {
    Net n;
    const int x = n.input({2, 3});
    n.op("exp", {n.op("mul", {x, n.weight({3})})});
    const Graph g = n.finish({n.op("relu", {x})});
    const Graph s = run(remove_dead_nodes, g);
    QCOMPARE(static_cast<int>(s.nodes.size()), 1);
    QCOMPARE(s.parameter_count(), int64_t{0});
    QCOMPARE(s.values.size(), size_t{2});
    QVERIFY(same_results(g, s, 0));
  }

  void scaleFoldsBackward_data() {
    QTest::addColumn<int>("kind");
    for (int i = 0; i < 9; ++i) QTest::addRow("%d", i) << i;
  }
  void scaleFoldsBackward() {
    QFETCH(int, kind);
    Net n;
    const int x = n.input({1, 4, 6, 6});
    const int s = n.weight({8, 1, 1}, 0.5, 2);
    int y = -1;
    switch (kind) {
      case 0:
        y = n.conv(x, 4, 8);
        break;
      case 1:
        y = n.op("add", {n.conv(x, 4, 8), n.weight({8, 1, 1})});
        break;
      case 2:
        y = n.op("relu", {n.op("sub", {n.conv(x, 4, 8), n.weight({1, 8, 1, 1})})});
        break;
      case 3:
        y = n.conv(x, 4, 8, 3, 4);
        break;
      case 4:
        y = n.op("add", {n.weight({1}), n.conv(x, 4, 8)});
        break;
      case 5: {
        Attrs a;
        a.values["pads"] = std::vector<int64_t>{0, 0, 0, 0};
        y = n.op("conv2d", {x, n.weight({8, 4, 3, 3}), n.weight({8})}, a);
        break;
      }
      case 6:
        y = n.conv_transpose(x, 4, 8);
        break;
      case 7:
        y = n.op("relu", {n.op("add", {n.conv_transpose(x, 4, 8, 2), n.weight({8, 1, 1})})});
        break;
      case 8:
        y = n.conv_transpose(x, 4, 8, 4);
        break;
    }
    const Graph g = n.finish({n.op("mul", {y, s})});
    const Graph f = run(fold_scale_axis, g);
    QCOMPARE(count(f, "mul"), 0);
    QVERIFY(same_results(g, f));
  }

  void scaleStaysWhereItMust_data() {
    QTest::addColumn<int>("kind");
    for (int i = 0; i < 5; ++i) QTest::addRow("%d", i) << i;
  }
  void scaleStaysWhereItMust() {
    QFETCH(int, kind);
    Net n;
    const int x = n.input({1, 4, 6, 6});
    const int c = n.conv(x, 4, 8);
    std::vector<int> outputs;
    switch (kind) {
      case 0:
        outputs = {n.op("mul", {c, n.weight({8, 1, 1})}), n.op("neg", {c})};
        break;  // another reader
      case 1:
        outputs = {n.op("mul", {n.op("relu", {c}), n.weight({8, 1, 1}, -2, -1)})};
        break;  // ReLU and negative factors
      case 2:
        outputs = {n.op("mul", {c, n.weight({8, 6, 6})})};
        break;  // varies over the image
      case 3:
        outputs = {c, n.op("mul", {c, n.weight({8, 1, 1})})};
        break;  // the caller reads it
      case 4:
        outputs = {n.op("mul", {n.op("add", {c, n.input({1, 8, 6, 6}, "z")}), n.weight({8, 1, 1})})};
        break;  // data on the way
    }
    const Graph g = n.finish(outputs);
    const Graph f = run(fold_scale_axis, g);
    QCOMPARE(count(f, "mul"), 1);
    QVERIFY(same_results(g, f));
  }

  void scaleFoldsForward_data() {
    QTest::addColumn<int>("kind");
    for (int i = 0; i < 7; ++i) QTest::addRow("%d", i) << i;
  }
  void scaleFoldsForward() {
    QFETCH(int, kind);
    Net n;
    const int x = n.input(kind == 3 ? std::vector<int64_t>{5, 4} : std::vector<int64_t>{1, 4, 6, 6});
    int y = n.op("mul", {x, kind == 3 ? n.weight({4}) : n.weight({4, 1, 1}, 0.5, 2)});
    switch (kind) {
      case 0:
        y = n.conv(y, 4, 8);
        break;
      case 1:
        y = n.conv(n.op("relu", {n.op("add", {y, n.weight({4, 1, 1})})}), 4, 8);
        break;
      case 2:
        y = n.conv(y, 4, 8, 3, 4);
        break;
      case 3:
        y = n.op("dense", {y, n.weight({7, 4})});
        break;
      case 4:
        y = n.conv(y, 4, 8, 3, 2);
        break;
      case 5:
        y = n.conv_transpose(y, 4, 8);
        break;
      case 6:
        y = n.conv_transpose(n.op("add", {y, n.weight({4, 1, 1})}), 4, 8, 2);
        break;
    }
    const Graph g = n.finish({y});
    const Graph f = run(fold_scale_axis, g);
    QCOMPARE(count(f, "mul"), 0);
    QVERIFY(same_results(g, f));
  }

  void equalNodesAreMerged() {
    Net n;
    const int x = n.input({2, 3});
    graph::Attrs one, two;
    one.values["alpha"] = 0.1;
    two.values["alpha"] = 0.2;
    const HostArray w = tw::graph::testing::random_array({kFloat32, {3}}, 5);
    const int a = n.op("mul", {n.op("exp", {x}), n.b.constant("w", w)}), b = n.op("mul", {n.op("exp", {x}), n.b.constant("w", w)});
    const int c = n.op("leaky_relu", {a}, one), d = n.op("leaky_relu", {b}, one), e = n.op("leaky_relu", {b}, two), f = n.op("mul", {a, x});
    const Graph g = n.finish({n.op("add", {c, d}), n.op("add", {e, f}), d});
    const Graph s = run(eliminate_common_subexpr, g);
    QCOMPARE(count(s, "exp"), 1);
    QCOMPARE(count(s, "mul"), 2);
    QCOMPARE(count(s, "leaky_relu"), 2);
    QVERIFY(same_results(g, s, 0));
  }

  void operandsOfCommutativeOperatorsHaveNoOrder() {
    Net n;
    const int x = n.input({2, 3}), y = n.input({2, 3}, "y");
    const Graph g = n.finish(
        {n.op("exp", {n.op("add", {x, y})}), n.op("sin", {n.op("add", {y, x})}), n.op("exp", {n.op("sub", {x, y})}), n.op("sin", {n.op("sub", {y, x})})});
    const Graph s = run(eliminate_common_subexpr, g);
    QCOMPARE(count(s, "add"), 1);
    QCOMPARE(count(s, "sub"), 2);
    QVERIFY(same_results(g, s, 0));
  }

  void equalOutputsKeepNodesOfTheirOwn() {
    Net n;
    const int x = n.input({2, 3});
    const Graph g = n.finish({n.op("exp", {x}), n.op("exp", {x})});
    const Graph s = run(eliminate_common_subexpr, g);
    QCOMPARE(count(s, "exp"), 2);
    QVERIFY(same_results(g, s, 0));
  }

  void matmulBecomesDense() {
    Net n;
    const int x = n.input({5, 8});
    const Graph g = n.finish({n.op("add", {n.op("matmul", {x, n.weight({8, 6})}), n.weight({6})})});
    const Graph f = run(matmul_to_dense, g);
    QCOMPARE(count(f, "matmul"), 0);
    QCOMPARE(count(f, "reshape"), 0);
    QVERIFY(same_results(g, f));
  }

  void flatFormGoesOn() {
    Net n;  // two layers with bias, activation, normalisation and a residual addition: reshapes at the ends only
    const int x = n.input({2, 5, 8});
    const int h = n.op("gelu", {n.op("add", {n.op("matmul", {x, n.weight({8, 12})}), n.weight({1, 12})})});
    const int y = n.op("add", {n.op("mul", {n.op("matmul", {h, n.weight({12, 8})}), n.weight({})}), x});
    const Graph g = n.finish({n.op("layer_norm", {y, n.weight({8}), n.weight({8})})});
    const Graph f = run(matmul_to_dense, g);
    QCOMPARE(count(f, "dense"), 2);
    QCOMPARE(count(f, "reshape"), 2);
    QVERIFY(same_results(g, f));
  }

  void valuesReadBothWays() {
    Net n;
    graph::Attrs flat, swap;
    flat.values["shape"] = std::vector<int64_t>{10, 6};
    swap.values["perm"] = std::vector<int64_t>{2, 0, 1};
    const int y = n.op("matmul", {n.input({2, 5, 8}), n.weight({8, 6})});
    const int again = n.op("matmul", {n.op("relu", {y}), n.weight({6, 6})});
    const Graph g = n.finish({y, n.op("reshape", {again}, flat), n.op("transpose", {again}, swap), n.op("add", {y, n.weight({5, 6})})});
    const Graph f = run(matmul_to_dense, g);
    QCOMPARE(count(f, "dense"), 2);
    QVERIFY(same_results(g, f));
  }

  void reshapesAroundDenseLayersMove() {
    Net n;  // as the importer writes products: two readers of one tensor, bias, activation, residual addition
    const auto shaped = [&](int x, std::vector<int64_t> shape) {
      graph::Attrs a;
      a.values["shape"] = std::move(shape);
      return n.op("reshape", {x}, a);
    };
    const int x = n.op("exp", {n.input({2, 5, 8})});
    const auto layer = [&](int v, int64_t in, int64_t out) {
      return n.op("add", {shaped(n.op("dense", {shaped(v, {10, in}), n.weight({out, in})}), {2, 5, out}), n.weight({out})});
    };
    const int a = layer(x, 8, 8), b = n.op("relu", {layer(x, 8, 12)});
    const Graph g = n.finish({n.op("add", {n.op("add", {layer(b, 12, 8), x}), a}), shaped(a, {2, 5, 2, 4})});
    const Graph f = run(matmul_to_dense, g);
    QCOMPARE(count(f, "reshape"), 3);  // x to rows, and the two results
    QVERIFY(same_results(g, f));
    Net m;  // a flat form that leaves the graph
    const int y = m.op("relu", {m.input({2, 5, 8})});
    graph::Attrs rows;
    rows.values["shape"] = std::vector<int64_t>{10, 8};
    const Graph h = m.finish({m.op("reshape", {y}, rows), y});
    QVERIFY(same_results(h, run(matmul_to_dense, h)));
  }

  void productsOfDataStay() {
    Net n;
    const int x = n.input({2, 5, 8}), y = n.input({2, 8, 5}, "y");
    const Graph g = n.finish({n.op("matmul", {x, y}), n.op("matmul", {x, n.weight({2, 8, 3})}), n.op("matmul", {n.weight({4, 5}), x})});
    const Graph f = run(matmul_to_dense, g);
    QCOMPARE(count(f, "matmul"), 3);
    QVERIFY(same_results(g, f, 0));
  }

  /// 2048 + 1 is 2048 in float16: thousands of ones must not get lost. On a GPU the operands stay as they are.
  void sumsOfHalvesAreWide() {
    for (const DType t : {kFloat16, kBFloat16}) {
      Net n;
      const int64_t count = t == kFloat16 ? 4096 : 512;
      const int x = n.b.input("x", {t, {2, count}});
      HostArray ones = HostArray::make(t, {1, count});
      for (int64_t i = 0; i < count; ++i) ones.set(i, 1);
      const int product = n.op("dense", {x, n.b.constant("w", ones)});
      Attrs last;
      last.values["axes"] = std::vector<int64_t>{1};
      last.values["keepdims"] = int64_t{1};
      const int sum = n.op("reduce_sum", {x}, last), halved = n.op("relu", {product});
      const Graph g = n.finish({halved, sum});
      const Graph wide = run(widen_sums, g);
      QVERIFY(verify(wide).has_value());
      QCOMPARE(count_of_casts(wide), 3);  // the operand once, two results
      HostArray data = HostArray::make(t, {2, count});
      for (int64_t i = 0; i < data.num_elements(); ++i) data.set(i, 1);
      const std::vector<HostArray> results = evaluate(wide, {{"x", data}}).value();
      for (size_t o = 0; o < 2; ++o) {
        QVERIFY(results[o].dtype == t);
        QCOMPARE(results[o].get(1), static_cast<double>(count));
        QCOMPARE(wide.values[static_cast<size_t>(wide.outputs[o])].name, g.values[static_cast<size_t>(g.outputs[o])].name);
      }
      QCOMPARE(count_of_casts(widen_sums(g, parse_target("cuda:a100").value()).value()), 0);
    }
  }

  /// On GPUs too, and of constants: the sum of 1,000 values of 100 is beyond float16, their mean is not, and neither is their number if it is.
  void sumsInsideOperatorsAreWidenedEverywhere() {
    for (const int64_t count : {int64_t{1000}, int64_t{70000}}) {
      Net n;
      const int x = n.b.input("x", {kFloat16, {2, count}});
      Attrs rows;
      rows.values["axes"] = std::vector<int64_t>{1};
      const Graph g = n.finish({n.op("reduce_mean", {x}, rows)});
      const Graph wide = widen_sums(g, parse_target("cuda:a100").value()).value();
      QCOMPARE(count_of_casts(wide), 2);
      HostArray data = HostArray::make(kFloat16, {2, count});
      for (int64_t i = 0; i < data.num_elements(); ++i) data.set(i, 100);
      for (const Graph& graph : {g, wide}) QCOMPARE(evaluate(graph, {{"x", data}}).value()[0].get(1), 100.0);
    }
  }

  /// Definitions of one's own name their types: they add up in 16 bits if they say so.
  void sumsOfOnesOwnAreNotWidened() {
    const Graph g = graph_of("sums", "A: float16[4, 8] = placeholder()\nB: float16[4] = sum(i, k=8)\n    A[i, k]\noutputs(B)\n").value();
    const Graph same = run(widen_sums, g);
    QVERIFY(verify(same).has_value());
    QCOMPARE(count_of_casts(same), 0);
  }

  void pipelineKeepsResultsAndReports() {
    Net n;
    const int x = n.input({1, 4, 6, 6});
    const int a = n.op("relu", {n.batch_norm(n.conv(x, 4, 8), 8)});
    const int b = n.batch_norm(n.conv(a, 8, 8), 8);
    const Graph g = n.finish({n.op("relu", {n.op("add", {b, a})})});
    std::vector<std::string> seen;
    PassHooks hooks;
    hooks.after = [&](const Pass& p, const Graph&, const Graph&, double, bool changed) { seen.push_back(std::string(p.name) + (changed ? "+" : "")); };
    const Graph f = run_passes(g, Target{}, hooks).value();
    QCOMPARE(seen, (std::vector<std::string>{"canonicalize", "einsum_to_matmul", "simplify_inference+", "fold_constants", "drop_dead_taps", "sink_transposes", "simplify_expressions",
                                             "eliminate_common_subexpr", "widen_sums", "matmul_to_dense", "multiply_bytes", "fold_scale_axis+", "combine_parallel_dense", "remove_dead_nodes",
                                             "fuse_operators+", "fuse_attention", "fuse_transposes"}));
    QCOMPARE(count(f, "mul") + count(f, "batch_norm"), 0);
    QVERIFY(same_results(g, f));
    hooks.disabled = {"fold_scale_axis"};
    QCOMPARE(count(run_passes(g, Target{}, hooks).value(), "mul"), 2);
    hooks.disabled = {"no_such_pass"};
    QCOMPARE(run_passes(g, Target{}, hooks).error().code, ErrorCode::invalid_argument);
    hooks.disabled = {};
    hooks.enabled = {"no_such_pass"};
    QCOMPARE(run_passes(g, Target{}, hooks).error().code, ErrorCode::invalid_argument);
    hooks.enabled = {"combine_parallel_batch_matmul"};
    seen.clear();
    QVERIFY(run_passes(g, Target{}, hooks));
    QVERIFY(std::find(seen.begin(), seen.end(), "combine_parallel_batch_matmul") != seen.end());
    QVERIFY(std::find(seen.begin(), seen.end(), "combine_parallel_conv2d") == seen.end());
  }
};

QTEST_APPLESS_MAIN(RewritingPassesTest)
#include "rewriting_passes_test.moc"
