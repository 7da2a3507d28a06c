// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/difference_shares.h"

#include <QtTest>
#include <bit>
#include <cmath>

using namespace tw;

/// Shares that can be worked out by hand.
class DifferenceSharesTest : public QObject {
  Q_OBJECT

  static bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }
  static tune::TimeOfChanges table(std::vector<double> times) {
    return [times](uint32_t s) -> Expected<double> {
      if (times[s] <= 0) return Error(ErrorCode::illegal_schedule, "too large");
      return times[s];
    };
  }

 private Q_SLOTS:
  void asManyPointsAreAskedForAsIsSaid() {
    for (const size_t changes : {1, 3, 8, 9, 12}) {
      size_t asked = 0;
      QVERIFY(tune::difference_shares(changes, [&](uint32_t) -> Expected<double> { return 1.0 + static_cast<double>(asked++); }));
      QCOMPARE(asked, tune::difference_stops(changes));
    }
  }
  void independentChangesHaveTheirOwnFactors() {
    // 2, 3 and 1/2, wherever they are made.
    const auto r = tune::difference_shares(3, [](uint32_t s) -> Expected<double> {
                     return 12.0 / ((s & 1 ? 2 : 1) * (s & 2 ? 3 : 1) * (s & 4 ? 0.5 : 1));
                   }).value();
    QVERIFY(near(r.shares[0].factor, 2) && near(r.shares[1].factor, 3) && near(r.shares[2].factor, 0.5));
    QVERIFY(near(r.shares[1].least, 3) && near(r.shares[1].most, 3));
    QCOMPARE(r.orders, 6.0);
    QCOMPARE(r.all_orders, 6.0);
    QVERIFY(r.missing.empty());
    QVERIFY(near(r.first_s / r.second_s, 3));
  }
  void whatTwoDoOnlyTogetherIsShared() {
    // Neither helps alone (one even harms), both make it four times as fast: ways 8 -> 8 -> 2 and 8 -> 16 -> 2.
    const auto r = tune::difference_shares(2, table({8, 8, 16, 2})).value();
    QVERIFY(near(r.shares[0].factor, std::sqrt(1.0 * 8)));
    QVERIFY(near(r.shares[1].factor, std::sqrt(4 * 0.5)));
    QVERIFY(near(r.shares[0].factor * r.shares[1].factor, 4));
    QVERIFY(near(r.shares[1].least, 0.5) && near(r.shares[1].most, 4));
  }
  void ordersWithoutAStopAreLeftOut() {
    // {1} is illegal: only 0 -> {0} -> both remains.
    const auto r = tune::difference_shares(2, table({8, 4, -1, 2})).value();
    QCOMPARE(r.orders, 1.0);
    QCOMPARE(r.all_orders, 2.0);
    QVERIFY(near(r.shares[0].factor, 2) && near(r.shares[1].factor, 2));
    QCOMPARE(r.missing.size(), size_t{1});
    QCOMPARE(r.missing[0].first, uint32_t{2});
    // A stop that leads nowhere changes nothing: of {0}, {1}, {2}, {01}, {02}, {12} only 0 -> {0} -> {01} -> all has times, and {12} is reached from nowhere.
    const auto dead = tune::difference_shares(3, table({16, 8, -1, 4, -1, -1, 100, 2})).value();
    QCOMPARE(dead.orders, 1.0);
    for (const auto& s : dead.shares) QVERIFY(near(s.factor, 2) && near(s.least, 2) && near(s.most, 2));
  }
  void noWayAtAllIsSaid() {
    const auto r = tune::difference_shares(2, table({8, -1, -1, 2}));
    QVERIFY(!r);
    QVERIFY2(r.error().text().find("2 of 2 stops have none") != std::string::npos && r.error().text().find("too large") != std::string::npos, r.error().text().c_str());
    QVERIFY(!tune::difference_shares(0, table({1})));
    QVERIFY(!tune::difference_shares(1, table({-1, 2})));
    QVERIFY(!tune::difference_shares(1, table({1, -2})));
    QVERIFY(near(tune::difference_shares(1, table({3, 2})).value().shares[0].factor, 1.5));
  }
  void manyChangesAreWalkedBothWays() {
    int asked = 0;
    const auto r = tune::difference_shares(12, [&](uint32_t s) -> Expected<double> {
                     ++asked;
                     return 1.0 / (1 + std::popcount(s));
                   }).value();
    QCOMPARE(asked, 2 + 2 * 11);
    QCOMPARE(r.orders, 2.0);
    double product = 1;
    for (const auto& s : r.shares) product *= s.factor;
    QVERIFY(near(product, 13));
    QVERIFY(near(r.shares[0].factor, std::sqrt(2.0 * 13 / 12)));  // the first, and the last
  }
};

QTEST_APPLESS_MAIN(DifferenceSharesTest)
#include "difference_shares_test.moc"
