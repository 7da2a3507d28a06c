// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/space/rules/rules.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Sums of what lies in blocks, by rule, and dimensions of one element.
class RuleReductionTest : public QObject {
  Q_OBJECT

  static std::vector<Case> cases() {
    return {
        {"channels in blocks added up",
         [](Net& n) {
           return n.op("reduce_sum", {n.op("square", {n.input({2, 40, 5, 7})})}, {{"axes", Dims{1}}, {"keepdims", int64_t{1}}});
         },
         {in_blocks(0, 4, 16)}},
        {"all of what lies in blocks added up, beside what does not",
         [](Net& n) {
           return n.op("reduce_mean", {n.op("div", {n.input({1, 24, 5, 6}), n.op("sqrt", {n.input({1, 1, 5, 6})})})},
                       {{"axes", Dims{1, 2, 3}}, {"keepdims", int64_t{0}}});
         },
         {in_blocks(0, 4, 16)}},
        {"the largest of channels in blocks",
         [](Net& n) {
           return n.op("reduce_max", {n.input({1, 20, 4, 9})}, {{"axes", Dims{1}}, {"keepdims", int64_t{0}}});
         },
         {in_blocks(0, 4, 16)}},
        {"the largest of all in blocks",
         [](Net& n) {
           return n.op("reduce_max", {n.input({1, 40, 23, 37})}, {{"axes", Dims{0, 1, 2, 3}}, {"keepdims", int64_t{0}}});
         },
         {in_blocks(0, 4, 16)}},
        {"more blocks than rows, the last in part",
         [](Net& n) {
           return n.op("reduce_min", {n.input({1, 1000, 6, 6})}, {{"axes", Dims{0, 1, 2, 3}}, {"keepdims", int64_t{0}}});
         },
         {in_blocks(0, 4, 16)}},
        {"one long line in blocks",
         [](Net& n) {
           return n.op("reduce_max", {n.input({1, 16, 1, 6000})}, {{"axes", Dims{0, 1, 2, 3}}, {"keepdims", int64_t{0}}});
         },
         {in_blocks(0, 4, 16)}},
        {"the sum of an image in blocks, which stays a dimension",
         [](Net& n) {
           return n.op("reduce_sum", {n.input({1, 32, 25, 41})}, {{"axes", Dims{1, 2, 3}}, {"keepdims", int64_t{1}}});
         },
         {in_blocks(0, 4, 16)}},
        {"sums of rows that no vectors fill",
         [](Net& n) {
           return n.op("conv2d", {n.input({1, 3, 6, 21}), n.weight({5, 3, 2, 2})}, {{"pads", Dims{1, 0, 0, 1}}});
         }},
        {"groups of odd channels",
         [](Net& n) {
           return n.op("relu", {n.op("conv2d", {n.input({1, 6, 5, 36}), n.weight({10, 3, 2, 2})}, {{"groups", int64_t{2}}})});
         }},
        {"lines of odd vectors, of which tiles lie in one group",
         [](Net& n) {
           return n.op("conv2d", {n.input({1, 20, 5, 28}), n.weight({28, 10, 3, 3})}, {{"groups", int64_t{2}}, {"pads", Dims{1, 1, 1, 1}}});
         }},
        {"a block that channels do not fill, in rows",
         [](Net& n) {
           return n.op("neg", {n.input({2, 15, 5, 9})});
         },
         {in_blocks(0, 4, 16)}},
        {"dimensions of one element at the end",
         [](Net& n) {
           return n.op("relu", {n.op("reshape", {n.op("exp", {n.input({5, 70})})}, {{"shape", Dims{1, 5, 70, 1, 1}}})});
         }},
        {"transposed, with a dimension of one element at the end",
         [](Net& n) {
           return n.op("reshape", {n.op("transpose", {n.input({50, 37})}, {{"perm", Dims{1, 0}}})}, {{"shape", Dims{37, 50, 1}}});
         }},
    };
  }

