// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/canonicalize.h"

#include <QtTest>

#include "engine/graph/passes/constants.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::Net;

class CanonicalizeTest : public QObject {
  Q_OBJECT

  static int scalar(Net& n, DType t, double v) { return n.b.constant("c", full(t, v)); }
  static Graph run(const Graph& g) { return canonicalize(g, Target{}).value(); }

 private Q_SLOTS:
  void constantsStandSecond() {
    Net n;
    const int x = n.input({2, 3}), y = n.input({2, 3}, "y"), c = n.weight({3});
    const Graph g = n.finish({n.op("add", {c, x}), n.op("mul", {y, x}), n.op("sub", {c, x})});
    const Graph f = run(g);
    QVERIFY(f.values[static_cast<size_t>(f.nodes[0].inputs[1])].constant != nullptr);
    QCOMPARE(f.nodes[1].inputs, (std::vector<int>{f.inputs[1], f.inputs[0]}));  // computed operands stay
    QVERIFY(f.values[static_cast<size_t>(f.nodes[2].inputs[0])].constant != nullptr);
    QCOMPARE(tw::graph::testing::what_differs(g, f, 0), std::string());
  }

  void operatorsHaveOneForm() {
    Net n;
    const int x = n.input({2, 3}), y = n.input({2, 3}, "y");
    const int i = n.b.input("i", {kInt8, {4}}), u = n.b.input("u", {kUInt8, {4}});
    const Graph g = n.finish({n.op("greater", {x, y}), n.op("greater_equal", {x, y}), n.op("sub", {x, n.weight({3})}), n.op("div", {x, scalar(n, kFloat32, 3)}),
                              n.op("pow", {x, scalar(n, kFloat32, 2)}), n.op("pow", {x, scalar(n, kFloat32, 3)}), n.op("sub", {i, scalar(n, kInt8, -128)}),
                              n.op("sub", {u, scalar(n, kUInt8, 1)}), n.op("pow", {n.op("exp", {x}), scalar(n, kFloat32, 0.5)}),
                              n.op("pow", {n.op("exp", {y}), scalar(n, kFloat32, -0.5)})});
    const Graph f = run(g);
    QCOMPARE(tw::graph::testing::operators_of(f), std::string("less less_equal add mul square square mul add add exp sqrt exp sqrt reciprocal"));
    QCOMPARE(tw::graph::testing::what_differs(g, f, 1e-6), std::string());
  }

  void divisionStaysWhereItsReciprocalIsWorse() {
    Net n;
    const int x = n.input({2}), h = n.b.input("h", {kFloat16, {2}}), i = n.b.input("i", {kInt32, {2}});
    const Graph g =
        n.finish({n.op("div", {x, scalar(n, kFloat32, 0)}), n.op("div", {x, scalar(n, kFloat32, 1e-39)}), n.op("div", {x, scalar(n, kFloat32, 1e38)}),
                  n.op("div", {h, scalar(n, kFloat16, 3)}), n.op("div", {i, scalar(n, kInt32, 2)}), n.op("div", {h, scalar(n, kFloat16, 4)})});
    QCOMPARE(tw::graph::testing::operators_of(run(g)), std::string("div div div div div mul"));
  }

  /// Its last bit decides about the next whole number: 41 / 41 is 1, 41 * (1 / 41) is not.
  void divisionStaysBeforeWholeNumbers() {
    Net n;
    const int x = n.input({4}), c = scalar(n, kFloat32, 41);
    Attrs whole, flat;
    whole.values["to"] = std::string("int64");
    flat.values["shape"] = std::vector<int64_t>{2, 2};
    const Graph g = n.finish({n.op("floor", {n.op("div", {x, c})}), n.op("cast", {n.op("reshape", {n.op("relu", {n.op("div", {x, c})})}, flat)}, whole),
                              n.op("less", {n.op("div", {x, c}), n.weight({4})}), n.op("floor", {n.op("div", {x, scalar(n, kFloat32, 4)})}),
                              n.op("softmax", {n.op("div", {x, c})})});
    const Graph f = run(g);
    QCOMPARE(tw::graph::testing::operators_of(f), std::string("div floor div relu reshape cast div less mul floor mul softmax"));
    HostArray data = HostArray::make(kFloat32, {4});
    for (int64_t i = 0; i < 4; ++i) data.set(i, 41.0 * static_cast<double>(i + 1));
    const std::vector<HostArray> results = evaluate(f, {{f.values[static_cast<size_t>(f.inputs[0])].name, data}}).value();
    for (int64_t i = 0; i < 4; ++i) QCOMPARE(results[0].get(i), static_cast<double>(i + 1));
  }

  void axesCountFromTheFront() {
    Net n;
    const int x = n.input({2, 3, 4});
    Attrs last, two, back;
    last.values["axis"] = int64_t{-1};
    two.values["axes"] = std::vector<int64_t>{-1, 0};
    back.values["perm"] = std::vector<int64_t>{-1, 0, 1};
    const Graph g = n.finish({n.op("softmax", {x}, last), n.op("reduce_sum", {x}, two), n.op("transpose", {x}, back), n.op("concat", {x, x}, last)});
    const Graph f = run(g);
    QCOMPARE(f.nodes[0].attrs.integer("axis", 9), int64_t{2});
    QCOMPARE(f.nodes[1].attrs.integers("axes", {}), (std::vector<int64_t>{0, 2}));
    QCOMPARE(f.nodes[2].attrs.integers("perm", {}), (std::vector<int64_t>{2, 0, 1}));
    QCOMPARE(f.nodes[3].attrs.integer("axis", 9), int64_t{2});
    QCOMPARE(tw::graph::testing::what_differs(g, f, 1e-6), std::string());
  }

  void canonicalFormStays() {
    Net n;
    const int x = n.input({2, 3});
    const Graph g = n.finish({n.op("relu", {n.op("add", {n.op("mul", {x, n.weight({3})}), n.weight({3})})})});
    QCOMPARE(print(run(g)), print(g));
  }
};

QTEST_APPLESS_MAIN(CanonicalizeTest)
#include "canonicalize_test.moc"
