// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/comparison.h"

#include <QAbstractItemModelTester>
#include <QtTest>
#include <cmath>

#include "engine/base/json.h"

using namespace tw;
using namespace tw::widgets;

namespace {

ComparedSession session(int id, const char* tuner, int seed, double best, int batch = 16) {
  ComparedSession s;
  s.name = QString::number(id);
  s.row.id = SessionId{id};
  s.row.tuner = tuner;
  s.row.options = {{"seed", seed}, {"batch", batch}};
  s.row.host = {{"cores", 2}};
  s.best[1] = best;
  return s;
}

const std::vector<std::pair<int64_t, QString>> kTasks = {{1, QStringLiteral("T1")}, {2, QStringLiteral("T2")}};

}  // namespace

class ComparisonTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void sessionsThatDifferInTheirSeedAreOneGroup() {
    const auto groups = groupSessions({session(1, "random", 1, 1), session(2, "xgb", 1, 1), session(3, "random", 2, 1), session(4, "random", 1, 1, 8)});
    QCOMPARE(groups.size(), size_t{3});
    QCOMPARE(groups[0].sessions, (std::vector<int>{0, 2}));
    QCOMPARE(groups[2].sessions, (std::vector<int>{3}));
    QVERIFY(groups[0].name != groups[2].name);
  }

  void enoughSessionsGiveAVerdict() {
    std::vector<ComparedSession> sessions;
    for (int i = 0; i < 6; ++i) {
      sessions.push_back(session(2 * i, "random", i, 2e-3 + 1e-5 * i));
      sessions.push_back(session(2 * i + 1, "xgb", i, 1e-3 + 1e-5 * i));
    }
    const auto all = verdicts(sessions, kTasks);
    QCOMPARE(all.size(), size_t{1});  // nobody tried T2
    QVERIFY(all[0].decided);
    QCOMPARE(all[0].p, 2.0 / 924.0);  // 924 = 12 over 6
    QCOMPARE(all[0].a12, 0.0);        // random, the first group, never ends faster
    const QString text = verdictText(all[0]);
    QVERIFY2(text.contains(QStringLiteral("xgb ends faster than random")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("A12 = 1.00")), qPrintable(text));
  }

  void equalTunersShowNoDifference() {
    std::vector<ComparedSession> sessions;
    for (int i = 0; i < 6; ++i) sessions.push_back(session(2 * i, "a", i, 1e-3 + 2e-5 * i)), sessions.push_back(session(2 * i + 1, "b", i, 1.01e-3 + 2e-5 * i));
    QVERIFY(verdictText(verdicts(sessions, kTasks)[0]).contains(QStringLiteral("no evidence")));
  }

  void fewSessionsGiveNone() {
    const auto all = verdicts({session(1, "random", 1, 2e-3), session(2, "xgb", 1, 1e-3)}, kTasks);
    QCOMPARE(all.size(), size_t{1});
    QVERIFY(!all[0].decided);
    const QString text = verdictText(all[0]);
    QVERIFY2(text.contains(QStringLiteral("needs 5 sessions")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("2.00")), qPrintable(text));
  }

  void tablesOfTimesAndConfigurations() {
    std::vector<ComparedSession> sessions = {session(1, "random", 1, 2e-3), session(2, "xgb", 1, 1e-3, 8)};
    sessions[1].best[2] = HUGE_VAL;
    const auto times = bestTimes(sessions, kTasks);
    QCOMPARE(times.size(), size_t{2});
    QCOMPARE(times[0].best, 1);
    QCOMPARE(times[1].best, -1);  // tried without success
    const auto rows = configurations(sessions);
    QVERIFY(rows.size() >= 5);
    bool same = false;
    for (const SideBySideRow& row : rows) {
      const bool differs = row.values[0] != row.values[1];
      QVERIFY2(!same || !differs, qPrintable(row.name));  // those that differ come first
      same = same || !differs;
      if (row.name == QStringLiteral("batch")) QVERIFY(differs);
    }
    SideBySideModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.set(QStringLiteral("x"), {QStringLiteral("1"), QStringLiteral("2")}, rows);
    QCOMPARE(model.rowCount(), static_cast<int>(rows.size()));
  }

  void theAnswerIsOneSentence() {
    std::vector<ComparedSession> sessions;
    for (int i = 0; i < 6; ++i) {
      sessions.push_back(session(2 * i, "random", i, 2e-3 + 1e-5 * i));
      sessions.push_back(session(2 * i + 1, "xgb", i, 1e-3 + 1e-5 * i));
    }
    QString text = winnerText(sessions, kTasks);
    QVERIFY2(text.startsWith(QStringLiteral("xgb is ahead on T1")) && text.contains(QStringLiteral("surely")), qPrintable(text));
    // Sessions of one race are one group whatever it is called.
    for (ComparedSession& s : sessions) s.row.options["race"] = s.name.toStdString();
    QCOMPARE(groupSessions(sessions).size(), size_t{2});
    sessions.resize(4);
    text = winnerText(sessions, kTasks);
    QVERIFY2(text.contains(QStringLiteral("needs 5 sessions")), qPrintable(text));
    QVERIFY(winnerText({sessions[0]}, kTasks).isEmpty());
    QCOMPARE(groupRows(sessions, 1)[0].name, QStringLiteral("xgb"));
  }
};

QTEST_MAIN(ComparisonTest)
#include "comparison_test.moc"
