// SPDX-License-Identifier: Apache-2.0
#include "engine/base/rank_correlation.h"

#include <QtTest>
#include <cmath>
#include <vector>

using namespace tw;

class RankCorrelationTest : public QObject {
  Q_OBJECT
  static bool near(double a, double b) { return std::abs(a - b) < 1e-9; }

 private Q_SLOTS:
  void order_is_all_that_counts() {
    const std::vector<double> a = {1, 2, 3, 4, 5}, cubes = {1, 8, 27, 64, 125}, back = {9, 7, 5, 3, 1};
    QVERIFY(near(spearman(a, cubes), 1) && near(kendall(a, cubes), 1));
    QVERIFY(near(spearman(a, back), -1) && near(kendall(a, back), -1));
  }
  void values_by_hand() {
    // Without ties: 1 - 6 Σd² / (n³ - n), here with Σd² = 182.
    const std::vector<double> a = {7, 4, 3, 10, 6, 2, 9, 8, 1, 5}, b = {5, 7, 3, 10, 1, 9, 6, 2, 8, 4};
    QVERIFY2(near(spearman(a, b), 1 - 6.0 * 182 / 990), qPrintable(QString::number(spearman(a, b))));
    // With ties: 10 pairs of which 1 is tied in the first and 2 in the second list; of the other 7 one runs against.
    const std::vector<double> x = {1, 2, 2, 3, 4}, y = {1, 1, 3, 4, 4};
    QVERIFY2(near(kendall(x, y), 7.0 / std::sqrt(9.0 * 8.0)), qPrintable(QString::number(kendall(x, y))));
    QVERIFY(near(spearman(x, y), 8.25 / std::sqrt(9.5 * 9.0)));
  }
  void without_an_order_there_is_none() {
    QCOMPARE(spearman({}, {}), 0.0);
    const std::vector<double> one = {1}, flat = {2, 2, 2}, rising = {1, 2, 3};
    QCOMPARE(kendall(one, one), 0.0);
    QCOMPARE(spearman(flat, rising), 0.0);
    QCOMPARE(kendall(flat, rising), 0.0);
  }
};

QTEST_APPLESS_MAIN(RankCorrelationTest)
#include "rank_correlation_test.moc"
