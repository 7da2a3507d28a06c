// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/fuse_transposes.h"

#include <QtTest>

#include "engine/graph/partition.h"
#include "engine/graph/passes/fuse_attention.h"
#include "engine/graph/passes/fuse_operators.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::Net;
using Names = std::vector<std::string>;
using Dims = std::vector<int64_t>;

class FuseTransposesTest : public QObject {
  Q_OBJECT

  static Names kernels(const Graph& g, const Target& target = {}) {
    Names out;
    const Graph fused = fuse_transposes(fuse_attention(fuse_operators(g, target).value(), target).value(), target).value();
    const Partition parts = partition(fused).value();
    for (const Group& group : parts.groups) out.push_back(group.name);
    return out;
  }
  static int transposed(Net& n, int x, Dims perm) { return n.op("transpose", {x}, Attrs{{{"perm", std::move(perm)}}}); }

 private Q_SLOTS:
  void joinsTheProduct() {
    Net n;
    const Graph g = n.finish({n.op("relu", {n.op("matmul", {n.input({2, 6, 8}), transposed(n, n.input({2, 5, 8}), {0, 2, 1})})})});
    QCOMPARE(kernels(g), (Names{"fused_transpose_matmul_relu"}));
    QCOMPARE(kernels(g, parse_target("cuda:a100").value()).size(), size_t{2});
    Net heads;
    QCOMPARE(kernels(heads.finish({heads.op("matmul", {heads.input({2, 4, 6, 8}), transposed(heads, heads.input({2, 5, 4, 8}), {0, 2, 3, 1})})})), (Names{"fused_transpose_matmul"}));
    Net itself;
    const int x = itself.input({6, 8});
    QCOMPARE(kernels(itself.finish({itself.op("matmul", {x, transposed(itself, x, {1, 0})})})), (Names{"fused_transpose_matmul"}));
  }

  void othersStayAlone() {
    Net first;  // of the first operand only single elements are read
    QCOMPARE(kernels(first.finish({first.op("matmul", {transposed(first, first.input({8, 6}), {1, 0}), first.input({8, 5})})})).size(), size_t{2});
    Net read;
    const int t = transposed(read, read.input({5, 8}), {1, 0});
    QCOMPARE(kernels(read.finish({read.op("matmul", {read.input({6, 8}), t}), t})).size(), size_t{2});
    Net twice;
    const int u = transposed(twice, twice.input({5, 8}), {1, 0});
    QCOMPARE(kernels(twice.finish({twice.op("matmul", {twice.input({6, 8}), u}), twice.op("matmul", {twice.input({7, 8}), u})})).size(), size_t{3});
    Net rows;  // as they are
    QCOMPARE(kernels(rows.finish({rows.op("matmul", {rows.input({2, 4, 6, 8}), transposed(rows, rows.input({2, 8, 4, 5}), {0, 2, 1, 3})})})).size(), size_t{2});
    Net attention;
    const int scores = attention.op("matmul", {attention.input({2, 6, 8}), transposed(attention, attention.input({2, 5, 8}), {0, 2, 1})});
    QCOMPARE(kernels(attention.finish({attention.op("matmul", {attention.op("softmax", {scores}), attention.input({2, 5, 8})})})).size(), size_t{2});
  }
};

QTEST_APPLESS_MAIN(FuseTransposesTest)
#include "engine/graph/passes/fuse_transposes_test.moc"