 private Q_SLOTS:
  /// As few vectors as divide a line, and as many lines as registers hold whose group is the same.
  void tilesOfLines() {
    const auto tile = [](int64_t columns, int64_t sharing, const char* target) {
      const auto t = space::rules::line_tile(columns, sharing, kFloat32, parse_target(target).value());
      return std::vector{t.lanes, t.vectors, t.height};
    };
    const char *avx512 = "llvm -mcpu=skylake-avx512", *avx2 = "llvm -mcpu=haswell";
    QCOMPARE(tile(56, 28, avx512), (Dims{14, 2, 14}));
    QCOMPARE(tile(56, 120, avx512), (Dims{14, 2, 12}));
    QCOMPARE(tile(7, 20, avx512), (Dims{7, 1, 10}));
    QCOMPARE(tile(64, 124, avx512), (Dims{16, 2, 4}));
    QCOMPARE(tile(28, 60, avx2), (Dims{7, 2, 6}));
    QCOMPARE(tile(40, 60, avx512), (Dims{10, 2, 12}));
    QCOMPARE(tile(100, 60, avx512), (Dims{16, 1, 15}));  // 7 vectors, of which the last is not whole, and not 10 of 10
  }
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    QFETCH(int, number);
    const std::string problem = problem_by_rule(cases()[static_cast<size_t>(number)]);
    QVERIFY2(problem.empty(), problem.c_str());
  }

  /// Whatever dimensions of one element follow the channels.
  void means_of_blocks_are_vectors() {
    const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();
    for (const int64_t keep : {0, 1}) {
      const te::DagPtr dag = dag_of([&](Net& n) {
        return n.op("reduce_mean", {n.op("sigmoid", {n.input({1, 48, 7, 7})})}, {{"axes", Dims{2, 3}}, {"keepdims", keep}});
      });
      const std::string steps = schedule::print_steps(space::rule_schedule(dag, target, {in_blocks(0, 4, 8)}).value());
      QVERIFY2(steps.find("factors=[3, 8]") != std::string::npos && steps.find("vectorize(sum") != std::string::npos, steps.c_str());
    }
  }

  /// Sums over channels read each block as it lies.
  void sums_along_blocks_are_vectors() {
    const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();
    for (const Dims& axes : {Dims{1}, Dims{1, 2, 3}}) {
      const te::DagPtr dag = dag_of([&](Net& n) {
        return n.op("reduce_sum", {n.op("mul", {n.input({1, 48, 7, 7}), n.input({1, 1, 7, 7})})}, {{"axes", axes}, {"keepdims", int64_t{1}}});
      });
      const std::string steps = schedule::print_steps(space::rule_schedule(dag, target, {in_blocks(0, 4, 8)}).value());
      QVERIFY2(steps.find("rfactor") != std::string::npos && steps.find("vectorize") != std::string::npos, steps.c_str());
    }
  }

  /// All of a large array: cores share the turns of the longest loop, and each adds up its own in registers.
  void whole_arrays_in_blocks_are_added_up_in_pieces() {
    const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=2").value();
    for (const int64_t rows : {2, 100}) {
      const te::DagPtr dag = dag_of([&](Net& n) {
        return n.op("reduce_sum", {n.input({1, 48, rows, 30})}, {{"axes", Dims{0, 1, 2, 3}}, {"keepdims", int64_t{0}}});
      });
      const std::string steps = schedule::print_steps(space::rule_schedule(dag, target, {in_blocks(0, 4, 8)}).value());
      QCOMPARE(steps.find("parallel(reduce_sum_local_rf_rf, r2)") != std::string::npos, rows == 100);
    }
  }

  /// A sum in whole vectors stays in registers, and is written in part.
  void sums_of_ragged_rows_are_whole_vectors() {
    const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();
    const te::DagPtr dag = dag_of([](Net& n) {
      return n.op("relu", {n.op("conv2d", {n.input({1, 6, 5, 38}), n.weight({10, 3, 2, 2})}, {{"groups", int64_t{2}}})});
    });
    const std::string steps = schedule::print_steps(space::rule_schedule(dag, target, {}).value());
    QVERIFY2(steps.find("pad(") != std::string::npos, steps.c_str());
  }

  /// Fifteen channels of a block of sixteen are turned into rows together.
  void blocks_that_are_not_filled_become_rows_together() {
    const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();
    const te::DagPtr dag = dag_of([](Net& n) { return n.op("neg", {n.input({2, 7, 5, 9})}); });
    const std::string steps = schedule::print_steps(space::rule_schedule(dag, target, {in_blocks(0, 4, 8)}).value());
    QVERIFY2(steps.find("unroll") != std::string::npos, steps.c_str());
  }

  /// They are walked along with the last dimension that has neighbours.
  void dimensions_of_one_element_hide_no_vectors() {
    const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();
    for (const Dims& shape : {Dims{32, 256}, Dims{1, 32, 256, 1}, Dims{32, 1, 256, 1, 1}}) {
      const te::DagPtr dag = dag_of([&](Net& n) { return n.op("exp", {n.input(shape)}); });
      const std::string steps = schedule::print_steps(space::default_schedule(dag, target));
      QVERIFY2(steps.find("vectorize") != std::string::npos, steps.c_str());
    }
  }
};

QTEST_APPLESS_MAIN(RuleReductionTest)
#include "reduction_test.moc"
