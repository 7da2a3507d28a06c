// SPDX-License-Identifier: GPL-3.0-or-later
// The header of QCustomPlot uses the short keywords.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach

#include <QtTest>
#include <random>

#include "tests/widgets/colours_in.h"
#include "widgets/charts/curve_chart.h"
#include "widgets/charts/curve_data.h"
#include "widgets/theme/theme.h"

using namespace tw;
using namespace tw::widgets;

namespace {

void add(TrialStore& store, records::Status status, double seconds) {
  records::Record r;
  r.result.status = status;
  if (status == records::Status::ok) r.result.samples_s = {seconds}, r.result.sample_flags = {false};
  store.append(store.size() + 1, r);
}

TrialStorePtr randomStore(int count, unsigned seed) {
  auto store = std::make_shared<TrialStore>(1e9);
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < count; ++i) add(*store, unit(rng) < 0.1 ? records::Status::run_timeout : records::Status::ok, 0.001 + unit(rng));
  return store;
}

}  // namespace

class CurveTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void timesAreMarkedInAUnitThatSuitsThem() {
    for (const auto& [seconds, label] :
         {std::pair(3.5e-9, "Time [ns]"), std::pair(3.5e-5, "Time [µs]"), std::pair(0.02, "Time [ms]"), std::pair(7.0, "Time [s]")}) {
      auto store = std::make_shared<TrialStore>(0);  // without a number of operations there is no speed
      for (int i = 0; i < 20; ++i) add(*store, records::Status::ok, seconds * (1 + 0.1 * i));
      CurveChart chart;
      chart.setStore(store);
      QCOMPARE(chart.valueTitle(), QString::fromUtf8(label));
      QCOMPARE(chart.table().columns[3], QStringLiteral("Time [s]"));
    }
  }

  /// Elapsed time is a session's work: without its pauses, and without what lies between two sessions.
  void elapsedTimeLeavesOutPauses() {
    auto store = std::make_shared<TrialStore>(1e9, true);
    const auto at = [&](int64_t session, double timestamp, double paused) {
      db::TrialOutcome t;
      t.session = SessionId{session}, t.number = store->size() + 1, t.status = records::Status::ok, t.seconds = 1.0 / (store->size() + 1);
      t.timestamp_s = timestamp, t.paused_s = paused;
      store->append(t);
    };
    at(1, 1000, 0), at(1, 1010, 0), at(1, 5020, 4000);  // a pause of 4000 s
    at(2, 90'000, 0), at(2, 90'005, 0);
    at(2, 90'003, 0);  // logs of other programs need not be in order
    at(1, 90'100, 89'060);
    for (const auto& [row, seconds] : {std::pair(0, 0.0), std::pair(1, 10.0), std::pair(2, 20.0), std::pair(3, 20.0), std::pair(4, 25.0), std::pair(5, 25.0), std::pair(6, 45.0)})
      QCOMPARE(curveX(*store, row, CurveX::wall), seconds);
    QCOMPARE(curveRange(*store, CurveX::wall), std::pair(0.0, 45.0));
    QCOMPARE(reduceCurve(*store, CurveUnit::seconds, 100, CurveX::wall).trials.size(), size_t{7});
    const CurveData some = reduceCurve(*store, CurveUnit::seconds, 100, CurveX::wall, 15, 25);
    QCOMPARE(some.trials.size(), size_t{4});
    QCOMPARE(store->timestamp(2), 5020.0);  // when it was stays known
  }

  void aBandHoldsTheMiddleHalf() {
    std::vector<TrialStorePtr> searches;
    for (const double first : {1.0, 2.0, 4.0, 5.0, 3.0}) {
      auto store = std::make_shared<TrialStore>(1e9);
      for (const double seconds : {first, first / 2, 9.0}) add(*store, records::Status::ok, seconds);
      searches.push_back(store);
    }
    const QuartileBand band = bandOf(searches, CurveUnit::seconds, CurveX::trials, 4);
    QCOMPARE(band.x, (std::vector<double>{1, 1.5, 2, 2.5, 3}));
    QCOMPARE(band.low, (std::vector<double>{2, 2, 1, 1, 1}));
    QCOMPARE(band.middle, (std::vector<double>{3, 3, 1.5, 1.5, 1.5}));
    QCOMPARE(band.high, (std::vector<double>{4, 4, 2, 2, 2}));
    searches.push_back(std::make_shared<TrialStore>(1e9));  // one that has found nothing yet
    QVERIFY(bandOf(searches, CurveUnit::seconds, CurveX::trials).x.empty());
    searches.pop_back();
    CurveChart chart;
    chart.setOverlays({{QStringLiteral("random (5 seeds)"), nullptr, 0, searches}});
    const auto drawn = chart.table();
    QVERIFY(std::any_of(drawn.rows.begin(), drawn.rows.end(), [](const QStringList& row) { return row.contains(QStringLiteral("median")); }));
    chart.resize(400, 300);
    chart.grab();
    chart.setOverlays({});
    QVERIFY(chart.table().rows.empty());
  }

  void emptyStore() {
    const CurveData data = reduceCurve(TrialStore(1), CurveUnit::gflops, 100);
    QVERIFY(data.trials.empty() && data.best.empty() && data.failures.empty());
  }

  void smallStoresKeepEveryTrial() {
    const auto store = randomStore(500, 1);
    const CurveData data = reduceCurve(*store, CurveUnit::seconds, 2000);
    QCOMPARE(data.trials.size() + data.failures.size(), size_t{500});
    for (const CurvePoint& p : data.trials) QCOMPARE(p.y, store->seconds(p.row));
  }

  void bigStoresKeepExtremesAndOrder() {
    const auto store = randomStore(100'000, 2);
    const CurveData data = reduceCurve(*store, CurveUnit::gflops, 1000);
    QVERIFY(data.trials.size() <= 2000);
    double best = 0, worst = 1e18, keptBest = 0, keptWorst = 1e18;
    for (int row = 0; row < store->size(); ++row) {
      if (!store->ok(row)) continue;
      best = std::max(best, 1 / store->seconds(row)), worst = std::min(worst, 1 / store->seconds(row));
    }
    for (size_t i = 0; i < data.trials.size(); ++i) {
      keptBest = std::max(keptBest, data.trials[i].y), keptWorst = std::min(keptWorst, data.trials[i].y);
      if (i > 0) QVERIFY(data.trials[i].x > data.trials[i - 1].x);
    }
    QCOMPARE(keptBest, best);
    QCOMPARE(keptWorst, worst);
  }

  void bestOnlyImprovesAndEndsAtTheLastTrial() {
    const auto store = randomStore(1000, 3);
    const CurveData data = reduceCurve(*store, CurveUnit::gflops, 100);
    for (size_t i = 1; i < data.best.size(); ++i) QVERIFY(data.best[i].y >= data.best[i - 1].y);
    QCOMPARE(data.best.back().x, 1000.0);
    QVERIFY(data.best.size() < 30);  // only the changes, not a point per trial
  }

  void allFailed() {
    TrialStore store(1e9);
    for (int i = 0; i < 10; ++i) add(store, i % 2 == 0 ? records::Status::build_fail : records::Status::run_crash, 0);
    const CurveData data = reduceCurve(store, CurveUnit::gflops, 100);
    QVERIFY(data.trials.empty() && data.best.empty());
    QCOMPARE(data.failures.size(), size_t{10});
  }

  /// In a low chart the kinds of failures share a line, which tells of all of them.
  void failuresTakeLittleOfALowChart() {
    const auto store = std::make_shared<TrialStore>(1e9);
    for (int i = 0; i < 40; ++i) add(*store, i % 4 == 0 ? records::Status::ok : static_cast<records::Status>(i % 4 + 1), 0.5);
    CurveChart chart;
    chart.resize(600, 250);
    chart.setStore(store);
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart));
    auto* plot = chart.findChild<QCustomPlot*>();
    const QCPAxisRect* strip = plot->axisRect(1);
    const auto lanes = [&] { return static_cast<int>(strip->axis(QCPAxis::atLeft)->ticker().staticCast<QCPAxisTickerText>()->ticks().size()); };
    QTRY_COMPARE(lanes(), 1);
    QCOMPARE(strip->axis(QCPAxis::atLeft)->ticker().staticCast<QCPAxisTickerText>()->ticks().first(), QStringLiteral("failed (30)"));
    const int low = strip->maximumSize().height();
    chart.resize(600, 450);
    QTRY_COMPARE(lanes(), 3);
    QVERIFY(strip->maximumSize().height() > 2 * low);
    chart.resize(600, 250);
    QTRY_COMPARE(lanes(), 1);
  }

  void chartDrawsInBothThemes() {
    const auto store = randomStore(120, 4);
    for (const auto choice : {ThemeChoice::light, ThemeChoice::dark}) {
      applyTheme(choice);
      CurveChart chart;
      chart.resize(600, 320);
      chart.setStore(store);
      chart.setDefaultSeconds(0.5);
      chart.show();
      QVERIFY(QTest::qWaitForWindowExposed(&chart));
      const QImage image = chart.grab().toImage();
      QVERIFY(coloursIn(image) > 5);
      QCOMPARE(image.pixelColor(2, 2), themeOf(&chart).base);
      QVERIFY(chart.summary().contains(QStringLiteral("Best so far")));
    }
  }

  void arrowKeysWalkTheTrials() {
    CurveChart chart;
    chart.setStore(randomStore(10, 5));
    chart.setSelectedTrial(4);
    QSignalSpy activated(&chart, &CurveChart::trialActivated);
    QTest::keyClick(&chart, Qt::Key_Right);
    QCOMPARE(activated.count(), 1);
    QCOMPARE(activated[0][0].toLongLong(), 5);
  }
};

QTEST_MAIN(CurveTest)
#include "curve_data_test.moc"
