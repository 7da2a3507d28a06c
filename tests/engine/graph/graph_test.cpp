// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/graph/op.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::Net;

class GraphTest : public QObject {
  Q_OBJECT

  static Graph sample() {
    Net n;
    const int x = n.input({1, 4, 8, 8}, "the \"input\":0");
    const int y = n.op("relu", {n.batch_norm(n.conv(x, 4, 8), 8)});
    Attrs clip;
    clip.values = {{"min", -0.5}, {"max", 6.0}};
    return n.finish({n.op("clip", {n.op("add", {y, n.weight({8, 1, 1})})}, clip)});
  }
  static std::map<std::string, std::shared_ptr<const HostArray>> constants(const Graph& g) {
    std::map<std::string, std::shared_ptr<const HostArray>> out;
    for (const Value& v : g.values)
      if (v.constant) out.emplace(constant_key(*v.constant), v.constant);
    return out;
  }

 private Q_SLOTS:
  void namesAreUnique() {
    Net n;
    const int x = n.input({2, 3});
    const int a = n.op("relu", {x}), b = n.op("relu", {a});
    const Graph& g = n.b.graph();
    QCOMPARE(g.nodes[0].name, std::string("relu"));
    QCOMPARE(g.nodes[1].name, std::string("relu_1"));
    QVERIFY(g.values[static_cast<size_t>(a)].name != g.values[static_cast<size_t>(b)].name);
    n.b.rename(b, "relu");  // nodes and values have names of their own
    QCOMPARE(n.b.graph().values[static_cast<size_t>(b)].name, std::string("relu"));
    n.b.rename(a, "relu");
    QCOMPARE(n.b.graph().values[static_cast<size_t>(a)].name, std::string("relu_1"));
  }

  void inferenceErrorsNameTheNode() {
    Net n;
    const int x = n.input({2, 3});
    const auto bad = n.b.node("add", {x, n.weight({2, 4})}, {}, "sum");
    QVERIFY(!bad);
    QVERIFY(bad.error().text().find("'sum'") != std::string::npos);
    QCOMPARE(n.b.node("no_such_operator", {x}).error().code, ErrorCode::unsupported);
    QVERIFY(verify(n.b.graph()));  // the failed nodes left nothing behind
  }

  void typesAreInferred() {
    const Graph g = sample();
    QCOMPARE(g.values[static_cast<size_t>(g.outputs[0])].type.text(), std::string("float32[1, 8, 8, 8]"));
    QCOMPARE(g.parameter_count(), int64_t{8 * 4 * 9 + 4 * 8 + 8});
    QVERIFY(verify(g));
    Graph twice = g;
    twice.inputs.push_back(twice.inputs[0]);
    QVERIFY(!verify(twice));
  }

  void consumersListEachNodeOnce() {
    Net n;
    const int x = n.input({2, 3});
    const int y = n.op("add", {x, x});
    n.op("relu", {x});
    QCOMPARE(n.b.graph().consumers()[static_cast<size_t>(x)], (std::vector<int>{0, 1}));
    QVERIFY(n.b.graph().consumers()[static_cast<size_t>(y)].empty());
  }

