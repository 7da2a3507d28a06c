// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/fuse_operators.h"

#include <QtTest>

#include "engine/graph/partition.h"
#include "engine/te/written_size.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::Net;
using Names = std::vector<std::string>;

class FuseOperatorsTest : public QObject {
  Q_OBJECT

  static Partition parts(const Graph& g) { return partition(fuse_operators(g, Target{}).value()).value(); }
  static Names names(const Graph& g) {
    Names out;
    for (const Group& group : parts(g).groups) out.push_back(group.name);
    return out;
  }
  /// Running group by group gives what running node by node gives.
  static bool same_results(const Graph& g) {
    const auto inputs = tw::graph::testing::random_inputs(g, 3);
    const auto want = evaluate(g, inputs).value();
    std::vector<HostArray> values(g.values.size());
    for (size_t v = 0; v < g.values.size(); ++v)
      if (g.values[v].constant) values[v] = *g.values[v].constant;
    for (const int v : g.inputs) values[static_cast<size_t>(v)] = inputs.at(g.values[static_cast<size_t>(v)].name);
    for (const Group& group : parts(g).groups) {
      std::vector<HostArray> arguments;
      for (const int v : group.inputs) arguments.push_back(values[static_cast<size_t>(v)]);
      const auto results = te::interpret(*group.dag, arguments).value();
      for (size_t i = 0; i < results.size(); ++i) values[static_cast<size_t>(group.outputs[i])] = results[i];
    }
    for (size_t i = 0; i < want.size(); ++i)
      if (tw::graph::testing::relative_difference(values[static_cast<size_t>(g.outputs[i])], want[i]) > 1e-6) return false;
    return true;
  }

 private Q_SLOTS:
  void convolutionTakesElementwiseFollowers() {
    Net n;
    const int x = n.input({1, 4, 6, 6});
    const Graph g = n.finish({n.op("relu", {n.op("add", {n.conv(x, 4, 8), n.weight({8, 1, 1})})})});
    QCOMPARE(names(g), (Names{"fused_conv2d_add_relu"}));
    QVERIFY(same_results(g));
  }

  void residualJoinsOneOfTwoConvolutions() {
    Net n;
    const int x = n.input({1, 4, 6, 6});
    const int a = n.op("add", {n.conv(x, 4, 8), n.weight({8, 1, 1})}), b = n.op("add", {n.conv(x, 4, 8, 1), n.weight({8, 1, 1})});
    const Graph g = n.finish({n.op("relu", {n.op("add", {a, b})})});
    QCOMPARE(names(g), (Names{"fused_conv2d_add", "fused_conv2d_add_add_relu"}));
    QVERIFY(same_results(g));
  }

  void reluBeforeConvolutionStaysOut() {
    Net n;
    const Graph g = n.finish({n.conv(n.op("relu", {n.input({1, 4, 6, 6})}), 4, 8)});
    QCOMPARE(names(g), (Names{"fused_relu", "fused_conv2d"}));
  }

  void largerBroadcastStaysOut() {
    Net n;
    const int x = n.input({1, 4, 6, 6});
    const Graph g = n.finish({n.op("add", {n.conv(x, 4, 8), n.input({3, 8, 6, 6}, "z")})});
    QCOMPARE(names(g), (Names{"fused_conv2d", "fused_add"}));
    QVERIFY(same_results(g));
  }

  void diamondIsOneGroup() {
    Net n;
    const int c = n.conv(n.input({1, 4, 6, 6}), 4, 8);
    const Graph g = n.finish({n.op("add", {n.op("relu", {c}), c})});
    QCOMPARE(names(g), (Names{"fused_conv2d_relu_add"}));
    QVERIFY(same_results(g));
  }

  void elementwiseJoinsAReductionButDoesNotFollowIt() {
    Net n;
    Attrs axes;
    axes.values["axes"] = std::vector<int64_t>{1};
    const Graph g = n.finish({n.op("sqrt", {n.op("reduce_sum", {n.op("exp", {n.input({4, 9})})}, axes)})});
    QCOMPARE(names(g), (Names{"fused_exp_reduce_sum", "fused_sqrt"}));
    QVERIFY(same_results(g));
  }

  void poolingTakesFollowersButNoLeaders() {
    Net n;
    Attrs pool;
    pool.values = {{"kernel", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}};
    const int c = n.op("relu", {n.conv(n.input({1, 4, 6, 6}), 4, 8)});
    const Graph g = n.finish({n.op("neg", {n.op("max_pool2d", {c}, pool)})});
    QCOMPARE(names(g), (Names{"fused_conv2d_relu", "fused_max_pool2d_neg"}));
  }

