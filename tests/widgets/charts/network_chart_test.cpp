// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/network_chart.h"

// The header of QCustomPlot uses the short keywords.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach

#include <QtTest>
#include <limits>

using namespace tw;
using namespace tw::widgets;

namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

records::Round roundAt(int64_t number, double network) {
  records::Round r;
  r.number = number, r.session_trials = 10 * number, r.elapsed_s = 3.0 * static_cast<double>(number), r.measured_s = static_cast<double>(number);
  r.network_s = network;
  return r;
}

const std::vector<records::Round> kRounds = {roundAt(1, kUnknown), roundAt(2, 0.010), roundAt(3, 0.010), roundAt(4, 0.006), roundAt(5, 0.006)};

}  // namespace

class NetworkChartTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { QLocale::setDefault(QLocale::c()); }

  void theCurveBeginsWhenEveryTaskHasATime() {
    const auto points = networkCurve(kRounds, NetworkX::trials);
    QCOMPARE(points.size(), size_t{3});  // two changes and the end
    QCOMPARE(points[0].x, 20.0);
    QCOMPARE(points[0].seconds, 0.010);
    QCOMPARE(points[1].x, 40.0);
    QCOMPARE(points[2].x, 50.0);
    QCOMPARE(points[2].seconds, 0.006);
    QCOMPARE(points[2].round, 4);
    QCOMPARE(networkCurve(kRounds, NetworkX::elapsed)[1].x, 12.0);
    QCOMPARE(networkCurve(kRounds, NetworkX::measured)[1].x, 4.0);
    QVERIFY(networkCurve({roundAt(1, kUnknown)}, NetworkX::trials).empty());
  }

  void theFirstRoundWithinATarget() {
    QCOMPARE(firstWithin(kRounds, 0.010)->number, int64_t{2});
    QCOMPARE(firstWithin(kRounds, 0.007)->number, int64_t{4});
    QVERIFY(!firstWithin(kRounds, 0.005));
  }

  void roundsAreAddedInOrder() {
    std::vector<records::Round> known = {roundAt(1, kUnknown), roundAt(3, 0.5)};
    putRounds(known, {roundAt(3, 0.4), roundAt(2, 0.6), roundAt(4, 0.3)});
    QCOMPARE(known.size(), size_t{4});
    for (size_t i = 0; i < known.size(); ++i) QCOMPARE(known[i].number, static_cast<int64_t>(i) + 1);
    QCOMPARE(known[2].network_s, 0.4);
  }

  void sessionsAndTheirTarget() {
    NetworkChart chart;
    QVERIFY(chart.isEmpty());
    chart.setLines({{QStringLiteral("1 random"), 0, true, kRounds}, {QStringLiteral("2 xgb"), 1, false, {roundAt(1, 0.008)}}});
    QVERIFY(!chart.isEmpty());
    QCOMPARE(chart.legend(0), QStringLiteral("1 random: 6.00 ms"));
    chart.setLines({{QStringLiteral("3 ansor"), 2, true, {roundAt(1, kUnknown)}}});
    QCOMPARE(chart.legend(0), QStringLiteral("3 ansor"));  // nothing known, nothing said
    chart.setLines({{QStringLiteral("1 random"), 0, true, kRounds}, {QStringLiteral("2 xgb"), 1, false, {roundAt(1, 0.008)}}});
    chart.setTarget(0.007);
    QCOMPARE(chart.legend(0), QStringLiteral("1 random: 6.00 ms, target after 40 trials"));
    QCOMPARE(chart.legend(1), QStringLiteral("2 xgb: 8.00 ms, target not reached"));
    chart.setX(NetworkX::elapsed);
    QCOMPARE(chart.legend(0), QStringLiteral("1 random: 6.00 ms, target after 12.0 s of the session"));
    // Of the first round nothing is said: the default schedules' times may be known better by now.
    QCOMPARE(chart.summary(), QStringLiteral("1 random: estimated 6.00 ms after 50 trials"));
    chart.setLines({{QStringLiteral("1 random"), 0, true, kRounds, 0.008}});
    QCOMPARE(chart.summary(), QStringLiteral("1 random: estimated 6.00 ms after 50 trials, 25.0 % less than 8.00 ms by the default schedules"));
    chart.setLines({{QStringLiteral("1 random"), 0, true, kRounds, 0.005}});
    QCOMPARE(chart.summary(), QStringLiteral("1 random: estimated 6.00 ms after 50 trials, not less than 5.00 ms by the default schedules"));
    chart.setLines({{QStringLiteral("1 random"), 0, true, kRounds}, {QStringLiteral("2 xgb"), 1, false, {roundAt(1, 0.008)}}});
    const Table table = chart.table();
    QCOMPARE(table.rows.size(), size_t{6});
    QCOMPARE(table.rows[0], (QStringList{QStringLiteral("1 random"), QStringLiteral("1"), QStringLiteral("10"), QStringLiteral("3"), QStringLiteral("1"), QString()}));
    QCOMPARE(table.rows[3].back(), QStringLiteral("0.006"));
  }

  /// Long names go below each other where there is no room, and no wider chart is asked for.
  void legendsWrap() {
    NetworkChart chart;
    std::vector<NetworkChart::Line> lines;
    for (int i = 0; i < 7; ++i) lines.push_back({QStringLiteral("%1 a tuner of a long name, seed 1").arg(i), i, i == 0, kRounds});
    chart.setTarget(0.007);
    for (const int width : {300, 900, 2400, 300}) {
      chart.resize(width, 400);
      chart.setLines(lines);
      QVERIFY(chart.minimumSizeHint().width() <= 300);
      QVERIFY(!chart.grab().isNull());
      lines.pop_back();
    }
  }

  /// What is said of lines takes no more than the lines themselves.
  void aLowChartLeavesRoomForItsLines() {
    NetworkChart chart;
    std::vector<NetworkChart::Line> lines;
    for (int i = 0; i < 4; ++i) lines.push_back({QStringLiteral("%1 random, seed 1").arg(i), i, i == 0, kRounds});
    chart.setTarget(0.007);
    auto* plot = chart.findChild<QCustomPlot*>();
    for (const int height : {270, 500}) {
      chart.resize(520, height);
      chart.setLines(lines);
      chart.grab();
      chart.grab();  // the legend is arranged before it is drawn, the rest around it with the next
      QVERIFY2(plot->axisRect()->height() >= height / 2, qPrintable(QString::number(plot->axisRect()->height())));
      QCOMPARE(plot->legend->hasItemWithPlottable(plot->graph(2)), true);
      QCOMPARE(plot->graph(2)->name(), height > 400 ? chart.legend(0) : lines[0].name);
    }
  }

  void keysGoThroughTheRounds() {
    NetworkChart chart;
    chart.setLines({{QStringLiteral("1 random"), 0, true, kRounds}});
    QSignalSpy chosen(&chart, &NetworkChart::roundActivated);
    QTest::keyClick(&chart, Qt::Key_Right);
    QCOMPARE(chosen.last()[0].toLongLong(), 5);  // the newest first
    chart.setSelectedRound(5);
    QTest::keyClick(&chart, Qt::Key_Left);
    QCOMPARE(chosen.last()[0].toLongLong(), 4);
  }
};

QTEST_MAIN(NetworkChartTest)
#include "network_chart_test.moc"
