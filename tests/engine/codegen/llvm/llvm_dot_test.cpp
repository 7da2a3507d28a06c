// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/codegen/kernel_runner.h"

using namespace tw;
using namespace tw::codegen::testing;
using ir::Expr;

/// Sums of four products of bytes: one instruction where the processor has it, and the same numbers everywhere.
class DotTest : public QObject {
  Q_OBJECT

  /// c[i] += sum over j of x[first + j] * w[4 i + order[j]].
  static tir::Func sum_of_four(int lanes, const std::vector<int64_t>& order = {0, 1, 2, 3}, DType data = kUInt8) {
    const auto X = ir::make_buffer("X", data, {8}), W = ir::make_buffer("W", kInt8, {int64_t{4} * lanes}), C = ir::make_buffer("C", kInt32, {lanes});
    const Expr at = ir::ramp(ir::index(0), ir::index(1), lanes);
    Expr sum = ir::load(C, {at});
    for (size_t j = 0; j < order.size(); ++j) {
      const Expr x = ir::broadcast(ir::cast(kInt32, ir::load(X, {ir::index(2 + static_cast<int64_t>(j))})), lanes);
      sum = sum + x * ir::cast(kInt32.with_lanes(lanes), ir::load(W, {ir::ramp(ir::index(order[j]), ir::index(4), lanes)}));
    }
    return {"kernel", {X, W, C}, 1, tir::store(C, {at}, sum)};
  }
  static bool has_dot(const tir::Func& f, const char* target) {
    const auto l = codegen::build_listing(f, parse_target(target).value());
    return l && l->assembly.find("vpdpbusd") != std::string::npos;
  }

 private Q_SLOTS:
  void oneInstructionWhereThereIsOne() {
    for (const int lanes : {4, 8, 16}) QVERIFY(has_dot(sum_of_four(lanes), "llvm -mcpu=znver4"));
    QVERIFY(has_dot(sum_of_four(16), "llvm -mcpu=cascadelake") && has_dot(sum_of_four(16), "llvm -mcpu=sapphirerapids"));
    QVERIFY(has_dot(sum_of_four(8), "llvm -mcpu=alderlake"));
    QVERIFY(!has_dot(sum_of_four(8), "llvm -mcpu=haswell") && !has_dot(sum_of_four(16), "llvm -mcpu=skylake-avx512"));
  }
  void otherSumsAreNone() {
    QVERIFY(!has_dot(sum_of_four(16, {0, 1, 2}), "llvm -mcpu=znver4"));
    QVERIFY(!has_dot(sum_of_four(16, {0, 1, 3, 2}), "llvm -mcpu=znver4"));
    QVERIFY(!has_dot(sum_of_four(16, {0, 1, 2, 3}, kInt8), "llvm -mcpu=znver4"));
  }
  /// The largest products of all, whose pairs no 16 bits hold.
  void numbersAreExact() {
    for (const int lanes : {4, 8, 16})
      for (const DType data : {kUInt8, kInt8}) {
        const tir::Func f = sum_of_four(lanes, {0, 1, 2, 3}, data);
        HostArray x = HostArray::make(data, {8}), w = HostArray::make(kInt8, {int64_t{4} * lanes}), c = HostArray::make(kInt32, {lanes});
        for (int64_t j = 0; j < 8; ++j) x.set_int(j, data == kUInt8 ? 255 - j : -128 + j);
        for (int64_t i = 0; i < w.num_elements(); ++i) w.set_int(i, i % 3 == 0 ? 127 : -128);
        for (int64_t i = 0; i < lanes; ++i) c.set_int(i, 1000 * i - 7);
        std::vector<HostArray> args = {x, w, c};
        const auto ran = run(f, args, host_target());
        QVERIFY2(ran, ran ? "" : ran.error().text().c_str());
        for (int64_t i = 0; i < lanes; ++i) {
          int64_t want = 1000 * i - 7;
          for (int64_t j = 0; j < 4; ++j) want += x.get_int(2 + j) * w.get_int(4 * i + j);
          QCOMPARE(args[2].get_int(i), want);
        }
      }
  }
};

QTEST_APPLESS_MAIN(DotTest)
#include "llvm_dot_test.moc"
