// SPDX-License-Identifier: Apache-2.0
#include "engine/base/curve_band.h"

#include <QtTest>

using namespace tw;

class CurveBandTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void stepsOfSeveralCurvesAsOne() {
    // From 2 on, where the last of them begins, to 6, where the last of them ends.
    const std::vector<StepCurve> curves = {{{1, 8}, {4, 4}, {6, 4}}, {{2, 6}, {5, 1}}, {{1, 7}}};
    const QuartileBand band = band_of(curves, 4);
    QCOMPARE(band.x, (std::vector<double>{2, 3, 4, 5, 6}));
    QCOMPARE(band.middle, (std::vector<double>{7, 7, 6, 4, 4}));
    QCOMPARE(band.low, (std::vector<double>{6.5, 6.5, 5, 2.5, 2.5}));
    QCOMPARE(band.high, (std::vector<double>{7.5, 7.5, 6.5, 5.5, 5.5}));
  }

  void nothingToShow() {
    QVERIFY(band_of({}).x.empty());
    QVERIFY(band_of(std::vector<StepCurve>{{{1, 1}}, {}}).x.empty());
  }
};

QTEST_APPLESS_MAIN(CurveBandTest)
#include "curve_band_test.moc"
