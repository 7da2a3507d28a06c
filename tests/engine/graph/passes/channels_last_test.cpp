// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/channels_last.h"

#include <QtTest>

#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::Net;

class ChannelsLastTest : public QObject {
  Q_OBJECT

  using Dims = std::vector<int64_t>;
  static void becomes(const Graph& g, const std::string& operators) {
    const auto s = channels_last(g, Target{});
    QVERIFY2(s, s ? "" : s.error().text().c_str());
    QCOMPARE(QString::fromStdString(tw::graph::testing::operators_of(*s)), QString::fromStdString(operators));
    const std::string differs = tw::graph::testing::what_differs(g, *s);
    QVERIFY2(differs.empty(), differs.c_str());
  }
  static Attrs pool(int64_t size, int64_t stride) { return Attrs{{{"kernel", Dims{size, size}}, {"strides", Dims{stride, stride}}, {"pads", Dims{1, 0, 0, 1}}}}; }

 private Q_SLOTS:
  void transpositionsStandAtTheEnds() {
    Net n;
    const int stem = n.op("relu", {n.op("add", {n.conv(n.input({1, 3, 9, 8}), 3, 8), n.weight({8, 1, 1})})});
    const int body = n.op("relu", {n.conv(n.op("max_pool2d", {stem}, pool(3, 2)), 8, 8)});
    const int sum = n.op("add", {n.conv(body, 8, 8, 1), n.op("max_pool2d", {stem}, pool(3, 2))});
    const int mean = n.op("reduce_mean", {sum}, Attrs{{{"axes", Dims{2, 3}}, {"keepdims", int64_t{0}}}});
    becomes(n.finish({mean}), "transpose conv2d_nhwc add relu max_pool2d_nhwc conv2d_nhwc relu conv2d_nhwc max_pool2d_nhwc add reduce_mean");
  }

  /// What follows a convolution is done before its result is turned back, though no move is spared.
  void activationsStayWithTheirConvolution() {
    Net n;
    becomes(n.finish({n.op("relu", {n.conv(n.input({2, 4, 5, 6}), 4, 8)})}), "transpose conv2d_nhwc relu transpose");
  }

  void biasesAreAdded() {
    Net n;
    Attrs strided{{{"strides", Dims{2, 2}}, {"pads", Dims{3, 3, 2, 2}}}};
    becomes(n.finish({n.op("conv2d", {n.input({1, 3, 12, 10}), n.weight({8, 3, 5, 5}), n.weight({8})}, strided)}), "transpose conv2d_nhwc add transpose");
  }

  /// Channels by themselves, with one result each or several.
  void depthwise() {
    for (const int64_t multiplier : {1, 3}) {
      Net n;
      const int x = n.conv(n.input({1, 3, 7, 6}), 3, 4, 1);
      Attrs a{{{"groups", int64_t{4}}, {"pads", Dims{1, 1, 1, 1}}, {"dilations", Dims{1, 2}}}};
      const int y = n.op("conv2d", {x, n.weight({4 * multiplier, 1, 3, 3}), n.weight({4 * multiplier})}, a);
      becomes(n.finish({n.op("avg_pool2d", {y}, pool(2, 1))}), "transpose conv2d_nhwc depthwise_conv2d_nhwc add avg_pool2d_nhwc transpose");
    }
  }

  /// Their operands are turned when the network runs.
  void weightsThatAreNoConstants() {
    Net n;
    const int w = n.input({6, 4, 3, 3}, "w"), b = n.input({6}, "b");
    becomes(n.finish({n.op("conv2d", {n.input({1, 4, 6, 6}), w, b})}), "transpose transpose conv2d_nhwc reshape add transpose");
  }

  /// A convolution of groups, and what is none, keep their layout.
  void othersStay() {
    Net groups;
    becomes(groups.finish({groups.conv(groups.input({1, 8, 5, 5}), 8, 8, 3, 2)}), "conv2d");
    Net turned;  // of no use to anybody here
    const int x = turned.op("transpose", {turned.input({2, 3, 4})}, Attrs{{{"perm", Dims{1, 0, 2}}}});
    becomes(turned.finish({turned.op("relu", {x})}), "transpose relu");
  }
};

QTEST_APPLESS_MAIN(ChannelsLastTest)
#include "channels_last_test.moc"