  void outputsEndGroups() {
    Net n;
    const int a = n.op("exp", {n.input({4, 9})});
    const int b = n.op("neg", {a});
    const Graph g = n.finish({a, b});
    QCOMPARE(names(g), (Names{"fused_exp", "fused_neg"}));
    QVERIFY(same_results(g));
  }

  void dataMovementJoins() {
    Net n;
    Attrs swap;
    swap.values["perm"] = std::vector<int64_t>{1, 0};
    const Graph g = n.finish({n.op("relu", {n.op("transpose", {n.op("exp", {n.op("transpose", {n.input({4, 9})}, swap)})}, swap)})});
    QCOMPARE(names(g), (Names{"fused_transpose_exp_transpose_relu"}));
    QVERIFY(same_results(g));
  }

  void concatTakesElementwiseOperands() {
    Net n;
    const int x = n.input({1, 4, 6, 6});
    Attrs axis;
    axis.values["axis"] = int64_t{1};
    const int a = n.op("relu", {n.conv(x, 4, 8)}), b = n.op("neg", {x});
    const Graph g = n.finish({n.op("concat", {a, b}, axis)});
    QCOMPARE(names(g), (Names{"fused_conv2d_relu", "fused_neg_concat"}));
    QVERIFY(same_results(g));
  }

  void groupsHaveALimit() {
    Net n;
    int x = n.input({4});
    for (int i = 0; i < 300; ++i) x = n.op("tanh", {x});
    const Graph g = n.finish({x});
    const Partition p = parts(g);
    QCOMPARE(p.groups.size(), size_t{2});
    QCOMPARE(std::max(p.groups[0].nodes.size(), p.groups[1].nodes.size()), size_t{256});
    QVERIFY(kernel_borders(g)[0].reason.find("more than 256 operators") != std::string::npos);
  }

  /// Operators that read their operand several times make chains that would double, or worse, with every operator: kernels end before.
  void expressionsHaveALimit_data() {
    QTest::addColumn<std::string>("op");
    QTest::addColumn<bool>("twice");
    QTest::newRow("sums") << std::string("add") << true;
    QTest::newRow("products") << std::string("mul") << true;
    QTest::newRow("mish") << std::string("mish") << false;
    QTest::newRow("gelu") << std::string("gelu") << false;
  }
  void expressionsHaveALimit() {
    QFETCH(const std::string, op);
    QFETCH(const bool, twice);
    const auto chain = [&](int length) {
      Net n;
      int x = n.input({4});
      for (int i = 0; i < length; ++i) x = twice ? n.op(op, {x, x}) : n.op(op, {x});
      return n.finish({x});
    };
    const Graph g = chain(120);
    const Partition p = parts(g);
    for (const Group& group : p.groups) {
      std::vector<te::WrittenSize> sizes;
      for (const te::Op& o : group.dag->ops)
        sizes.push_back(o.is_placeholder() ? te::WrittenSize::stored(o.output->shape.size())
                                           : te::written_size(o, [&](const ir::BufferNode& b) { return sizes[static_cast<size_t>(group.dag->op_of(&b))]; }));
      QVERIFY(sizes.back().nodes <= te::kMostWrittenNodes);
    }
    // As many operators a kernel everywhere: what there is to do grows with the chain.
    const size_t each = p.groups[0].nodes.size();
    QVERIFY(each >= 2 && each < 40);
    QCOMPARE(p.groups.size(), (120 + each - 1) / each);
    QCOMPARE(p.workloads.size(), 120 % each == 0 ? size_t{1} : size_t{2});
    for (const KernelBorder& k : kernel_borders(g))
      QVERIFY2(k.reason.find("more than 4096") != std::string::npos, k.reason.c_str());
    QVERIFY(same_results(chain(static_cast<int>(each) + 2)));
  }

  /// Data movement that multiplies indices counts too: each reshape of a turned array names every axis in every index.
  void indicesCount() {
    Net n;
    Attrs turn, flat, square;
    turn.values["perm"] = std::vector<int64_t>{2, 0, 1};
    square.values["shape"] = std::vector<int64_t>{4, 6, 10};
    int x = n.input({4, 6, 10});
    for (int i = 0; i < 40; ++i) x = n.op("reshape", {n.op("transpose", {x}, turn)}, square);
    const Graph g = n.finish({x});
    const Partition p = parts(g);
    QVERIFY(p.groups.size() > 2);
    QVERIFY(same_results(g));
  }

  /// A large layer stays whole with what little follows it, and what ends by size alone says so only where it does.
  void largeConcatenationsStay() {
    Net n;
    Attrs axis;
    axis.values["axis"] = int64_t{1};
    std::vector<int> many;
    for (int i = 0; i < 100; ++i) many.push_back(n.op("relu", {n.input({2, 3}, "x" + std::to_string(i))}));
    const Graph g = n.finish({n.op("neg", {n.op("concat", many, axis)})});
    QCOMPARE(parts(g).groups.size(), size_t{1});
    QVERIFY(kernel_borders(g).empty());
  }

