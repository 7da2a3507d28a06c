// SPDX-License-Identifier: Apache-2.0
#include "engine/base/winograd.h"

#include <QtTest>
#include <cmath>

#include "engine/base/rng.h"

using namespace tw;

class WinogradTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// The three matrices together compute a filter's outputs.
  void equalsDirectFiltering() {
    int sizes = 0;
    for (int64_t m = 1; m <= 9; ++m)
      for (int64_t r = 1; r <= 9; ++r) {
        QCOMPARE(winograd_exists(m, r), m >= 2 && r >= 2 && m + r <= 9);
        if (!winograd_exists(m, r)) continue;
        ++sizes;
        const Winograd w = winograd(m, r);
        const auto n = static_cast<size_t>(m + r - 1);
        Rng rng(static_cast<uint64_t>(m * 16 + r));
        std::vector<double> x(n), taps(static_cast<size_t>(r)), points(n, 0);
        for (double& v : x) v = rng.uniform_real();
        for (double& v : taps) v = rng.uniform_real();
        for (size_t i = 0; i < n; ++i) {
          double a = 0, b = 0;
          for (size_t k = 0; k < taps.size(); ++k) a += w.g[i][k] * taps[k];
          for (size_t k = 0; k < n; ++k) b += w.bt[i][k] * x[k];
          points[i] = a * b;
        }
        for (size_t y = 0; y < static_cast<size_t>(m); ++y) {
          double got = 0, want = 0;
          for (size_t i = 0; i < n; ++i) got += w.at[y][i] * points[i];
          for (size_t k = 0; k < taps.size(); ++k) want += taps[k] * x[y + k];
          QVERIFY2(std::abs(got - want) < 1e-9, qPrintable(QString("F(%1, %2): %3, expected %4").arg(m).arg(r).arg(got).arg(want)));
        }
      }
    QCOMPARE(sizes, 21);
  }
};

QTEST_APPLESS_MAIN(WinogradTest)
#include "winograd_test.moc"
