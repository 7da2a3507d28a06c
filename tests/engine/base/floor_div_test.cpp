// SPDX-License-Identifier: Apache-2.0
#include "engine/base/floor_div.h"

#include <QtTest>
#include <cmath>

using namespace tw;

class FloorDivTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void roundsDown() {
    for (int64_t a = -20; a <= 20; ++a)
      for (int64_t b = -6; b <= 6; ++b) {
        if (b == 0) continue;
        QCOMPARE(floor_div_int(a, b), static_cast<int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b))));
        QCOMPARE(floor_div_int(a, b) * b + floor_mod_int(a, b), a);
      }
  }
  void theQuotientWithoutRoomWraps() {
    QCOMPARE(floor_div_int(INT64_MIN, -1), INT64_MIN);
    QCOMPARE(floor_mod_int(INT64_MIN, -1), int64_t{0});
  }
};

QTEST_APPLESS_MAIN(FloorDivTest)
#include "floor_div_test.moc"
