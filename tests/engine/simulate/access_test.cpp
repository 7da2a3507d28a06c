// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/access.h"

#include <QtTest>

using namespace tw::simulate;

/// Sectors and bank conflicts of patterns that can be counted by hand.
class AccessTest : public QObject {
  Q_OBJECT

  static WarpAccess strided(int64_t stride, int bytes, int64_t first = 0, uint32_t active = 0xffffffff) {
    WarpAccess a{.at = {}, .active = active, .bytes = bytes};
    for (size_t lane = 0; lane < a.at.size(); ++lane) a.at[lane] = first + static_cast<int64_t>(lane) * stride;
    return a;
  }

 private Q_SLOTS:
  void patterns_data() {
    QTest::addColumn<qlonglong>("stride");
    QTest::addColumn<int>("bytes");
    QTest::addColumn<int>("sectors");
    QTest::addColumn<int>("wavefronts");
    QTest::newRow("neighbouring floats") << 4ll << 4 << 4 << 1;
    QTest::newRow("neighbouring halves") << 2ll << 2 << 2 << 1;
    QTest::newRow("neighbouring doubles") << 8ll << 8 << 8 << 2;
    QTest::newRow("neighbouring vectors of four") << 16ll << 16 << 16 << 4;
    QTest::newRow("one for all") << 0ll << 4 << 1 << 1;
    QTest::newRow("every second float") << 8ll << 4 << 8 << 2;
    QTest::newRow("a column of 32 floats") << 128ll << 4 << 32 << 32;
    QTest::newRow("a column of rows with a gap") << 132ll << 4 << 32 << 1;
    QTest::newRow("columns of vectors with a gap of four floats") << 144ll << 16 << 32 << 4;
    QTest::newRow("backwards") << -4ll << 4 << 4 << 1;
  }
  void patterns() {
    QFETCH(qlonglong, stride);
    QFETCH(int, bytes);
    QFETCH(int, sectors);
    QFETCH(int, wavefronts);
    const WarpAccess a = strided(stride, bytes, stride < 0 ? -31 * stride : 0);
    QCOMPARE(tw::simulate::sectors(a), sectors);
    QCOMPARE(tw::simulate::wavefronts(a), wavefronts);
  }
  void sectorsHaveBoundaries() {
    QCOMPARE(sectors(strided(4, 4, 16)), 5);
    QCOMPARE(sectors(strided(4, 4, 32)), 4);
  }
  void onlyActiveThreadsCount() {
    QCOMPARE(sectors(strided(128, 4, 0, 0b101)), 2);
    QCOMPARE(wavefronts(strided(128, 4, 0, 0b101)), 2);
    QCOMPARE(sectors(strided(4, 4, 0, 0)), 0);
    QCOMPARE(wavefronts(strided(4, 4, 0, 0)), 0);
  }
};

QTEST_APPLESS_MAIN(AccessTest)
#include "access_test.moc"
