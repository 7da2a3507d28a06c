// SPDX-License-Identifier: Apache-2.0
#include "engine/base/host_array.h"

#include <QtTest>
#include <cmath>

#include "engine/base/rng.h"

using namespace tw;

class HostArrayTest : public QObject {
  Q_OBJECT

  /// Nearest number of `bits` significant bits and smallest exponent `lowest`, ties to even, found by scaling to an integer: exact in double.
  static double rounded(double v, int bits, int lowest, double largest) {
    if (v == 0 || !std::isfinite(v)) return v;
    const int step = std::max(std::ilogb(v) - bits + 1, lowest - bits + 1);
    const double r = std::ldexp(std::nearbyint(std::ldexp(v, -step)), step);
    return std::abs(r) > largest ? std::copysign(INFINITY, v) : r;
  }

 private Q_SLOTS:
  void sixteenBitsAreRoundedOnce() {
    Rng rng(3);
    for (int k = 0; k < 200000; ++k) {
      double v = std::ldexp(static_cast<double>(2 * rng.range(1, 4096) + 1), static_cast<int>(rng.range(-30, 6)));
      v *= 1 + std::ldexp(static_cast<double>(rng.range(-2, 2)), -static_cast<int>(rng.range(20, 52)));
      if (rng.uniform(2)) v = -v;
      QCOMPARE(round_to(kFloat16, v), rounded(v, 11, -14, 65504));
      QCOMPARE(round_to(kBFloat16, v), rounded(v, 8, -126, 0x1.fep127));
    }
  }
  void extremes() {
    QVERIFY(std::isnan(round_to(kFloat16, NAN)) && std::isnan(round_to(kBFloat16, NAN)));
    QCOMPARE(round_to(kFloat16, 1e300), double(INFINITY));
    QCOMPARE(round_to(kFloat16, 65519.999999999), 65504.0);
    QCOMPARE(round_to(kFloat16, 65520.0), double(INFINITY));
    QCOMPARE(round_to(kFloat16, 0x1p-25), 0.0);
    QCOMPARE(round_to(kFloat16, 0x1.0000000001p-25), 0x1p-24);
    QVERIFY(std::signbit(round_to(kFloat16, -1e-300)));
    QCOMPARE(round_to(kBFloat16, -1e39), -double(INFINITY));
  }
};

QTEST_APPLESS_MAIN(HostArrayTest)
#include "host_array_test.moc"