  /// A factor that is computed from inputs stands before the layer in the graph, and is read two operators after it.
  void whatIsComputedBesideALayerIsAKernelOfItsOwn() {
    Net n;
    const int factor = n.op("mul", {n.input({1}), n.input({8})}), alike = n.op("exp", {n.input({3, 8})});
    const int y = n.op("mul", {n.op("relu", {n.op("dense", {n.input({3, 5}), n.weight({8, 5})})}), factor});
    const Graph g = n.finish({n.op("add", {y, alike})});
    QCOMPARE(names(g), (Names{"fused_mul", "fused_exp_dense_relu_mul_add"}));
    QVERIFY(same_results(g));
    QCOMPARE(kernel_borders(g).at(0).reason, std::string("it is computed beside 'dense' (dense), in another shape"));
  }
  /// Loops walk through both shapes of a reshape that only splits or joins; one that cuts across stays out of what computes by place.
  void reshapesThatCutAcross() {
    const auto made = [](std::vector<int64_t> to, bool by_channel) {
      Net n;
      const int x = n.input({2, 6, 5, 4}), y = n.op("mul", {x, by_channel ? n.input({2, 6, 1, 1}) : n.input({2, 6, 5, 4})});
      const Graph g = n.finish({n.op("relu", {n.op("reshape", {y}, Attrs{{{"shape", std::move(to)}}})})});
      if (!same_results(g)) return Names{"other results"};
      return names(g);
    };
    QCOMPARE(made({4, 3, 20}, true), (Names{"fused_mul_reshape_relu"}));
    QCOMPARE(made({12, 5, 2, 2}, true), (Names{"fused_mul_reshape_relu"}));
    QCOMPARE(made({2, 8, 15}, true), (Names{"fused_mul", "fused_reshape_relu"}));
    QCOMPARE(made({2, 8, 15}, false), (Names{"fused_mul_reshape_relu"}));
    Net n;
    const int y = n.op("mul", {n.input({2, 6, 5, 4}), n.input({6, 1, 1})});
    const Graph g = n.finish({n.op("reshape", {y}, Attrs{{{"shape", std::vector<int64_t>{2, 8, 15}}}})});
    QCOMPARE(kernel_borders(g).at(0).reason, std::string("a reshape cuts across dimensions, whose places would be divisions"));
  }

  void bordersHaveReasons() {
    Net n;
    Attrs axes;
    axes.values["axes"] = std::vector<int64_t>{1};
    const int x = n.input({1, 4, 6, 6}), a = n.conv(x, 4, 8), b = n.conv(n.op("relu", {a}), 8, 8);
    const int norm = n.op("layer_norm", {n.op("reduce_sum", {b}, axes), n.weight({6})});
    const Graph g = n.finish({n.op("neg", {norm}), a});
    std::vector<std::string> seen;
    for (const KernelBorder& k : kernel_borders(g))
      seen.push_back(g.nodes[static_cast<size_t>(k.producer)].op + " to " + g.nodes[static_cast<size_t>(k.consumer)].op + ": " + k.reason);
    QCOMPARE(seen, (Names{"conv2d to relu: the caller reads its result",
                          "relu to conv2d: 'conv2d_1' (conv2d) reads its operands many times: what it reads is computed before",
                          "conv2d to reduce_sum: a reader is not elementwise in it: it moves, repeats or reduces the result",
                          "reduce_sum to layer_norm: a reduction ends its kernel", "layer_norm to neg: it is a kernel of its own"}));
  }

  void equalGroupsShareAWorkload() {
    Net n;
    int x = n.input({1, 8, 6, 6});
    for (int i = 0; i < 3; ++i) x = n.op("relu", {n.conv(x, 8, 8)});
    const Graph g = n.finish({n.conv(x, 8, 8)});
    const Partition p = parts(g);
    QCOMPARE(p.groups.size(), size_t{4});
    QCOMPARE(p.workloads.size(), size_t{2});
    QCOMPARE(p.workloads[0].weight(), 3);
    QCOMPARE(p.workloads[0].name, std::string("fused_conv2d_relu"));
    const te::Dag& dag = *p.groups[1].dag;
    QCOMPARE(dag.ops[1].role, te::Role::constant);
    QCOMPARE(dag.ops[0].role, te::Role::activation);
    QVERIFY(dag.find("pad") >= 0);
    QVERIFY(te::verify(dag));
  }
};

QTEST_APPLESS_MAIN(FuseOperatorsTest)
#include "fuse_operators_test.moc"
