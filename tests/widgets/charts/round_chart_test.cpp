// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/round_chart.h"

#include <QSignalSpy>
#include <QtTest>
#include <cmath>
#include <numeric>

using namespace tw;
using namespace tw::widgets;

namespace {

records::Round roundSaying(int64_t number, const char* task, const char* decision) {
  records::Round r;
  r.number = number, r.task_key = task, r.decision = decision;
  return r;
}

/// Two first rounds, then two that the scheduler weighed; one that says nothing.
const std::vector<records::Round> kTellingRounds = {
    roundSaying(1, "a", R"({"task":0,"why":"first"})"), roundSaying(2, "b", R"({"task":1,"why":"first"})"),
    roundSaying(3, "a",
                R"({"task":0,"gradients":[{"task":0,"backward_s":-1e-3,"forward_s":-2e-3,"gradient_s":-3e-3},{"task":1,"backward_s":0,"forward_s":0,"gradient_s":-1e-3}],)"
                R"("search":{"model":true,"chosen":{"sketch":2,"tile_size":6},"mutations":{"tile_size":{"tried":50,"legal":40}},)"
                R"("generations":[{"members":60,"new":55,"best":0.5,"median":0.25},{"members":500,"new":300,"best":0.75,"median":0.5}]}})"),
    roundSaying(4, "b", R"({"task":1,"gradients":[{"task":0,"gradient_s":0.5e-3},{"task":1,"gradient_s":-4e-3}]})"), roundSaying(5, "b", "cut off")};

}  // namespace

class RoundChartTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { QLocale::setDefault(QLocale::c()); }

  void gainsAreOfTasks() {
    const RoundStack s = round_stack(kTellingRounds, RoundTerms::gains);
    QCOMPARE(s.series, (std::vector<std::string>{"a", "b"}));
    QCOMPARE(s.columns.size(), size_t{2});
    QCOMPARE(s.columns[0].number, int64_t{3});
    QCOMPARE(s.columns[0].values, (std::vector<double>{3e-3, 1e-3}));
    QCOMPARE(s.columns[1].values, (std::vector<double>{0, 4e-3}));  // what would become slower saves nothing
    QCOMPARE(s.columns[0].details[0], std::string("past 1.00 ms, expected 2.00 ms"));
  }

  void searchesSayHowTheyBred() {
    const RoundStack chosen = round_stack(kTellingRounds, RoundTerms::chosen), mutations = round_stack(kTellingRounds, RoundTerms::mutations), population = round_stack(kTellingRounds, RoundTerms::population);
    QCOMPARE(chosen.series, (std::vector<std::string>{"sketch", "tile_size"}));
    QCOMPARE(chosen.columns[0].values, (std::vector<double>{2, 6}));
    QCOMPARE(mutations.columns[0].values, std::vector<double>{40});
    QCOMPARE(mutations.columns[0].details[0], std::string("of 50 tried"));
    QCOMPARE(population.columns[0].values, (std::vector<double>{55, 300}));
    QCOMPARE(population.columns[0].details[1], std::string("500 members, best score 0.75, median 0.5"));
  }

  /// Fits and orders are curves; a round without a fit has no point.
  void fitsAndOrdersAreCurves() {
    const std::vector<records::Round> rounds = {
        roundSaying(1, "a", R"({"task":0,"search":{"order":{"draft":0.25}}})"),
        roundSaying(2, "a", R"({"task":0,"search":{"fit":{"samples":32,"loss":0.5,"learning_rate":7e-4,"momentum":0.99},"order":{"draft":0.5,"model":0.75}}})"),
        roundSaying(3, "a", R"({"task":0,"search":{"fit":{"samples":40,"loss":0.25,"learning_rate":7e-4}}})")};
    const RoundStack fits = round_stack(rounds, RoundTerms::learning), orders = round_stack(rounds, RoundTerms::order);
    QCOMPARE(fits.series, (std::vector<std::string>{"loss", "learning_rate", "momentum"}));
    QCOMPARE(fits.columns.size(), size_t{2});
    QCOMPARE(fits.columns[0].values, (std::vector<double>{0.5, 7e-4, 0.99}));
    QVERIFY(std::isnan(fits.columns[1].values[2]));
    QCOMPARE(orders.series, (std::vector<std::string>{"draft", "model"}));
    QVERIFY(std::isnan(orders.columns[0].values[1]));
    RoundChart chart;
    chart.setStack(RoundTerms::learning, fits, {});
    chart.setSelectedRound(2);
    QVERIFY2(chart.summary().contains(QStringLiteral("momentum 0.99")) && chart.summary().contains(QStringLiteral("of 32 samples")), qPrintable(chart.summary()));
    QCOMPARE(chart.table().rows[1].last(), QString());
    chart.setStack(RoundTerms::order, orders, {});
    chart.setSelectedRound(1);
    QVERIFY2(chart.summary().contains(QStringLiteral("draft 0.25")) && !chart.summary().contains(QStringLiteral("nan")), qPrintable(chart.summary()));
  }

  /// The largest stay; what the others had is one series, and nothing is lost.
  void manySeriesAreAddedUp() {
    std::string gradients;
    for (int t = 0; t < 12; ++t) gradients += (t ? "," : "") + std::string(R"({"task":)") + std::to_string(t) + R"(,"gradient_s":-)" + std::to_string(t + 1) + "}";
    const RoundStack s = round_stack({roundSaying(1, "x", ("{\"gradients\":[" + gradients + "]}").c_str())}, RoundTerms::gains, 4);
    QCOMPARE(s.series, (std::vector<std::string>{"9", "10", "11", kOtherTerms}));
    QCOMPARE(s.columns[0].values, (std::vector<double>{10, 11, 12, 45}));
    QCOMPARE(round_stack({}, RoundTerms::gains).columns.size(), size_t{0});
  }

  void saysARoundInWords() {
    RoundChart chart;
    QVERIFY(chart.isEmpty());
    chart.setStack(RoundTerms::gains, round_stack(kTellingRounds, RoundTerms::gains), {{"a", QStringLiteral("T1")}, {"b", QStringLiteral("T2")}});
    QVERIFY(!chart.isEmpty());
    QVERIFY2(chart.summary().startsWith(QStringLiteral("Round 4, of T2: T2 4.00 ms")), qPrintable(chart.summary()));
    chart.setSelectedRound(3);
    QVERIFY2(chart.summary().contains(QStringLiteral("T1 3.00 ms (past 1.00 ms, expected 2.00 ms), T2 1.00 ms")), qPrintable(chart.summary()));
    const Table table = chart.table();
    QCOMPARE(table.columns, (QStringList{QStringLiteral("round"), QStringLiteral("task"), QStringLiteral("T1 [s]"), QStringLiteral("T2 [s]")}));
    QCOMPARE(table.rows[0], (QStringList{QStringLiteral("3"), QStringLiteral("T1"), QStringLiteral("0.003"), QStringLiteral("0.001")}));
  }

  void keysGoFromRoundToRound() {
    RoundChart chart;
    chart.setStack(RoundTerms::gains, round_stack(kTellingRounds, RoundTerms::gains), {});
    const QSignalSpy spy(&chart, &RoundChart::roundActivated);
    QTest::keyClick(&chart, Qt::Key_Left);
    QCOMPARE(spy.last()[0].toLongLong(), qint64{4});  // the last one where none is chosen
    chart.setSelectedRound(4);
    QTest::keyClick(&chart, Qt::Key_Left);
    QCOMPARE(spy.last()[0].toLongLong(), qint64{3});
    chart.setSelectedRound(3);
    QTest::keyClick(&chart, Qt::Key_Left);
    QCOMPARE(spy.last()[0].toLongLong(), qint64{3});
  }
};

QTEST_MAIN(RoundChartTest)
#include "round_chart_test.moc"