  void verifyFindsDamage() {
    const Graph g = sample();
    Graph order = g;
    std::swap(order.nodes[0], order.nodes[1]);
    QVERIFY(!verify(order));
    Graph type = g;
    type.values[static_cast<size_t>(type.nodes[2].outputs[0])].type.shape[1] = 9;
    QVERIFY(!verify(type));
    Graph name = g;
    name.values[1].name = name.values[0].name;
    QVERIFY(!verify(name));
    Graph range = g;
    range.nodes[0].inputs[0] = 1000;
    QVERIFY(!verify(range));
    Graph output = g;
    output.outputs[0] = -3;
    QVERIFY(!verify(output));
    Graph op = g;
    op.nodes[0].op = "nonsense";
    QVERIFY(!verify(op));
    // Sizes from which a concatenation would compute extents that no integer holds.
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, int64_t{1} << 62}, {int64_t{1} << 62, 0}, {int64_t{1} << 32, int64_t{1} << 32}}) {
      Graph large = g;
      large.values[static_cast<size_t>(large.inputs[0])].type.shape = shape;
      QVERIFY(verify(large).error().message.find("2^40") != std::string::npos);
    }
  }

  void textRoundTrip() {
    Graph g = sample();
    g.nodes[1].group = 3;
    for (const int limit : {0, 8, 100000}) {
      const std::string text = print(g, limit);
      const auto back = parse(text, constants(g));
      QVERIFY2(back.has_value(), back ? "" : back.error().text().c_str());
      QCOMPARE(print(*back, limit), text);
      const auto inputs = tw::graph::testing::random_inputs(g, 5);
      QCOMPARE(tw::graph::testing::relative_difference(evaluate(*back, inputs).value()[0], evaluate(g, inputs).value()[0]), 0.0);
    }
  }

  void attributesRoundTrip() {
    Net n;
    Attrs a;
    a.values = {{"i", int64_t{-3}},
                {"d", 0.1},
                {"whole", 2.0},
                {"big", 1e300},
                {"inf", -INFINITY},
                {"s", std::string("a \"b\"\n\\")},
                {"is", std::vector<int64_t>{}},
                {"ds", std::vector<double>{1, 2.5}},
                {"no_ds", std::vector<double>{}},
                {"ss", std::vector<std::string>{"x", "y z"}}};
    n.op("relu", {n.input({2})}, a);
    const auto back = parse(print(n.b.graph()));
    QVERIFY2(back.has_value(), back ? "" : back.error().text().c_str());
    QVERIFY(back->nodes[0].attrs == a);
  }

  void parseErrorsNameTheLine() {
    const std::string good = print(sample(), 100000);
    QVERIFY(parse(good));
    for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
             {"", "'graph'"},
             {"graph \"g\" {\n  input %x: float31[2]\n}", "float31"},
             {"graph \"g\" {\n  input %x: float32[2]\n  %y: float32[2] = relu(%z) name \"r\"\n}", "line 3"},
             {"graph \"g\" {\n  constant %x: float32[2] = {1.0}\n}", "2 elements"},
             {"graph \"g\" {\n  constant %x: float32[2] = key 00\n}", "key 00"},
             {"graph \"g\" {\n  constant %x: float32[1000000, 1000000] = {1.0}\n}", "1000000000000 elements"},
             {"graph \"g\" {\n  input %x: float32[99999999, 99999999]\n}", "2^40"},
             {"graph \"g\" {\n  input %x: float32[2]\n  input %x: float32[2]\n}", "new name"},
             {"graph \"g\" {\n  input %x: float32[2]\n  %y: float32[3] = relu(%x) name \"r\"\n}", "float32[2]"},
         }) {
      const auto g = parse(text);
      QVERIFY(!g);
      QVERIFY2(g.error().text().find(what) != std::string::npos, g.error().text().c_str());
    }
    for (size_t cut = 0; cut < good.size(); cut += 7) QVERIFY(!parse(good.substr(0, cut)));  // no prefix is a graph, none crashes
  }

  void damagedTextIsRefusedOrLegal() {
    const std::string good = print(sample(), 100000);
    Rng rng(17);
    const std::string alphabet = "%{}[](),:=\"\\_-.0123456789efgkinputaonscrdx \n";
    for (int round = 0; round < 3000; ++round) {
      std::string text = good;
      for (int64_t edits = rng.range(1, 4); edits > 0; --edits) {
        const size_t at = rng.uniform(text.size());
        switch (rng.uniform(3)) {
          case 0:
            text[at] = alphabet[rng.uniform(alphabet.size())];
            break;
          case 1:
            text.erase(at, rng.uniform(40));
            break;
          default:
            text.insert(at, text.substr(rng.uniform(text.size()), rng.uniform(40)));
        }
      }
      if (const auto g = parse(text)) QVERIFY(verify(*g));
    }
  }

  void flopsOfANode() {
    const Graph g = sample();
    QCOMPARE(node_flops(g, g.nodes[0]), int64_t{2 * 4 * 9 * 8 * 64});
  }
};

QTEST_APPLESS_MAIN(GraphTest)
#include "graph_test.moc"
