// SPDX-License-Identifier: Apache-2.0
#include "engine/base/knee.h"

#include <QtTest>
#include <cmath>
#include <vector>

using namespace tw;

class KneeTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// 5 - 1/x over [0.1, 1]: scaled into the unit square its slope is 1 where x = sqrt(0.1).
  void ofACurveWithAKnownOne() {
    std::vector<double> x, y;
    for (int i = 0; i <= 900; ++i) x.push_back(0.1 + i / 1000.0), y.push_back(5 - 1 / x.back());
    const auto at = knee(x, y);
    QVERIFY(at);
    QVERIFY(std::abs(x[*at] - std::sqrt(0.1)) < 0.002);
  }
  /// Threads that help until the fourth.
  void ofACurveThatGoesFlat() {
    const std::vector<double> x{1, 2, 3, 4, 6, 8, 12, 16}, y{1, 2, 3, 4, 4.1, 4.15, 4.2, 4.25};
    QCOMPARE(knee(x, y), std::optional<size_t>(3));
  }
  void onlyWhatStillRisesCounts() {
    const std::vector<double> x{1, 2, 3, 4, 5, 6, 7}, y{0, 7, 8, 8.5, 9, 3, 1};
    QCOMPARE(knee(x, y), std::optional<size_t>(1));
  }
  void noneWhereNothingBends() {
    const std::vector<double> x{1, 2, 3, 4, 5}, line{2, 4, 6, 8, 10}, convex{1, 2, 4, 8, 16}, falling{5, 4, 3, 2, 1}, flat{3, 3, 3, 3, 3};
    for (const auto* y : {&line, &convex, &falling, &flat}) QVERIFY(!knee(x, *y));
    QVERIFY(!knee({}, {}));
    QVERIFY(!knee(std::vector<double>{1, 2}, std::vector<double>{1, 2}));
  }
  /// A bend that is less than a mean step of x is none, unless more sensitivity is asked for.
  void sensitivityDecidesAboutSlightBends() {
    const std::vector<double> x{0, 1, 2, 3, 4}, y{0, 1.2, 2.3, 3.2, 4};
    QVERIFY(!knee(x, y));
    QCOMPARE(knee(x, y, 0.05), std::optional<size_t>(2));
  }
};

QTEST_APPLESS_MAIN(KneeTest)
#include "knee_test.moc"
