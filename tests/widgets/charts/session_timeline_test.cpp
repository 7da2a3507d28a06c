// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/session_timeline.h"

#include <QSignalSpy>
#include <QtTest>
#include <set>

#include "widgets/charts/timeline_chart.h"

using namespace tw;
using namespace tw::widgets;

class SessionTimelineTest : public QObject {
  Q_OBJECT

  static db::TrialOutcome trial(int64_t number, double end, double run, records::Status status = records::Status::ok) {
    db::TrialOutcome t;
    t.number = number, t.timestamp_s = end, t.run_s = run, t.load_s = 0.5, t.build_s = 1, t.status = status, t.seconds = 1e-3, t.verified = true;
    return t;
  }
  static records::Round round(int64_t number, const char* task, int64_t trials, double search, double build, double measure) {
    records::Round r;
    r.number = number, r.task_key = task, r.trials = trials, r.search_s = search, r.build_s = build, r.measure_s = measure;
    return r;
  }
  /// Two rounds of one task with one of another between them, finals and a pause: from second 1000 on.
  static SessionTimeline example() {
    const std::vector<TimelineTask> tasks = {{"a", QStringLiteral("T1"), {trial(1, 1006, 1), trial(2, 1008, 1, records::Status::run_crash), trial(3, 1040, 2)}},
                                             {"b", QStringLiteral("T2"), {trial(1, 1020, 1)}}};
    const std::vector<db::EventRow> events = {{1, {}, 1021, "paused", "waits"}, {2, {}, 1025, "resumed", "4 s"}, {3, {}, 1041, "finals", "T1"}, {4, {}, 1050, "settled", "T1"}};
    return timelineOf({round(1, "a", 2, 1, 3, 4), round(2, "b", 1, 2, 3, 100), round(3, "a", 1, 1, 2, 4)}, tasks, events);
  }

 private Q_SLOTS:
  void roundsLieWhereTheirTrialsSay() {
    const SessionTimeline t = example();
    QCOMPARE(t.begin_s, 1000.0);  // measuring ended at 1008, took 4 after 3 of building and 1 of searching
    QCOMPARE(t.length_s, 50.0);
    QCOMPARE(t.trials.size(), size_t{4});
    QCOMPARE(t.trials[1].begin_s, 6.5);
    QCOMPARE(t.trials[1].end_s, 8.0);
    QVERIFY(t.trials[1].status == records::Status::run_crash);
    QCOMPARE(t.trials[2].round, 2);
    QCOMPARE(t.trials[3].trial, size_t{2});  // the third of its task
    // What is said of a round never lies before the end of the one before.
    for (const TimelineSpan& s : t.spans) {
      if (s.round == 2) QVERIFY(s.begin_s >= 8 && s.end_s <= 20);
    }
    QCOMPARE(t.total_s[static_cast<size_t>(TimelineLane::pause)], 4.0);
    QCOMPARE(t.total_s[static_cast<size_t>(TimelineLane::finals)], 9.0);
    QCOMPARE(t.total_s[static_cast<size_t>(TimelineLane::measure)], 4.0 + 12.0 + 4.0);
    QVERIFY(timelineOf({}, {}, {}).spans.empty());
  }

