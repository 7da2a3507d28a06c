// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/task_title.h"

#include <QtTest>

using namespace tw;
using namespace tw::widgets;

class TaskTitleTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void convolutionsSayWindowStepChannelsAndSize() {
    graph::GraphBuilder b("net");
    const int x = b.input("x", {kFloat32, {1, 3, 32, 32}}), w = b.input("w", {kFloat32, {16, 3, 7, 7}}), bias = b.input("b", {kFloat32, {1, 16, 1, 1}});
    graph::Attrs attrs;
    attrs.values["strides"] = std::vector<int64_t>{2, 2};
    attrs.values["pads"] = std::vector<int64_t>{3, 3, 3, 3};
    const int y = b.node("conv2d", {x, w}, attrs)->at(0);
    const int z = b.node("add", {y, bias})->at(0);
    b.output(b.node("relu", {z})->at(0));
    const graph::Graph g = std::move(b).finish();
    QCOMPARE(taskTitle(g, {0, 1, 2}), QStringLiteral("conv2d 7\u00D77/2 \u00B7 3\u219216 @16\u00B2 + add + relu"));
    QCOMPARE(taskTitle(g, {2}), QStringLiteral("relu 1\u00D716\u00D716\u00D716"));
  }
  void imagesWithChannelsLast() {
    graph::GraphBuilder b("net");
    const int x = b.input("x", {kFloat32, {1, 32, 32, 3}}), w = b.input("w", {kFloat32, {7, 7, 3, 16}}), d = b.input("d", {kFloat32, {3, 3, 16, 1}});
    graph::Attrs strided, pool;
    strided.values["strides"] = std::vector<int64_t>{2, 2};
    strided.values["pads"] = std::vector<int64_t>{3, 3, 3, 3};
    pool.values["kernel"] = pool.values["strides"] = std::vector<int64_t>{2, 2};
    const int y = b.node("conv2d_nhwc", {x, w}, strided)->at(0);
    b.output(b.node("max_pool2d_nhwc", {b.node("depthwise_conv2d_nhwc", {y, d})->at(0)}, pool)->at(0));
    const graph::Graph g = std::move(b).finish();
    QCOMPARE(taskTitle(g, {0}), QStringLiteral("conv2d_nhwc 7\u00D77/2 \u00B7 3\u219216 @16\u00B2"));
    QCOMPARE(taskTitle(g, {1}), QStringLiteral("depthwise conv2d_nhwc 3\u00D73 \u00B7 16 @14\u00B2"));
    QCOMPARE(taskTitle(g, {2}), QStringLiteral("max_pool2d_nhwc 2\u00D72/2 \u00B7 16 @7\u00B2"));
  }
  void productsSayWhatTheyMapAndHowOften() {
    graph::GraphBuilder b("net");
    const int x = b.input("x", {kFloat32, {128, 768}}), w = b.input("w", {kFloat32, {768, 64}});
    b.output(b.node("matmul", {x, w})->at(0));
    QCOMPARE(taskTitle(std::move(b).finish(), {0}), QStringLiteral("matmul 768\u219264 \u00B7 128"));
  }
  void longGroupsAreCounted() {
    graph::GraphBuilder b("net");
    int x = b.input("x", {kFloat32, {2, 8}});
    std::vector<int> nodes;
    for (int i = 0; i < 6; ++i) x = b.node("relu", {x})->at(0), nodes.push_back(i);
    b.output(x);
    QCOMPARE(taskTitle(std::move(b).finish(), nodes), QStringLiteral("relu 2\u00D78 + relu + relu + relu + 2 more"));
  }
};

QTEST_APPLESS_MAIN(TaskTitleTest)
#include "task_title_test.moc"
