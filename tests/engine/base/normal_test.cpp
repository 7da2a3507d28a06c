// SPDX-License-Identifier: Apache-2.0
#include "engine/base/normal.h"

#include <QtTest>
#include <cmath>
#include <cstring>
#include <vector>

using namespace tw;

class NormalTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Many at once are those one by one, bit by bit, wherever a row of them ends.
  void manyAreThoseOneByOne() {
    for (const auto& [mean, deviation] : {std::pair(0.0, 0.05), std::pair(1.0, 0.1), std::pair(-3.0, 1e-9), std::pair(0.0, -2.0), std::pair(0.5, 0.0)}) {
      for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{127}, int64_t{128}, int64_t{129}, int64_t{300'001}}) {
        Rng one(static_cast<uint64_t>(count) + 7), all = one;
        std::vector<float> wanted(static_cast<size_t>(count)), got(wanted.size());
        for (float& w : wanted) w = static_cast<float>(mean + deviation * one.normal());
        fill_normal(all, mean, deviation, got.data(), count);
        for (size_t i = 0; i < wanted.size(); ++i)
          QVERIFY2(std::memcmp(&wanted[i], &got[i], sizeof(float)) == 0, qPrintable(QStringLiteral("number %1: %2, not %3").arg(i).arg(got[i], 0, 'g', 9).arg(wanted[i], 0, 'g', 9)));
        QCOMPARE(all.next(), one.next());
      }
    }
  }

  void theyAreNormal() {
    Rng rng(3);
    std::vector<float> x(400'000);
    fill_normal(rng, 2, 0.5, x.data(), static_cast<int64_t>(x.size()));
    double sum = 0, squares = 0;
    int within = 0;
    for (const float v : x) sum += v, squares += (v - 2.0) * (v - 2.0), within += std::abs(v - 2) < 0.5;
    const auto n = static_cast<double>(x.size());
    QVERIFY(std::abs(sum / n - 2) < 0.004);
    QVERIFY(std::abs(squares / n - 0.25) < 0.003);
    QVERIFY(std::abs(within / n - 0.6827) < 0.004);
  }
};

QTEST_APPLESS_MAIN(NormalTest)
#include "normal_test.moc"