  /// A candidate's stages in time, and what was extracted before, if anybody knows.
  void stagesOfACandidate() {
    db::TrialOutcome t = trial(1, 1010, 4);
    t.fill_s = 0.25, t.verify_s = 1;
    QVERIFY((stagesOf(t) == std::array<double, 4>{0.25, 0.5, 3, 1}));
    QVERIFY((stagesOf(trial(1, 1010, 4)) == std::array<double, 4>{0, 0.5, 4, 0}));
    const std::vector<TimelineTask> tasks = {{"a", QStringLiteral("T1"), {t}}};
    const std::vector<records::Round> rounds = {round(1, "a", 1, 1, 1, 6)};
    const SessionTimeline without = timelineOf(rounds, tasks, {}), with = timelineOf(rounds, tasks, {}, 2);
    QCOMPARE(without.trials[0].end_s - without.trials[0].begin_s, 4.75);
    QVERIFY(!without.has(TimelineLane::extract) && without.has(TimelineLane::pause));
    QVERIFY(with.has(TimelineLane::extract));
    QCOMPARE(with.total_s[static_cast<size_t>(TimelineLane::extract)], 2.0);
    QCOMPARE(with.length_s, without.length_s + 2);
    QCOMPARE(with.trials[0].begin_s, without.trials[0].begin_s + 2);
    TimelineChart chart;
    chart.resize(700, 200);
    chart.setTimeline(with);
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart));
    // Extracting lies in the highest of six lanes, measuring in the fourth.
    const auto at = [&](double share, int lane) { return QPointF(chart.width() * share, 2 + (chart.height() - chart.fontMetrics().height() - 8) * (lane + 0.5) / 6); };
    QVERIFY2(chart.describeAt(at(0.2, 0)).contains(QStringLiteral("Extract for 2.00 s")), qPrintable(chart.describeAt(at(0.2, 0))));
    const QString said = chart.describeAt(at(0.9, 3));
    QVERIFY2(said.contains(QStringLiteral("fill 250 ms, load 500 ms, verify 1.00 s, time 3.00 s")), qPrintable(said));
    chart.setTimeline(without);
    QVERIFY(chart.describeAt(at(0.2, 0)).contains(QStringLiteral("Search")) || chart.describeAt(at(0.2, 0)).isEmpty());
  }

  void whatIsNotOverIsOpen() {
    const SessionTimeline t = timelineOf({}, {}, {{1, {}, 10, "paused", "waits"}});
    QCOMPARE(t.spans.size(), size_t{1});
    QVERIFY(t.spans[0].open);
  }

  void outcomesAreExplained() {
    db::TrialOutcome t = trial(1, 1, 1);
    QVERIFY(outcomeText(t).contains(QStringLiteral("agrees with the reference")));
    t.flagged = 2;
    QVERIFY(outcomeText(t).contains(QStringLiteral("2 disturbed")));
    t.censored = true;
    QVERIFY(outcomeText(t).contains(QStringLiteral("stopped early")) && outcomeText(t).contains(QStringLiteral("1.00 ms")));
    t.status = records::Status::build_fail;
    t.message = "This tile needs 36 vector registers";
    QCOMPARE(outcomeText(t), QStringLiteral("This tile needs 36 vector registers"));
  }

  void theChartFindsWhatIsUnderThePointer() {
    TimelineChart chart;
    chart.resize(700, 200);
    chart.setTimeline(example());
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart));
    QImage picture = chart.grab().toImage();
    QCOMPARE(chart.table().rows.size(), chart.timeline().spans.size() + chart.timeline().trials.size());
    QSignalSpy chosen(&chart, &TimelineChart::roundActivated);
    QTest::keyClick(&chart, Qt::Key_Left);  // from nothing to the newest
    QCOMPARE(chosen.takeLast().at(0).toLongLong(), 3LL);
    chart.setRound(3);
    QTest::keyClick(&chart, Qt::Key_Left);
    QCOMPARE(chosen.takeLast().at(0).toLongLong(), 2LL);
    // Somewhere in each lane that is not empty stands what it is.
    std::set<QString> said;
    for (int y = 4; y < chart.height(); y += 6)
      for (int x = 0; x < chart.width(); x += 2) said.insert(chart.describeAt({static_cast<double>(x), static_cast<double>(y)}).section(QLatin1Char(' '), 0, 1));
    QVERIFY(said.contains(QStringLiteral("Round 1:")));
    QVERIFY2(said.size() >= 5, qPrintable(QStringList(said.begin(), said.end()).join(QLatin1Char('|'))));
    QTest::mouseClick(&chart, Qt::LeftButton, {}, {chart.width() - 3, 50});
    QCOMPARE(chosen.takeLast().at(0).toLongLong(), 3LL);
    // Zooming in shows another picture, F the first again.
    QTest::keyClick(&chart, Qt::Key_W);
    QVERIFY(chart.grab().toImage() != picture);
    QTest::keyClick(&chart, Qt::Key_F);
    QVERIFY(chart.grab().toImage().size() == picture.size());
  }
};

QTEST_MAIN(SessionTimelineTest)
#include "session_timeline_test.moc"
