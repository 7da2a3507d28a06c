// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/stores.h"

#include <QtTest>
#include <cmath>

#include "engine/lower/lower.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::cost;

class StoresTest : public QObject {
  Q_OBJECT

  static float log_of(double x) { return static_cast<float>(std::log2(x + 1)); }
  static std::vector<float> row(const FeatureRows& rows, size_t i) {
    const auto begin = rows.values.begin() + static_cast<std::ptrdiff_t>(i * rows.columns());
    return {begin, begin + static_cast<std::ptrdiff_t>(rows.columns())};
  }
  static FeatureRows of(const schedule::Schedule& s) { return stores_rows(touches(*lower::lower(s, "t"))); }

 private Q_SLOTS:
  /// y[4, 8] = sum over k of x[4, 16] * w[8, 16]: the sum begins at zero, then grows.
  void a_matrix_product_by_hand() {
    const FeatureRows rows = of(schedule::Schedule(tune::fixture::dense(4, 8, 16).dag));
    QCOMPARE(rows.count, size_t{2});
    QCOMPARE(rows.columns(), kStoreColumns);
    const std::vector<float> begin = row(rows, 0), step = row(rows, 1);
    // Runs, operations, loops, length of the innermost, adds up.
    QCOMPARE(std::vector<float>(begin.begin(), begin.begin() + 8), (std::vector<float>{log_of(32), 0, 0, 0, 0, 2, log_of(8), 0}));
    QCOMPARE(std::vector<float>(step.begin(), step.begin() + 8), (std::vector<float>{log_of(512), log_of(512), log_of(512), 0, 0, 3, log_of(16), 1}));
    for (size_t k = 0; k < kLoopKinds; ++k) {
      const bool serial = static_cast<int>(k) == loop_kind_place(tir::ForKind::serial);
      QCOMPARE(step[8 + k], serial ? log_of(512) : 0);
    }
    const auto array = [&](const std::vector<float>& r, size_t i) {
      const auto at = r.begin() + static_cast<std::ptrdiff_t>(kStoreLoopColumns + i * kStoreArrayColumns);
      return std::vector<float>(at, at + kStoreArrayColumns);
    };
    // y is written; then w, 8 x 16 floats, of which each is used by 4 rows; then x, 4 x 16, used by 8 columns. Footprints from the innermost loop outwards.
    QCOMPARE(array(step, 0), (std::vector<float>{1, log_of(4 * 32), log_of(16), 0, log_of(4), log_of(4 * 8), log_of(4 * 32), 0}));
    QCOMPARE(array(step, 1), (std::vector<float>{0, log_of(4 * 128), log_of(4), log_of(1), log_of(4 * 16), log_of(4 * 128), log_of(4 * 128), 0}));
    QCOMPARE(array(step, 2), (std::vector<float>{0, log_of(4 * 64), log_of(8), log_of(1), log_of(4 * 16), log_of(4 * 16), log_of(4 * 64), 0}));
    QCOMPARE(array(step, 3), std::vector<float>(kStoreArrayColumns, 0));
    QCOMPARE(array(begin, 0), (std::vector<float>{1, log_of(4 * 32), log_of(1), log_of(1), log_of(4 * 8), log_of(4 * 32), 0, 0}));
    QCOMPARE(array(begin, 1), std::vector<float>(kStoreArrayColumns, 0));
  }
  /// Vectors and threads stand in the columns of their loops' kinds.
  void kinds_of_loops() {
    schedule::Builder b(tune::fixture::elementwise(64).dag);
    const int y = b.stage("y");
    const auto parts = b.split(y, b.loops(y)[0], {16});
    b.annotate(y, parts[0], schedule::Annotation::parallel);
    b.vectorize(y, parts[1]);
    const FeatureRows rows = of(*std::move(b).finish());
    QCOMPARE(rows.count, size_t{1});
    const std::vector<float> r = row(rows, 0);
    for (size_t k = 0; k < kLoopKinds; ++k) {
      const int place = static_cast<int>(k);
      const float expected = place == loop_kind_place(tir::ForKind::parallel) ? log_of(4) : place == loop_kind_place(tir::ForKind::vectorized) ? log_of(16) : 0;
      QCOMPARE(r[8 + k], expected);
    }
    QCOMPARE(r[0], log_of(64));
    QCOMPARE(r[1], log_of(64));  // one addition each
  }
  /// Tiles of a product show where the loops alone would not: the sums of a tile stay near.
  void a_tile_has_smaller_footprints() {
    schedule::Builder b(tune::fixture::dense(64, 64, 64).dag);
    const int y = b.stage("dense");
    const auto loops = b.loops(y);
    const auto i = b.split(y, loops[0], {8}), j = b.split(y, loops[1], {8});
    b.reorder(y, {i[0], j[0], loops[2], i[1], j[1]});
    const FeatureRows tiled = of(*std::move(b).finish()), plain = of(schedule::Schedule(tune::fixture::dense(64, 64, 64).dag));
    const size_t second = kStoreLoopColumns + 4 + 1;  // of the written array, in the second loop from the inside
    QCOMPARE(row(tiled, 1)[second], log_of(4 * 64));
    QCOMPARE(row(tiled, 1)[0], row(plain, 1)[0]);
    QVERIFY(tiled.values != plain.values);
  }
};

QTEST_APPLESS_MAIN(StoresTest)
#include "stores_test.moc"
