// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/arena_chart.h"

#include <QSignalSpy>
#include <QtTest>

using namespace tw::widgets;

class ArenaChartTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void buffersSayWhoMadeThemAndWhoSharesTheirPlace() {
    ArenaChart chart;
    QCOMPARE(chart.summary(), QStringLiteral("No intermediates"));
    chart.setPlan({{QStringLiteral("late"), 0, 100, 2, 2}, {QStringLiteral("early"), 0, 100, 0, 1}, {QStringLiteral("beside"), 100, 50, 1, 2}},
                  {QStringLiteral("conv"), QStringLiteral("relu"), QStringLiteral("dense")}, 150, 150, 250);
    QCOMPARE(chart.buffers().front().name, QStringLiteral("early"));  // by first call
    QVERIFY2(chart.describe(0).contains(QStringLiteral("made by conv, read last by relu")), qPrintable(chart.describe(0)));
    QVERIFY(chart.describe(0).endsWith(QStringLiteral("shares its place with late")));
    QVERIFY(!chart.describe(1).contains(QStringLiteral("shares")));
    QVERIFY(chart.summary().startsWith(QStringLiteral("3 intermediates")));
    QCOMPARE(chart.table().rows.size(), size_t{3});
    QCOMPARE(chart.table().rows[2], (QStringList{QStringLiteral("late"), QStringLiteral("0"), QStringLiteral("100"), QStringLiteral("dense"), QStringLiteral("dense")}));
  }

  void clicksAndKeysChoose() {
    ArenaChart chart;
    chart.resize(500, 300);
    chart.setPlan({{QStringLiteral("a"), 0, 100, 0, 1}, {QStringLiteral("b"), 100, 100, 1, 3}}, {QStringLiteral("w"), QStringLiteral("x"), QStringLiteral("y"), QStringLiteral("z")}, 200,
                  200, 200);
    QSignalSpy chosen(&chart, &ArenaChart::callChosen);
    QTest::keyClick(&chart, Qt::Key_Right);
    QTest::keyClick(&chart, Qt::Key_Right);
    QTest::keyClick(&chart, Qt::Key_Right);  // stays at the last
    QCOMPARE(chart.current(), 1);
    QCOMPARE(chosen.last()[0].toInt(), 1);
    QTest::mouseClick(&chart, Qt::LeftButton, Qt::NoModifier, QPoint(130, 220));  // lower left: the first
    QCOMPARE(chart.current(), 0);
    // What is selected elsewhere is shown and not told again; of several buffers of one call that which was chosen stays.
    const auto told = chosen.count();
    chart.showCalls({3, 1});
    QCOMPARE(chart.current(), 1);
    chart.showCalls({1});
    QCOMPARE(chart.current(), 1);
    chart.showCalls({2});
    QCOMPARE(chart.current(), -1);
    QCOMPARE(chosen.count(), told);
  }
};

QTEST_MAIN(ArenaChartTest)
#include "arena_chart_test.moc"
