// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/api/compiled_graph.h"
#include "tests/engine/api/tiny_network.h"
#include "tests/engine/graph/random_graphs.h"

#include <QtTest>

#undef slots  // Qt's word for a section of a class; executables have slots of their own

using namespace tw;
using graph::Attrs;
using api::testing::wrong;
using tw::graph::testing::Net;
using Dims = std::vector<int64_t>;

namespace {

Attrs attr(const std::string& name, graph::AttrValue v) { return Attrs{{{name, std::move(v)}}}; }

}  // namespace

/// Arrays of compiled networks: parts written in place, arrays that are one, results over operands; always with the results of the interpreter.
class StorageTest : public QObject {
  Q_OBJECT

  Target target_ = host_target();

  runtime::Executable compiled(const graph::Graph& g) const { return api::testing::compiled(g, target_); }

  static int calls(const runtime::Executable& e, const std::string& name) {
    return static_cast<int>(std::count_if(e.calls.begin(), e.calls.end(), [&](const runtime::Call& c) { return c.name == name; }));
  }
  static graph::Graph image(Net& n, const std::function<int(int)>& body) {
    const int x = n.op("relu", {n.conv(n.input({1, 16, 8, 8}), 16, 16)});
    return n.finish({n.conv(body(x), 32, 16, 1)});
  }

 private Q_SLOTS:
  void operandsAreWrittenIntoTheResult() {
    Net n;
    const graph::Graph g = image(n, [&](int x) { return n.op("concat", {n.conv(x, 16, 16), n.conv(x, 16, 16, 1)}, attr("axis", int64_t{1})); });
    const runtime::Executable e = compiled(g);
    QCOMPARE(calls(e, "fused_concat"), 0);
    QCOMPARE(wrong(g, e), std::string());
  }

  void operandsThatDoNotFollowEachOtherAreCopied() {
    Net n;  // two images: each operand's channels lie apart
    const int x = n.input({2, 16, 8, 8});
    const graph::Graph g = n.finish({n.conv(n.op("concat", {n.conv(x, 16, 16), n.conv(x, 16, 16, 1)}, attr("axis", int64_t{1})), 32, 16, 1)});
    const runtime::Executable e = compiled(g);
    QCOMPARE(calls(e, "fused_concat"), 1);
    QCOMPARE(wrong(g, e), std::string());
  }

  void operandOfTwoConcatenations() {
    Net n;
    const graph::Graph g = image(n, [&](int x) {
      const int a = n.conv(x, 16, 16), b = n.conv(x, 16, 16, 1);
      const int first = n.conv(n.op("concat", {a, b}, attr("axis", int64_t{1})), 32, 16, 1);
      return n.op("concat", {first, a}, attr("axis", int64_t{1}));
    });
    const runtime::Executable e = compiled(g);
    QCOMPARE(calls(e, "fused_concat"), 1);
    QCOMPARE(wrong(g, e), std::string());
  }

  void networkEndsAreNotTouched() {
    Net n;  // an input, a constant and an output among the operands
    const int x = n.input({1, 16, 4, 4}), y = n.op("exp", {x});
    const graph::Graph g =
        n.finish({n.op("concat", {y, x, n.weight({1, 16, 4, 4})}, attr("axis", int64_t{1})), y, n.op("reshape", {x}, attr("shape", Dims{16, 16}))});
    QCOMPARE(wrong(g, compiled(g)), std::string());
  }

  void reshapedArraysAreOne() {
    Net n;
    const int x = n.op("softmax", {n.input({4, 64})}, attr("axis", int64_t{1}));
    const int y = n.op("softmax", {n.op("reshape", {x}, attr("shape", Dims{64, 4}))}, attr("axis", int64_t{0}));
    const graph::Graph g = n.finish({n.op("reshape", {y}, attr("shape", Dims{256}))});
    const runtime::Executable e = compiled(g);
    QCOMPARE(e.calls.size(), size_t{2});
    QCOMPARE(wrong(g, e), std::string());
  }

  void resultsTakeThePlaceOfOperands() {
    Net n;  // softmax and layer_norm read whole rows and need memory of their own; what is elementwise between them does not
    const auto norm = [&](int x) { return n.op("layer_norm", {x, n.weight({64}), n.weight({64})}); };
    const int x = norm(n.input({32, 64})), y = norm(x), z = n.op("tanh", {n.op("add", {x, y})});
    const graph::Graph g = n.finish({norm(n.op("add", {norm(z), z}))});
    const runtime::Executable e = compiled(g);
    QCOMPARE(wrong(g, e), std::string());
    const int64_t one = 32 * 64 * 4;
    QCOMPARE(e.live_bytes, 2 * one);  // without working in place the first sum would need three
    QCOMPARE(e.arena_bytes, e.live_bytes);
    QVERIFY(e.unplanned_bytes > e.arena_bytes);
  }

  void weightsAreSharedWithTheGraph() {
    Net n;
    const graph::Graph g = n.finish({n.op("gather", {n.weight({100, 8}), n.b.input("i", {kInt64, {5}})}, attr("axis", int64_t{0}))});
    const runtime::Executable e = compiled(g);
    const auto slot = std::find_if(e.slots.begin(), e.slots.end(), [](const auto& s) { return s.kind == runtime::Slot::Kind::constant; });
    QVERIFY(slot != e.slots.end());
    QCOMPARE(static_cast<const void*>(slot->data->data()), static_cast<const void*>(g.values[0].constant->data.data()));
  }

  void bundledNetworksMeetTheLowerBound_data() {
    QTest::addColumn<std::string>("name");
    for (const auto& m : frontends::zoo()) QTest::newRow(m.name) << std::string(m.name);
  }
  void bundledNetworksMeetTheLowerBound() {
    QFETCH(std::string, name);
    const runtime::Executable e = api::compile(api::testing::tiny_network(name, target_), target_, nullptr).value();
    QVERIFY(e.live_bytes <= e.arena_bytes && e.arena_bytes <= e.unplanned_bytes);
    QVERIFY2(static_cast<double>(e.arena_bytes) <= 1.1 * static_cast<double>(e.live_bytes), std::to_string(e.arena_bytes).c_str());
  }

  void randomNetworks() {
    int ran = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      const graph::Graph g = graph::testing::RandomGraph(seed * 77 + 5).make();
      const auto want = graph::evaluate(g, graph::testing::random_inputs(g, 3)).value();
      bool moderate = true;
      for (const HostArray& a : want)
        for (int64_t i = 0; i < a.num_elements(); ++i) moderate = moderate && std::abs(a.get(i)) < 1e4;
      for (const graph::Value& v : g.values) moderate = moderate && v.type.dtype != kFloat16;
      if (!moderate) continue;
      ++ran;
      const std::string differs = wrong(g, compiled(g), 1e-3);
      if (!differs.empty()) qWarning("%s", graph::print(g).c_str());
      QVERIFY2(differs.empty(), (std::to_string(seed) + ": " + differs).c_str());
    }
    QVERIFY(ran > 40);
  }
};

QTEST_APPLESS_MAIN(StorageTest)
#include "storage_test.moc"
