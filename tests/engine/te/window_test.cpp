// SPDX-License-Identifier: Apache-2.0
#include "engine/te/window.h"

#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Windows are found by what operators compute, and the share of their taps that meets the image is what counting gives.
class WindowTest : public QObject {
  Q_OBJECT

  static std::vector<te::WindowLine> windows(const Make& make) {
    const te::DagPtr dag = dag_of(make);
    std::vector<te::WindowLine> all;
    for (const te::Op& op : dag->ops)
      for (const te::WindowLine& line : te::windows_of(*dag, op)) all.push_back(line);
    return all;
  }
  static Make conv_of(const char* op, Dims x, Dims w, Dims strides, Dims dilations, Dims pads, int64_t groups = 1) {
    return [=](Net& n) {
      Values attrs{{"strides", strides}, {"dilations", dilations}, {"pads", pads}};
      if (groups > 1) attrs["groups"] = groups;
      return n.op(op, {n.input(x), n.weight(w)}, attrs);
    };
  }

 private Q_SLOTS:
  void ofConvolutions() {
    const auto two = windows(conv_of("conv2d", {1, 8, 11, 9}, {4, 8, 3, 5}, {2, 1}, {4, 3}, {5, 6, 3, 2}));
    QCOMPARE(two.size(), size_t{2});
    QCOMPARE(two[0].dimension, size_t{2});
    QCOMPARE(two[0].image, int64_t{11});
    QCOMPARE(two[0].result, int64_t{6});
    QCOMPARE(two[0].taps, int64_t{3});
    QCOMPARE(two[0].stride, int64_t{2});
    QCOMPARE(two[0].dilation, int64_t{4});
    QCOMPARE(two[0].before, int64_t{5});
    QCOMPARE(two[1].dimension, size_t{3});
    QCOMPARE(two[1].dilation, int64_t{3});
    QCOMPARE(two[1].before, int64_t{6});
    const auto last = windows(conv_of("conv2d_nhwc", {1, 7, 9, 8}, {3, 3, 8, 4}, {1, 1}, {1, 2}, {1, 2, 1, 2}));
    QCOMPARE(last.size(), size_t{2});
    QCOMPARE(last[1].dimension, size_t{2});
    QCOMPARE(last[1].dilation, int64_t{2});
    QCOMPARE(windows(conv_of("conv2d", {1, 8, 7, 9}, {8, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 8)).size(), size_t{2});
    QCOMPARE(windows(conv_of("conv2d", {1, 8, 7, 9}, {8, 8, 1, 3}, {1, 1}, {1, 1}, {0, 1, 0, 1})).front().met(1), 1.0);
    QVERIFY(windows(conv_of("conv2d", {1, 8, 7, 9}, {8, 8, 3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0})).empty());
    const auto bytes = [](int64_t around) {
      return windows([=](Net& n) {
        return n.op("conv2d_bytes", {n.input({1, 16, 7, 9}, kUInt8), n.weight({16, 16, 3, 3}, kInt8)}, {{"pads", Dims(4, 1)}, {"strides", Dims(2, 1)}, {"pad_value", around}});
      });
    };
    QCOMPARE(bytes(0).size(), size_t{2});
    QCOMPARE(bytes(0)[1].met(1), 25.0 / 27);
    QVERIFY(bytes(7).empty());  // products with another byte than zero count
    QVERIFY(windows([](Net& n) { return n.op("matmul", {n.input({2, 3, 4}), n.input({2, 4, 5})}); }).empty());
  }
  /// Of 28 results with taps 24 apart, each outer one meets 4; tiles have it if one of their results does.
  void tapsThatTilesMeet() {
    const te::WindowLine line{2, 28, 28, 3, 1, 24, 24};
    QCOMPARE(line.met(1), 36.0 / 84);
    QCOMPARE(line.met(4), 9.0 / 21);
    QCOMPARE(line.met(7), 6.0 / 12);
    QCOMPARE(line.met(28), 1.0);
    QCOMPARE((te::WindowLine{2, 14, 7, 3, 2, 1, 1}).met(1), 20.0 / 21);
    QCOMPARE((te::WindowLine{2, 9, 9}).met(2), 1.0);
  }
};

QTEST_APPLESS_MAIN(WindowTest)
#include "window_test.moc"
