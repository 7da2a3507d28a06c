// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/drop_dead_taps.h"

#include <QtTest>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::Net;

class DropDeadTapsTest : public QObject {
  Q_OBJECT

  using Dims = std::vector<int64_t>;
  /// The window that is left of the graph's one convolution, whose results must stay.
  static Dims window_of(const Graph& g) {
    const auto dropped = drop_dead_taps(g, Target{});
    if (!dropped) qFatal("%s", dropped.error().text().c_str());
    const std::string differs = tw::graph::testing::what_differs(g, *dropped);
    if (!differs.empty()) qFatal("%s", differs.c_str());
    for (const Node& n : dropped->nodes)
      if (n.op.starts_with("conv")) {
        const Dims& w = dropped->values[static_cast<size_t>(n.inputs[1])].type.shape;
        return {w.begin() + 2, w.end()};
      }
    return {};
  }
  static Graph convolution(const Dims& x, const Dims& w, const std::map<std::string, AttrValue>& attrs) {
    Net n;
    return n.finish({n.op("relu", {n.op("conv" + std::to_string(x.size() - 2) + "d", {n.input(x), n.weight(w), n.weight({w[0]})}, Attrs{attrs})})});
  }

 private Q_SLOTS:
  void farTapsMeetPaddingOnly() {
    QCOMPARE(window_of(convolution({1, 3, 7, 9}, {4, 3, 3, 3}, {{"pads", Dims(4, 9)}, {"dilations", Dims{9, 9}}})), (Dims{1, 1}));
    // Along one dimension some results still meet the image.
    QCOMPARE(window_of(convolution({1, 3, 7, 9}, {4, 3, 3, 3}, {{"pads", Dims(4, 8)}, {"dilations", Dims{8, 8}}})), (Dims{1, 3}));
    QCOMPARE(window_of(convolution({2, 3, 1, 5}, {4, 3, 3, 3}, {{"pads", Dims(4, 1)}})), (Dims{1, 3}));
    QCOMPARE(window_of(convolution({1, 4, 6, 8}, {4, 4, 3, 3}, {{"pads", Dims(4, 1)}})), (Dims{3, 3}));
  }

  /// Whatever is cut, results stay.
  void anyWindow() {
    Rng rng(7);
    int cut = 0;
    for (int k = 0; k < 300; ++k) {
      const auto spatial = static_cast<size_t>(rng.range(1, 2));
      Dims x{1, 2}, w{3, 2}, strides, dilations, pads(2 * spatial, 0);
      for (size_t d = 0; d < spatial; ++d) {
        x.push_back(rng.range(1, 8));
        w.push_back(rng.range(1, 4));
        strides.push_back(rng.range(1, 3));
        dilations.push_back(rng.range(1, 9));
        pads[d] = rng.range(0, 12);
        pads[d + spatial] = rng.range(0, 12);
        const int64_t least = dilations[d] * (w.back() - 1) + 1 - x.back();
        if (pads[d] + pads[d + spatial] < least) pads[d] += least;
      }
      const Graph g = convolution(x, w, {{"pads", pads}, {"strides", strides}, {"dilations", dilations}});
      cut += window_of(g) != Dims(w.begin() + 2, w.end());
    }
    QVERIFY2(cut > 30, std::to_string(cut).c_str());
  }
};

QTEST_APPLESS_MAIN(DropDeadTapsTest)
#include "drop_dead_taps_test.moc"
