// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/fuse_attention.h"

#include <QtTest>

#include "engine/graph/partition.h"
#include "engine/graph/passes/fuse_operators.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::Net;
using Names = std::vector<std::string>;

class FuseAttentionTest : public QObject {
  Q_OBJECT

  static Names kernels(const Graph& g, const Target& target = {}) {
    Names out;
    const Graph fused = fuse_attention(fuse_operators(g, target).value(), target).value();
    const Partition parts = partition(fused).value();
    for (const Group& group : parts.groups) out.push_back(group.name);
    return out;
  }
  static Attrs axis(int64_t a) {
    Attrs attrs;
    attrs.values["axis"] = a;
    return attrs;
  }
  static int scores(Net& n) { return n.op("matmul", {n.input({2, 6, 8}, "q"), n.input({2, 8, 5}, "k")}); }
  static int values(Net& n) { return n.input({2, 5, 8}, "v"); }

 private Q_SLOTS:
  void isOneKernel() {
    Net n;
    const int masked = n.op("add", {n.op("mul", {scores(n), n.weight({1})}), n.input({1, 6, 5}, "mask")});
    const Graph g = n.finish({n.op("relu", {n.op("matmul", {n.op("softmax", {masked}), values(n)})})});
    QCOMPARE(kernels(g), (Names{"fused_matmul_mul_add_softmax_matmul_relu"}));
    QCOMPARE(kernels(g, parse_target("cuda:a100").value()).size(), size_t{3});
  }
  void twoOfThemAreTwoKernels() {
    Net n;
    const int first = n.op("matmul", {n.op("softmax", {scores(n)}), values(n)});
    const int again = n.op("matmul", {first, n.input({2, 8, 5}, "k2")});
    const Graph g = n.finish({n.op("matmul", {n.op("softmax", {again}, axis(2)), n.input({2, 5, 8}, "v2")})});
    QCOMPARE(kernels(g), (Names{"fused_matmul_softmax_matmul", "fused_matmul_softmax_matmul"}));
  }
  void whatElseIsReadIsStored() {
    Net n;
    const int s = scores(n), p = n.op("softmax", {s}), v = values(n);
    QCOMPARE(kernels(n.finish({n.op("matmul", {p, v}), p})).size(), size_t{3});
    Net m;
    const int t = scores(m);
    QCOMPARE(kernels(m.finish({m.op("matmul", {m.op("softmax", {t}), values(m)}), t})).size(), size_t{3});
    Net o;
    const int u = scores(o);
    QCOMPARE(kernels(o.finish({o.op("matmul", {o.op("softmax", {u}), values(o)}), o.op("exp", {u})})).size(), size_t{4});
  }
  void othersStayAlone() {
    Net along;
    QCOMPARE(kernels(along.finish({along.op("matmul", {along.op("softmax", {scores(along)}, axis(1)), values(along)})})).size(), size_t{3});
    Net second;
    const int p = second.op("softmax", {scores(second)});
    QCOMPARE(kernels(second.finish({second.op("matmul", {second.input({2, 3, 6}, "x"), p})})).size(), size_t{3});
    Net constant;
    const int s = constant.op("matmul", {constant.input({2, 6, 8}), constant.weight({2, 8, 5})});
    QCOMPARE(kernels(constant.finish({constant.op("matmul", {constant.op("softmax", {s}), values(constant)})})).size(), size_t{3});
  }
};

QTEST_APPLESS_MAIN(FuseAttentionTest)
#include "engine/graph/passes/fuse_attention_test.moc"
