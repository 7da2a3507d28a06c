// SPDX-License-Identifier: Apache-2.0
// Rows that the threads of a GPU reduce together, by rule.
#include "engine/space/rules/threads.h"

#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;

class ThreadsTest : public QObject {
  Q_OBJECT

  using Dims = space::testing::Dims;
  static te::DagPtr dag_of(const char* op, const Dims& x, DType t, const space::testing::Values& attrs = {}) {
    return space::testing::dag_of([&](space::testing::Net& n) { return n.op(op, {n.input(x, t)}, attrs); });
  }
  static tir::Func by_rule(const te::DagPtr& dag) {
    const Target target = parse_target("cuda:a100").value();
    const auto func = lower::lower_and_optimize(space::rule_schedule(dag, target, {}).value(), "kernel", target);
    if (!func) qFatal("%s", func.error().text().c_str());
    return *func;
  }

 private Q_SLOTS:
  /// Of several rows in a block each thread finds the maximum of its own.
  void threads_reduce_their_own_rows() {
    const auto source = codegen::cuda_source(by_rule(dag_of("softmax", {4096, 128}, kFloat32)));
    QVERIFY(source.has_value());
    QVERIFY2(source->kernels[0].block[1] > 1 && source->text.find("float maximum[1];") != std::string::npos, source->text.c_str());
  }

  /// A small convolution has too few results for a thread each: a block adds up each of them.
  void blocks_add_up_results() {
    const te::DagPtr dag = space::testing::dag_of([](space::testing::Net& n) { return space::testing::conv(n, {1, 16, 8, 8}, {16, 16, 3, 3}, 1, 1); });
    const auto source = codegen::cuda_source(by_rule(dag));
    QVERIFY(source.has_value());
    QCOMPARE(source->kernels.back().grid[0], int64_t{16 * 8 * 8});
    QCOMPARE(source->kernels.back().block[0], int64_t{128});
  }

  /// Vectors have the sign of their elements: -1 read as 65535 is more than 0.
  void vectors_of_integers() {
    for (const auto& [type, vector] : {std::pair{kInt16, "short4"}, {kUInt16, "ushort4"}, {kInt32, "int4"}, {kUInt32, "uint4"}}) {
      const auto source = codegen::cuda_source(by_rule(dag_of(type.is_signed() ? "relu" : "bitwise_not", {64, 4096, 8}, type)));
      QVERIFY(source.has_value());
      QVERIFY2(source->text.find(std::string("const ") + vector + " vector") != std::string::npos, source->text.c_str());
    }
  }

  /// The sum of 4096 hundreds is more than float16 holds; their mean is not.
  void what_follows_a_sum_is_computed_in_float() {
    const te::DagPtr dag = dag_of("reduce_mean", {1, 3, 64, 64}, kFloat16, {{"axes", Dims{2, 3}}});
    std::vector<HostArray> args{HostArray::make(kFloat16, {1, 3, 64, 64}), HostArray::make(kFloat16, dag->ops.back().output->shape)};
    for (int64_t k = 0; k < args[0].num_elements(); ++k) args[0].set(k, 100);
    const auto ran = tir::interpret(by_rule(dag), args);
    QVERIFY2(ran, ran ? "" : ran.error().text().c_str());
    for (int64_t k = 0; k < 3; ++k) QCOMPARE(args[1].get(k), 100.0);
  }
};

QTEST_APPLESS_MAIN(ThreadsTest)
#include "threads_test.moc"
