// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/text.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Layers whose result meets their own operand again: residuals around one layer, gates of recurrent cells. Every template that would have the layer alone takes it,
/// and keeps its values.
class AroundTest : public QObject {
  Q_OBJECT

  struct Row {
    const char* name;
    const char* taken;  ///< one of the templates for CPUs that take it
    Make make;
  };
  static std::vector<Row> cases() {
    const auto around = [](Dims x, Dims w, int64_t pad, int64_t groups = 1, const char* op = "conv2d") {
      return [=](Net& n) {
        const int y = conv(n, x, w, 1, pad, groups, op);
        return n.op("relu", {n.op("add", {y, n.b.graph().inputs[0]})});
      };
    };
    return {
        {"conv1d", "conv1d_nchwc.cpu", around({1, 16, 37}, {16, 16, 3}, 1, 1, "conv1d")},
        {"conv2d 1x1", "conv2d_nchwc.cpu", around({2, 32, 5, 7}, {32, 32, 1, 1}, 0)},
        {"conv2d 1x1, last block in part", "conv2d_nchwc.cpu", around({1, 58, 6, 7}, {58, 58, 1, 1}, 0)},
        {"conv2d 5x5, less than a block", "conv2d_nchwc.cpu", around({1, 11, 9, 8}, {11, 11, 5, 5}, 2)},
        {"conv2d 3x3", "conv2d_winograd.cpu", around({1, 16, 8, 8}, {16, 16, 3, 3}, 1)},
        {"conv2d 3x3, last block in part", "conv2d_winograd.cpu", around({1, 20, 7, 9}, {20, 20, 3, 3}, 1)},
        {"conv2d, grouped", "grouped_conv2d_nchwc.cpu", around({1, 32, 7, 9}, {32, 16, 3, 3}, 1, 2)},
        {"conv2d, depthwise", "depthwise_conv2d_nchwc.cpu", around({1, 36, 9, 8}, {36, 1, 3, 3}, 1, 36)},
        {"conv3d", "conv3d_nchwc.cpu", around({1, 8, 2, 3, 5}, {8, 8, 3, 3, 3}, 1, 1, "conv3d")},
        {"dense, gate of a cell", "dense_pack.cpu",
         [](Net& n) {
           const int h = n.input({1, 48}), z = n.op("sigmoid", {n.op("dense", {h, n.weight({48, 48})})});
           return n.op("add", {n.op("mul", {z, h}), n.op("sub", {n.input({1, 48}), z})});
         }},
        {"dense, rows", "dense_pack.cpu",
         [](Net& n) {
           const int x = n.input({19, 64});
           return n.op("add", {n.op("dense", {x, n.weight({64, 64}), n.weight({64})}), x});
         }},
        {"conv2d 1x1, a scaled copy before it", "conv2d_nchwc.cpu",
         [](Net& n) {
           const int x = n.input({2, 32, 5, 7}), scaled = n.op("mul", {x, n.weight({32, 1, 1})});
           return n.op("relu", {n.op("add", {n.op("conv2d", {x, n.weight({32, 32, 1, 1})}), scaled})});
         }},
        {"matmul", "batch_matmul.cpu",
         [](Net& n) {
           const int x = n.input({3, 10, 32});
           return n.op("mul", {n.op("matmul", {x, n.input({3, 32, 32})}), x});
         }},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() {
    QTest::addColumn<int>("number");
    int k = 0;
    for (const Row& r : cases()) QTest::newRow(r.name) << k++;
  }
  void keepsResults() {
    QFETCH(int, number);
    const Row row = cases()[static_cast<size_t>(number)];
    const te::DagPtr dag = dag_of(row.make);
    for (const char* name : {"llvm -mcpu=x86-64-v3 -num-cores=1", "llvm -mcpu=znver4 -num-cores=3", "cuda:a100"}) {
      const Target target = parse_target(name).value();
      std::vector<const space::Template*> matching = space::alternatives(*dag, target);
      QVERIFY(!matching.empty());
      QVERIFY(target.gpu || std::any_of(matching.begin(), matching.end(), [&](const space::Template* t) { return t->name == std::string(row.taken); }));
      if (!target.gpu)
        for (const space::Template& t : space::autotvm_templates())
          if (t.matches(*dag, target)) matching.push_back(&t);
      for (const space::Template* t : matching) {
        const std::string problem = problem_of_points(*t, dag, target, 2, 1);
        QVERIFY2(problem.empty(), (std::string(t->name) + ": " + problem).c_str());
      }
    }
  }
};

QTEST_APPLESS_MAIN(AroundTest)
#include "engine/space/templates/cpu/around_test.moc"
