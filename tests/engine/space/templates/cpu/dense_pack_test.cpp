// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/space/templates/cpu/blocked.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Products with packed weights against the interpreter: rows copied or not, the reduction in parts or in one.
class DensePackTest : public QObject {
  Q_OBJECT

  static const space::Template& dense_pack() { return template_named("dense_pack.cpu"); }
  static Make product(int64_t m, int64_t n, int64_t k) {
    return [=](Net& b) { return b.op("dense", {b.input({m, k}), b.weight({n, k})}); };
  }
  static std::vector<Case> cases() {
    return {
        {"rows a span of sets apart", product(9, 32, 1024)},
        {"long sums in uneven parts, with what follows",
         [](Net& b) {
           const int y = b.op("dense", {b.input({7, 1027}), b.weight({16, 1027})});
           return b.op("relu", {b.op("add", {b.op("add", {y, b.weight({16})}), b.input({7, 16})})});
         }},
        {"one row", product(1, 64, 1024)},
        {"short sums", product(21, 80, 37)},
        {"a masked tail", product(3, 133, 1024)},
        {"less than a vector of columns", product(9, 11, 20)},
        {"a masked tail of one panel, blocks of rows, with what follows",
         [](Net& b) {
           const int y = b.op("dense", {b.input({118, 9}), b.weight({30, 9})});
           return b.op("relu", {b.op("add", {b.op("add", {y, b.weight({30})}), b.input({118, 30})})});
         }},
        {"a prime number of vectors", product(5, 200, 24)},
        {"a masked tail of long sums in parts", product(3, 40, 1031)},
        {"float64, a masked tail of long sums",
         [](Net& b) {
           return b.op("relu", {b.op("dense", {b.input({9, 1027}, kFloat64), b.weight({21, 1027}, kFloat64)})});
         }},
        {"float64, rows a span of sets apart",
         [](Net& b) {
           return b.op("dense", {b.input({9, 512}, kFloat64), b.weight({32, 512}, kFloat64)});
         }},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(dense_pack(), cases(), 4);
    QVERIFY2(problem.empty(), problem.c_str());
  }

  /// Rows are copied where they would evict each other from the processor's cache, and only there.
  void copiesRowsThatCollide() {
    const auto choice = [](const char* cpu, int ways, int64_t m, int64_t k) {
      Target target = parse_target(cpu).value();
      target.l1d_ways = ways;
      return dense_pack().fallback(*dag_of(product(m, 768, k)), target);
    };
    for (const char* cpu : {"haswell", "sapphirerapids", "znver4"})
      for (const int ways : {4, 8}) {
        const space::ConfigEntity collide = choice(cpu, ways, 128, 3 * 16384);  // rows of many spans of the sets
        QVERIFY2(collide.integer("copy_rows") == 1 || collide.split("tile_y")[1] < ways, collide.text().c_str());
        QVERIFY2(ways > 4 || collide.integer("copy_rows") == 1, collide.text().c_str());
        QCOMPARE(choice(cpu, ways, 128, 3 * 16384 + 16).integer("copy_rows"), 0);  // and a line more
        QCOMPARE(choice(cpu, ways, 1, 3 * 16384).integer("copy_rows"), 0);
      }
  }

  /// By rule four steps of the reduction are written out, where there are as many.
  void writesOutSteps() {
    const Target target = parse_target("skylake-avx512").value();
    const auto written = [&](int64_t m, int64_t k) { return dense_pack().fallback(*dag_of(product(m, 768, k)), target).integer("unroll_k"); };
    QCOMPARE(written(1, 768), 4);
    QCOMPARE(written(128, 768), 4);
    QCOMPARE(written(128, 3), 2);
    QCOMPARE(written(128, 1), 1);
  }

  /// Full vectors with a tail, where those that divide the columns are short.
  void vectorsAreFull() {
    const auto lanes = [](const char* cpu, int64_t n) {
      const Target target = parse_target(cpu).value();
      return space::cpu::column_lanes(n, target);
    };
    for (const int64_t n : {10, 24, 30, 50, 100, 200, 1000, 1001}) QCOMPARE(lanes("skylake-avx512", n), 16);
    QCOMPARE(lanes("skylake-avx512", 8), 8);
    QCOMPARE(lanes("skylake-avx512", 56), 16);
    for (const int64_t n : {10, 20, 30, 100}) QCOMPARE(lanes("haswell", n), 8);
    QCOMPARE(lanes("haswell", 4), 4);
  }

  /// Few columns, and sums of which too few are under way, are left to the rule, which has vectors along the reduction.
  void leavesDotProductsAlone() {
    const Target target = parse_target("skylake-avx512").value();
    const auto taken = [&](int64_t m, int64_t n) { return dense_pack().fallback(*dag_of(product(m, n, 512)), target).index() >= 0; };
    QVERIFY(!taken(128, 5));
    QVERIFY(taken(128, 6));
    QVERIFY(!taken(1, 10));
    QVERIFY(!taken(1, 48));
    QVERIFY(taken(1, 64));
    QVERIFY(taken(4, 10));
  }

  /// Blocks of rows hold as many tiles each, and no more rows than they should.
  void blocksAreEven() {
    QCOMPARE(space::cpu::tiles_of_block(197, 9, 112), 11);  // 22 tiles: 11 and 11, not 13 and 9
    QCOMPARE(space::cpu::tiles_of_block(197, 9, 197), 22);
    QCOMPARE(space::cpu::tiles_of_block(128, 14, 112), 5);
    QCOMPARE(space::cpu::tiles_of_block(5, 8, 5), 1);
    for (int64_t m = 1; m < 300; ++m)
      for (const int64_t rows : {1, 5, 9, 14})
        for (const int64_t block : {56, 112}) {
          const int64_t tiles = space::cpu::blocks_for(m, rows), each = space::cpu::tiles_of_block(m, rows, block),
                        blocks = space::cpu::blocks_for(tiles, each);
          QVERIFY(each <= space::cpu::blocks_for(block, rows));
          QVERIFY(each == 1 || space::cpu::blocks_for(tiles, each - 1) > blocks);  // as small as so many blocks allow
        }
  }

  /// A tile has all of few rows where weights come from memory, so that these are read once.
  void weightsFromMemoryAreReadOnce() {
    const auto rows = [](const char* cpu, int64_t m, int64_t n) {
      Target target = parse_target(cpu).value();
      target.l2_bytes = 1 << 21;
      return dense_pack().fallback(*dag_of(product(m, n, 1040)), target).split("tile_y")[1];
    };
    QCOMPARE(rows("skylake-avx512", 16, 1024), 16);
    QVERIFY(rows("skylake-avx512", 16, 256) < 16);  // the cache holds them
    QCOMPARE(rows("haswell", 8, 1024), 8);
    QVERIFY(rows("haswell", 8, 256) < 8);
    QVERIFY(rows("haswell", 64, 1024) < 14);
  }

  /// The reduction is taken apart where its rows and a panel of weights do not fit the level-2 cache together.
  void takesLongSumsApart() {
    const auto parts = [](int64_t l2_bytes, int64_t k) {
      const te::DagPtr dag = dag_of(product(128, 768, k));
      Target target = parse_target("skylake-avx512").value();
      target.l2_bytes = l2_bytes;
      return dense_pack().fallback(*dag, target).integer("parts_k");
    };
    QVERIFY(parts(1 << 20, 3072) > 1);
    QCOMPARE(parts(1 << 23, 3072), 1);
    QCOMPARE(parts(1 << 20, 768), 1);
  }
};

QTEST_APPLESS_MAIN(DensePackTest)
#include "engine/space/templates/cpu/dense_pack_test.moc"
