// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Points of the template of reductions against the interpreter.
class ReductionsTest : public QObject {
  Q_OBJECT

  static Make pool(const char* op, Dims x, int64_t kernel, int64_t stride, int64_t pad) {
    return [=](Net& n) { return n.op("relu", {n.op(op, {n.input(x)}, {{"kernel", Dims(2, kernel)}, {"strides", Dims(2, stride)}, {"pads", Dims(4, pad)}})}); };
  }
  static Make norm(const char* op, Dims x, int operands, Values attrs = {}) {
    return [=](Net& n) {
      std::vector<int> in{n.input(x)};
      for (int k = 1; k < operands; ++k) in.push_back(n.weight({x.back()}));
      return n.op(op, in, attrs);
    };
  }
  static std::vector<Case> cases() {
    return {
        {"max_pool, padded, strided", pool("max_pool2d", {1, 32, 9, 11}, 3, 2, 1)},
        {"max_pool, one large window", pool("max_pool2d", {1, 16, 9, 9}, 8, 1, 0)},
        {"avg_pool, padded", pool("avg_pool2d", {2, 24, 6, 7}, 3, 1, 1)},
        {"avg_pool, channels that make no block", pool("avg_pool2d", {2, 5, 6, 7}, 2, 2, 0)},
        {"max_pool, last block in part", pool("max_pool2d", {1, 29, 7, 8}, 3, 2, 1)},
        {"mean of images, last block in part", norm("reduce_mean", {2, 58, 5, 7}, 1, {{"axes", Dims{2, 3}}, {"keepdims", int64_t{1}}})},
        {"mean of images", norm("reduce_mean", {2, 32, 5, 7}, 1, {{"axes", Dims{2, 3}}, {"keepdims", int64_t{1}}})},
        {"mean of images, without their axes", norm("reduce_mean", {1, 48, 7, 7}, 1, {{"axes", Dims{2, 3}}, {"keepdims", int64_t{0}}})},
        {"mean of an image behind another operator",
         [](Net& n) {
           return n.op("reduce_mean", {n.op("relu", {n.input({1, 16, 6, 5})})}, {{"axes", Dims{2, 3}}, {"keepdims", int64_t{1}}});
         }},
        {"sum of columns", norm("reduce_sum", {37, 70}, 1, {{"axes", Dims{0}}})},
        {"sum of columns, few rows of many", norm("reduce_max", {3, 90, 20}, 1, {{"axes", Dims{1}}})},
        {"sum of two inner axes", norm("reduce_sum", {6, 5, 7, 16}, 1, {{"axes", Dims{1, 2}}})},
        {"softmax over channels", norm("softmax", {2, 8, 5, 5}, 1, {{"axis", int64_t{1}}})},
        {"instance_norm",
         [](Net& n) {
           return n.op("instance_norm", {n.input({2, 6, 5, 13}), n.weight({6}), n.weight({6})});
         }},
        {"sum of rows", norm("reduce_sum", {37, 70}, 1, {{"axes", Dims{1}}})},
        {"softmax", norm("softmax", {2, 3, 37}, 1)},
        {"log_softmax", norm("log_softmax", {65, 64}, 1)},
        {"layer_norm", norm("layer_norm", {5, 7, 96}, 3)},
        {"rms_norm", norm("rms_norm", {33, 40}, 2)},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() {
    QTest::addColumn<int>("number");
    int k = 0;
    for (const Case& c : cases()) QTest::newRow(c.name.c_str()) << k++;
  }
  void keepsResults() {
    QFETCH(int, number);
    const te::DagPtr dag = dag_of(cases()[static_cast<size_t>(number)].make);
    for (const char* name : {"llvm -mcpu=x86-64-v3 -num-cores=1", "llvm -mcpu=znver4 -num-cores=3"}) {
      const Target target = parse_target(name).value();
      const space::Template* t = space::find_template(*dag, target);
      QVERIFY(t && std::string(t->name) == "reductions.cpu");
      QVERIFY(t->space(*dag, target).size() >= 5);
      QVERIFY(t->fallback(*dag, target).index() < 0);
      const std::string problem = problem_of_points(*t, dag, target, 12);
      QVERIFY2(problem.empty(), problem.c_str());
    }
  }
  /// Pools and means of images are measured in the blocks that convolutions leave them in.
  void imagesAreInBlocks() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    const te::DagPtr dag = dag_of(cases()[0].make);
    const space::Template* t = space::find_template(*dag, target);
    const auto s = t->apply(dag, target, t->space(*dag, target).get(0).value()).value();
    const auto args = measure::signature_of(s, "kernel").args;
    QCOMPARE(args.size(), size_t{2});
    for (const runtime::ArgSpec& a : args) QVERIFY(!a.layout.empty() && a.layout.back().factor == 16);
  }
  void leavesOthersAlone() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    for (const Make& make : {Make([](Net& n) {
                               return n.op("relu", {n.input({4, 64})});
                             }),
                             Make([](Net& n) {
                               return n.op("conv2d", {n.input({1, 3, 8, 8}), n.weight({4, 3, 3, 3})});
                             })})
      QVERIFY(!template_named("reductions.cpu").matches(*dag_of(make), target));
    const te::DagPtr product = dag_of([](Net& n) { return n.op("dense", {n.input({8, 32}), n.weight({64, 32})}); });
    QVERIFY(!template_named("reductions.cpu").matches(*product, target));
  }
};

QTEST_APPLESS_MAIN(ReductionsTest)
#include "engine/space/templates/cpu/reductions_test.moc"
