// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/feature_matrix.h"

#include <QtTest>

using namespace tw::cost;

class FeatureMatrixTest : public QObject {
  Q_OBJECT

  static std::vector<float> values(const FeatureMatrix& m) { return {m.data(), m.data() + m.rows() * m.columns()}; }

 private Q_SLOTS:
  void pads_to_the_longest_and_keeps_candidates_together() {
    const std::vector<FeatureRows> candidates{{{1, 2}}, {{3, 4, 5, 6, 7, 8}, 2}, {{9}}};
    const FeatureMatrix m(candidates);
    QCOMPARE(m.candidates(), size_t{3});
    QCOMPARE(m.rows(), size_t{4});
    QCOMPARE(m.columns(), size_t{3});
    QVERIFY(!m.one_row_each());
    QCOMPARE(std::vector<size_t>(m.begins().begin(), m.begins().end()), (std::vector<size_t>{0, 1, 3, 4}));
    QCOMPARE(values(m), (std::vector<float>{1, 2, 0, 3, 4, 5, 6, 7, 8, 9, 0, 0}));
    QVERIFY(FeatureMatrix(std::span(candidates).first(1)).one_row_each());
  }
  void other_columns() {
    const std::vector<FeatureRows> candidates{{{1, 2, 3, 4}, 2}};
    const FeatureMatrix m(candidates);
    QCOMPARE(values(m.with_columns(3)), (std::vector<float>{1, 2, 0, 3, 4, 0}));
    QCOMPARE(values(m.with_columns(1)), (std::vector<float>{1, 3}));
    QCOMPARE(m.with_columns(1).candidates(), size_t{1});
  }
  void nothing_is_empty() {
    const FeatureMatrix m(std::span<const FeatureRows>{});
    QCOMPARE(m.candidates(), size_t{0});
    QCOMPARE(m.rows(), size_t{0});
    QCOMPARE(m.columns(), size_t{0});
  }
};

QTEST_APPLESS_MAIN(FeatureMatrixTest)
#include "feature_matrix_test.moc"
