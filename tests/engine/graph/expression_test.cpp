// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/expression.h"

#include <QtTest>

#include "engine/base/rng.h"
#include "engine/graph/evaluate.h"
#include "engine/graph/partition.h"
#include "engine/graph/to_dag.h"

using namespace tw;

/// Nodes that compute what a text says: alone, where the text stays what it is, and among others.
class ExpressionTest : public QObject {
  Q_OBJECT

  static constexpr const char* kText =
      "A: float32[3, 4] = placeholder()\n"
      "B: float32[4] = placeholder()\n"
      "S: float32[3] = sum(i, k=4)\n    A[i, k] * B[k]\n"
      "Y: float32[3] = compute(i)\n    S[i] + S[i]\n"
      "outputs(Y)\n";

  static HostArray filled(std::vector<int64_t> shape, uint64_t seed) {
    Rng rng(seed);
    HostArray a = HostArray::make(kFloat32, std::move(shape));
    for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, rng.normal());
    return a;
  }

 private Q_SLOTS:
  void one_node_is_the_text() {
    const std::string text = std::string(kText) + "schedule\nvectorize(Y.i)\n";
    const graph::Graph g = graph::graph_of("mine", text).value();
    QVERIFY(graph::verify(g).has_value());
    QCOMPARE(g.values[static_cast<size_t>(g.outputs[0])].name, std::string("Y"));
    QCOMPARE(*graph::text_of(g), text);
    const graph::Partition p = graph::partition(g).value();
    QCOMPARE(p.groups.size(), size_t{1});
    QCOMPARE(p.groups[0].name, std::string("mine"));
    QCOMPARE(te::print(*p.groups[0].dag), text);
    QCOMPARE(p.groups[0].inputs, g.inputs);
    // The text travels with the graph.
    const auto back = graph::parse(graph::print(g));
    QVERIFY2(back.has_value(), back ? "" : back.error().text().c_str());
    QCOMPARE(*graph::text_of(*back), text);
  }
  void values_are_those_of_the_text() {
    const graph::Graph g = graph::graph_of("mine", kText).value();
    const HostArray a = filled({3, 4}, 1), b = filled({4}, 2);
    const std::vector<HostArray> got = graph::evaluate(g, {{"A", a}, {"B", b}}).value();
    const std::vector<HostArray> want = te::interpret(**te::parse_dag(kText), std::vector{a, b}).value();
    for (int64_t i = 0; i < 3; ++i) QCOMPARE(got[0].get(i), want[0].get(i));
  }
  void it_stands_among_other_operators() {
    graph::GraphBuilder b("net");
    const int x = b.input("x", {kFloat32, {3, 4}}), w = b.constant("w", filled({4}, 2));
    const int r = b.node("relu", {x}).value()[0];
    graph::Attrs attrs;
    attrs.values["text"] = std::string(kText);
    const int y = b.node(graph::kExpression, {r, w}, attrs, "mine").value()[0];
    b.output(b.node("neg", {y}).value()[0]);
    const graph::Graph g = std::move(b).finish();
    QVERIFY(graph::verify(g).has_value());
    QVERIFY(graph::text_of(g) == nullptr);
    HostArray a = filled({3, 4}, 1);
    const std::vector<HostArray> got = graph::evaluate(g, {{"x", a}}).value();
    for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, std::max(0.0, a.get(i)));
    const std::vector<HostArray> want = te::interpret(**te::parse_dag(kText), std::vector{a, filled({4}, 2)}).value();
    for (int64_t i = 0; i < 3; ++i) QCOMPARE(got[0].get(i), -want[0].get(i));
    // A constant operand is one of the task too.
    const auto own = graph::to_dag(g, g.nodes[1]).value();
    QVERIFY(own.dag->ops[1].role == te::Role::constant);
  }
  void what_does_not_fit_is_refused() {
    graph::GraphBuilder b("net");
    const int x = b.input("x", {kFloat32, {3, 4}});
    graph::Attrs attrs;
    attrs.values["text"] = std::string(kText);
    QVERIFY(!b.node(graph::kExpression, {x}, attrs));
    QVERIFY(!b.node(graph::kExpression, {x, x}, attrs));
    attrs.values["text"] = std::string("nonsense");
    QVERIFY(!b.node(graph::kExpression, {x}, attrs));
    const auto two = graph::graph_of("two", "A: int8[2] = placeholder()\nB: int8[2] = compute(i)\n    A[i]\nC: int8[2] = compute(i)\n    A[i]\noutputs(B, C)\n");
    QCOMPARE(QString::fromStdString(two.error().message), QString("Expected an expression with one output, found 2"));
  }
};

QTEST_APPLESS_MAIN(ExpressionTest)
#include "expression_test.moc"
