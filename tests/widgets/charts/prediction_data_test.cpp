// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include "widgets/charts/prediction_chart.h"
#include "widgets/theme/theme.h"

using namespace tw;
using namespace tw::widgets;

class PredictionTest : public QObject {
  Q_OBJECT

  /// A trial with a score; `seconds` 0: it failed.
  static void add(TrialStore& store, std::optional<records::Prediction> prediction, double seconds, const char* space = "conv") {
    db::TrialOutcome t;
    t.number = store.size() + 1;
    t.space = space;
    t.index = t.number;
    t.status = seconds > 0 ? records::Status::ok : records::Status::run_crash;
    t.seconds = seconds > 0 ? seconds : std::numeric_limits<double>::infinity();
    t.prediction = prediction;
    store.append(t);
  }

  /// Four trials without a model, eight of a model that knows nothing, eight of one that knows all, of which one fails.
  static TrialStore session() {
    TrialStore store(2e9);
    for (int i = 0; i < 4; ++i) add(store, {}, 1);
    const double blind[] = {3, 1, 4, 2, 2, 4, 1, 3};
    for (int i = 0; i < 8; ++i) add(store, records::Prediction{blind[i], 4}, 1.0 / (i + 1));
    for (int i = 0; i < 8; ++i) add(store, records::Prediction{10.0 + i, 12}, 1.0 / (i * i + 1));
    add(store, records::Prediction{99, 12}, 0);
    return store;
  }

 private Q_SLOTS:
  void modelsAreToldApartAndJudged() {
    const auto rounds = predictionRounds(session());
    QCOMPARE(rounds.size(), size_t{2});
    QCOMPARE(rounds[0].learned, 4);
    QCOMPARE(rounds[0].points.size(), size_t{8});
    QCOMPARE(rounds[0].points[0].number, 5);
    QVERIFY(std::abs(rounds[0].spearman) < 1e-12 && std::abs(rounds[0].kendall) < 1e-12);
    QCOMPARE(rounds[0].top, 2);
    QCOMPARE(rounds[0].recall, 0.0);  // said trials 3 and 6, fastest are 7 and 8
    QCOMPARE(rounds[1].failed, 1);
    QCOMPARE(rounds[1].spearman, 1.0);
    QCOMPARE(rounds[1].kendall, 1.0);
    QCOMPARE(rounds[1].recall, 1.0);
  }

  void spacesHaveModelsOfTheirOwn() {
    TrialStore store(1e9);
    for (int i = 0; i < 6; ++i) add(store, records::Prediction{1.0 * i, 8}, 1.0 / (i + 1), i % 2 ? "winograd" : "direct");
    const auto rounds = predictionRounds(store);
    QCOMPARE(rounds.size(), size_t{2});
    QCOMPARE(QString::fromStdString(store.text(rounds[1].space)), QStringLiteral("winograd"));
    QCOMPARE(rounds[0].points.size(), size_t{3});
    QVERIFY(predictionRounds(TrialStore()).empty());
  }

  void chartShowsOneModelAndGoesToTrials() {
    applyTheme(ThemeChoice::light);
    const TrialStore store = session();
    PredictionChart chart;
    chart.resize(700, 300);
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart));
    chart.setRounds(predictionRounds(store), {{0, QStringLiteral("conv")}}, store.flops());
    QCOMPARE(chart.round(), 1);
    QVERIFY2(chart.summary().contains(QStringLiteral("after 12 trials, 8 chosen: Spearman 1")), qPrintable(chart.summary()));
    QVERIFY(chart.summary().contains(QStringLiteral("2 of the fastest 2 found, 1 failed")));
    QSignalSpy chosen(&chart, &PredictionChart::roundChosen);
    QTest::keyClick(&chart, Qt::Key_Left);
    QCOMPARE(chart.round(), 0);
    QTest::keyClick(&chart, Qt::Key_Left);  // there is none before
    QCOMPARE(chosen.count(), 1);
    chart.setRounds(predictionRounds(store), {{0, QStringLiteral("conv")}}, store.flops());
    QCOMPARE(chart.round(), 0);  // it was chosen
    QCOMPARE(chart.table().rows.size(), size_t{16});
    // Some place of the scatter is a trial.
    QSignalSpy trial(&chart, &PredictionChart::trialActivated);
    QWidget* scatter = chart.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly).first();
    for (int y = 20; y < scatter->height() && trial.isEmpty(); y += 8) {
      for (int x = 20; x < scatter->width() && trial.isEmpty(); x += 8) QTest::mouseClick(scatter, Qt::LeftButton, {}, QPoint(x, y));
    }
    QCOMPARE(trial.count(), 1);
    QVERIFY(trial[0][0].toLongLong() >= 5 && trial[0][0].toLongLong() <= 12);
    chart.setRounds({}, {}, 0);
    QVERIFY(chart.isEmpty());
    chart.grab();
    QCOMPARE(chart.table().rows.size(), size_t{0});
  }
};

QTEST_MAIN(PredictionTest)
#include "prediction_data_test.moc"
