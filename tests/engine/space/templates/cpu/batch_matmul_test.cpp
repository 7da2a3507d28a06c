// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Products of matrices of a batch against the interpreter: panels as they lie, copied, and packed ahead of time.
class BatchMatmulTest : public QObject {
  Q_OBJECT

  static const space::Template& batch_matmul() { return template_named("batch_matmul.cpu"); }
  static Make product(int64_t batch, int64_t m, int64_t n, int64_t k) {
    return [=](Net& b) { return b.op("matmul", {b.input({batch, m, k}), b.input({batch, k, n})}); };
  }
  static int transposed(Net& b, int x, std::vector<int64_t> perm) { return b.op("transpose", {x}, {{"perm", std::move(perm)}}); }
  static std::vector<Case> cases() {
    return {
        {"turned panels", [](Net& b) { return b.op("matmul", {b.input({3, 9, 20}), transposed(b, b.input({3, 64, 20}), {0, 2, 1})}); }},
        {"turned panels, ragged, with what follows",
         [](Net& b) { return b.op("relu", {b.op("matmul", {b.input({9, 21}), transposed(b, b.input({75, 21}), {1, 0})})}); }},
        {"turned panels of heads", [](Net& b) { return b.op("matmul", {b.input({2, 3, 5, 8}), transposed(b, b.input({2, 33, 3, 8}), {0, 2, 3, 1})}); }},
        {"rows with each other",
         [](Net& b) {
           const int x = b.input({2, 37, 40});
           return b.op("matmul", {x, transposed(b, x, {0, 2, 1})});
         }},
        {"as they lie", product(3, 7, 40, 9)},
        {"rows that evict each other", product(1, 33, 1024, 24)},
        {"rows that evict each other, with what follows",
         [](Net& b) {
           const int y = b.op("matmul", {b.input({2, 34, 13}), b.input({2, 13, 2048})});
           return b.op("relu", {b.op("add", {y, b.input({2, 34, 2048})})});
         }},
        {"weights of each entry", [](Net& b) { return b.op("gelu", {b.op("matmul", {b.input({3, 9, 20}), b.weight({3, 20, 96})})}); }},
        {"weights, rows that all entries share", [](Net& b) { return b.op("matmul", {b.input({9, 20}), b.weight({3, 20, 64})}); }},
        {"weights of two dimensions of entries, a masked tail", [](Net& b) { return b.op("matmul", {b.input({2, 3, 5, 8}), b.weight({2, 3, 8, 61})}); }},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(batch_matmul(), cases(), 6);
    QVERIFY2(problem.empty(), problem.c_str());
  }

  void copiesPanelsThatCollide() {
    const auto choice = [](const char* cpu, int64_t m, int64_t n, int64_t k) { return batch_matmul().fallback(*dag_of(product(1, m, n, k)), parse_target(cpu).value()); };
    for (const char* cpu : {"haswell", "sapphirerapids", "znver4"}) {
      QCOMPARE(choice(cpu, 128, 4096, 256).integer("copy_panel"), 1);
      QCOMPARE(choice(cpu, 128, 4096 + 16, 256).integer("copy_panel"), 0);  // a line further apart
      QCOMPARE(choice(cpu, 4, 4096, 256).integer("copy_panel"), 0);         // few rows to copy for
      QCOMPARE(choice(cpu, 1024, 1024, 32).integer("copy_panel"), 0);       // mostly writing
      QCOMPARE(choice(cpu, 64, 4096, 256).integer("panel_outer"), 1);
    }
  }
};

QTEST_APPLESS_MAIN(BatchMatmulTest)
#include "engine/space/templates/cpu/batch_matmul_test.moc"
