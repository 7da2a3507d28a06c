// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/score_data.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QtTest>

#include "widgets/charts/score_chart.h"
#include "widgets/common/format.h"
#include "widgets/records/score_model.h"

using namespace tw;
using namespace tw::widgets;

class ScoreDataTest : public QObject {
  Q_OBJECT

  static records::Round round(int64_t number, const char* task, int64_t trials, const char* decision) {
    records::Round r;
    r.number = number, r.task_key = task, r.trials = r.planned = trials, r.decision = decision;
    return r;
  }
  static void add(TrialStore& store, int64_t session, int64_t number, double seconds, std::optional<double> score) {
    db::TrialOutcome t;
    t.session = SessionId{session}, t.number = number, t.index = number, t.space = "s";
    t.status = seconds > 0 ? records::Status::ok : records::Status::run_crash;
    t.seconds = seconds > 0 ? seconds : std::numeric_limits<double>::infinity();
    if (score) t.prediction = records::Prediction{*score, 8, "mlp"};
    store.append(t);
  }
  /// Round 1 is the default schedule, 2 another task's, 3 and 4 are scored; trials of session 2 lie among those of session 1.
  static std::vector<records::Round> rounds() {
    return {round(1, "a", 1, "{}"), round(2, "b", 2, R"({"search":{"drafts":[9,9]}})"), round(3, "a", 2, R"({"search":{"drafts":[1.5,null]}})"),
            round(4, "a", 2, R"({"search":{"drafts":[2.5,3.5]}})")};
  }
  static TrialStore store() {
    TrialStore s(2e9, true);
    add(s, 1, 1, 1, {});
    add(s, 2, 1, 1, 7.0);
    add(s, 1, 2, 0.5, 0.25);
    add(s, 1, 3, 0.25, {});
    add(s, 1, 4, 0.2, 0.5);
    add(s, 2, 2, 1, 7.0);
    add(s, 1, 5, 0, 0.75);
    return s;
  }

 private Q_SLOTS:
  void initTestCase() { QLocale::setDefault(QLocale::c()); }

  void scoresMeetTheirTrials() {
    const auto trials = scored_trials(rounds(), "a", SessionId{1}, store());
    QCOMPARE(trials.size(), size_t{3});  // the default has none, nor has the one without loops and without a model
    QVERIFY(trials[0].of_session == 2 && trials[0].number == 3 && trials[0].round == 3);
    QVERIFY(trials[0].draft == 1.5 && trials[0].score == 0.25 && trials[0].seconds == 0.5);
    QVERIFY(trials[1].of_session == 4 && trials[1].draft == 2.5);
    QVERIFY(trials[2].failed && trials[2].draft == 3.5 && std::isinf(trials[2].seconds));
    QVERIFY(scored_trials(rounds(), "c", SessionId{1}, store()).empty());
    // Rounds of programs that kept no drafts, or kept nonsense.
    for (const char* odd : {"", "[]", "{\"search\":3}", "{\"search\":{\"drafts\":{}}}", "{\"search\":{\"drafts\":[\"x\"]}}"}) {
      const auto one = scored_trials({round(1, "a", 1, odd), round(2, "a", 1, odd)}, "a", SessionId{1}, store());
      QCOMPARE(one.size(), size_t{1});
      QVERIFY(std::isnan(one[0].draft));
    }
  }

  void theTableKeepsItsRowsWhileTrialsCome() {
    ScoreModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const auto all = scored_trials(rounds(), "a", SessionId{1}, store());
    model.setTrials({all[0]});
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    model.setTrials(all);
    QCOMPARE(reset.count(), 0);
    QCOMPARE(model.rowCount(), 3);
    const auto shown = [&](int row, int column) { return model.index(row, column).data().toString(); };
    QCOMPARE(shown(0, ScoreModel::Time), QStringLiteral("failed"));
    QCOMPARE(shown(2, ScoreModel::Draft), numberText(1.5, 4));
    QCOMPARE(shown(2, ScoreModel::Time), secondsText(0.5));
    QCOMPARE(model.rowOf(all[0].number), 2);
    QCOMPARE(model.rowOf(999), -1);
    model.setTrials({});
    QCOMPARE(reset.count(), 1);
  }

  void theChartSaysHowWellScoresOrder() {
    ScoreChart chart;
    chart.resize(700, 300);
    QVERIFY(chart.isEmpty() && !chart.summary().isEmpty());
    const auto all = scored_trials(rounds(), "a", SessionId{1}, store());
    chart.setTrials(all, 2e9);
    // Three drafts: the two that ran are in order, and the highest failed.
    QVERIFY2(chart.summary().contains(QStringLiteral("drafts %1").arg(numberText(-0.5, 2))), qPrintable(chart.summary()));
    QCOMPARE(chart.table().rows.size(), size_t{3});
    QCOMPARE(chart.table().rows[0][5].toDouble(), 4.0);  // GFLOP/s
    QCOMPARE(chart.table().rows[2][5], QString());
    QSignalSpy activated(&chart, &ScoreChart::trialActivated);
    QTest::keyClick(&chart, Qt::Key_Right);
    QCOMPARE(activated.back()[0].toLongLong(), all[0].number);
    chart.setSelectedTrial(all[0].number);
    QTest::keyClick(&chart, Qt::Key_Right);
    QCOMPARE(activated.back()[0].toLongLong(), all[1].number);
    chart.grab();
  }
};

QTEST_MAIN(ScoreDataTest)
#include "score_data_test.moc"
