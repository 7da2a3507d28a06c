// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/lengths.h"

#include <QtTest>
#include <map>
#include <numeric>

#include "engine/space/knobs/split.h"

using namespace tw;
using namespace tw::space;

class LengthsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Every list of two lengths whose product divides 12, the inner one at most 4, about as often as any other.
  void eachListIsAsLikely() {
    Rng rng(5);
    std::map<std::vector<int64_t>, int> found;
    constexpr int kDraws = 8000;
    for (int k = 0; k < kDraws; ++k) ++found[random_lengths(12, 2, 4, rng)];
    int expected = 0;
    for (const int64_t a : divisors(12))
      for (const int64_t b : divisors(12 / a)) expected += b <= 4;
    QCOMPARE(static_cast<int>(found.size()), expected);
    for (const auto& [lengths, count] : found) {
      QVERIFY(12 % (lengths[0] * lengths[1]) == 0 && lengths[1] <= 4);
      QVERIFY(count > kDraws / expected / 2 && count < 2 * kDraws / expected);
    }
  }
  void lengthsOfPrimesStay() {
    Rng rng(1);
    for (int k = 0; k < 50; ++k) {
      const auto l = random_lengths(13, 3, 4, rng);
      QVERIFY(l[2] == 1 && l[0] * l[1] * l[2] <= 13 && 13 % (l[0] * l[1]) == 0);
    }
  }
  void surplusIsBounded() {
    Rng rng(2);
    bool uneven = false;
    for (const int64_t extent : {1, 2, 7, 13, 14, 49, 1000})
      for (int k = 0; k < 100; ++k) {
        const auto l = random_uneven_lengths(extent, 3, 64, rng);
        const int64_t product = std::accumulate(l.begin(), l.end(), int64_t{1}, std::multiplies<>());
        const int64_t covered = (extent + product - 1) / product * product;
        QVERIFY2(covered - extent <= covered / 4, qPrintable(QString("%1 of %2").arg(covered).arg(extent)));
        QVERIFY(l.back() <= 64);
        uneven = uneven || extent % product != 0;
      }
    QVERIFY(uneven);
  }
};

QTEST_APPLESS_MAIN(LengthsTest)
#include "lengths_test.moc"
