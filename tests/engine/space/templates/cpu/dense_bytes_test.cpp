// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Products of bytes with packed weights against the interpreter.
class DenseBytesTest : public QObject {
  Q_OBJECT

  static Make product(int64_t m, int64_t n, int64_t k) {
    return [=](Net& b) { return b.op("dense_bytes", {b.input({m, k}, kUInt8), b.weight({n, k}, kInt8)}); };
  }
  static std::vector<Case> cases() {
    return {
        {"one row", product(1, 64, 256)},
        {"rows that no tile divides", product(13, 48, 20)},
        {"blocks of rows", product(120, 32, 8)},
        {"with what follows",
         [](Net& b) {
           const int y = b.op("dense_bytes", {b.input({7, 36}, kUInt8), b.weight({16, 36}, kInt8)});
           const int number = b.op("cast", {b.op("sub", {y, b.weight({16}, kInt32)})}, {{"to", std::string("float32")}});
           return b.op("relu", {b.op("add", {b.op("mul", {number, b.weight({16})}), b.input({7, 16})})});
         }},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(template_named("dense_bytes.cpu"), cases(), 4);
    QVERIFY2(problem.empty(), problem.c_str());
  }
};

QTEST_APPLESS_MAIN(DenseBytesTest)
#include "engine/space/templates/cpu/dense_bytes_test.moc"
