// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/session_model.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QtTest>
#include <cmath>

#include "engine/base/json.h"
#include "widgets/records/tuner_rows.h"

using namespace tw;
using namespace tw::widgets;

class SessionModelTest : public QObject {
  Q_OBJECT

  static db::SessionRow row(int id, const char* tuner, int seed, const char* race = "", const char* group = "") {
    db::SessionRow s;
    s.id = SessionId{id}, s.tuner = tuner, s.options = {{"seed", seed}}, s.state = "done", s.trials = 10 * id, s.group = group;
    if (*race) s.options["race"] = race;
    return s;
  }
  static QString text(const SessionModel& m, const QModelIndex& at, SessionModel::Column column) { return m.data(at.siblingAtColumn(column)).toString(); }

  static TrialStorePtr store(const std::vector<double>& seconds) {
    auto s = std::make_shared<TrialStore>(1e6);
    for (size_t i = 0; i < seconds.size(); ++i) {
      db::TrialOutcome t;
      t.number = static_cast<int64_t>(i) + 1, t.index = static_cast<int64_t>(i), t.space = "s";
      t.status = std::isfinite(seconds[i]) ? records::Status::ok : records::Status::build_fail;
      t.seconds = seconds[i], t.verified = true, t.build_s = 1, t.run_s = 0.5, t.timestamp_s = 100 + 10 * static_cast<double>(i);
      s->append(t);
    }
    return s;
  }

 private Q_SLOTS:
  /// What it took to come to a speed is work: a pause is none.
  void curvesOfTunersLeaveOutPauses() {
    auto store = std::make_shared<TrialStore>(1e9);
    for (const auto& [timestamp, paused, seconds] : {std::tuple(1000.0, 0.0, 4e-3), std::tuple(4020.0, 3000.0, 2e-3)}) {
      db::TrialOutcome t;
      t.number = store->size() + 1, t.status = records::Status::ok, t.seconds = seconds, t.timestamp_s = timestamp, t.paused_s = paused;
      store->append(t);
    }
    const db::SessionCurve curve = curveOf(store);
    QCOMPARE(curve.steps.size(), size_t{2});
    QCOMPARE(curve.steps[1].elapsed_s, 20.0);
  }

  void racesAndGroupsStandTogether() {
    SessionModel m;
    QAbstractItemModelTester tester(&m, QAbstractItemModelTester::FailureReportingMode::QtTest);
    m.setSessions({row(1, "random", 1), row(2, "random", 1, "noon"), row(3, "xgb", 1, "noon"), row(4, "random", 2, "noon"), row(5, "xgb", 2, "noon"), row(6, "grid", 1, "", "paper")}, {});
    QCOMPARE(m.rowCount(), 3);  // a group, a race, a session: the newest first
    const QModelIndex group = m.index(0, 0), race = m.index(1, 0), alone = m.index(2, 0);
    QCOMPARE(group.data().toString(), QStringLiteral("paper"));
    QVERIFY(race.data().toString().contains(QStringLiteral("noon")));
    QCOMPARE(m.session(alone)->id, SessionId{1});
    QCOMPARE(m.rowCount(race), 2);  // its tuners
    const QModelIndex xgb = m.index(0, 0, race);
    QCOMPARE(xgb.data().toString(), QStringLiteral("xgb"));
    QCOMPARE(m.rowCount(xgb), 2);
    QCOMPARE(m.sessionsUnder(race).size(), size_t{4});
    QCOMPARE(text(m, race, SessionModel::Trials), QStringLiteral("140"));
    QVERIFY(text(m, race, SessionModel::Tuner).startsWith(QStringLiteral("2 tuner")));
    QVERIFY(!m.groupPath(xgb).isEmpty() && m.groupPath(xgb) != m.groupPath(race));
    QCOMPARE(m.indexOf(SessionId{5}).parent(), xgb);

    m.setFacts({{3, {QStringLiteral("T1"), 2e-3, false}}, {5, {QStringLiteral("T1"), 4e-3, false}}, {2, {QStringLiteral("T1"), 8e-3, false}}, {4, {QStringLiteral("T1"), 9e-3, false}}});
    QCOMPARE(text(m, race, SessionModel::Best), QStringLiteral("2.00 ms"));
    QVERIFY2(text(m, m.index(0, 0, race), SessionModel::Best).contains(QStringLiteral("3.00 ms")), "the median of its sessions");
    QCOMPARE(text(m, m.indexOf(SessionId{5}), SessionModel::Seed), QStringLiteral("2"));
    // By the best time: what has none stands at the end.
    m.sort(SessionModel::Best, Qt::AscendingOrder);
    QVERIFY(m.index(0, 0).data().toString().contains(QStringLiteral("noon")));
    m.setLive(SessionId{4}, 99, 1e-3);
    QCOMPARE(text(m, m.indexOf(SessionId{4}), SessionModel::Trials), QStringLiteral("99"));
    QCOMPARE(text(m, m.indexOf(SessionId{4}).parent().parent(), SessionModel::Best), QStringLiteral("1.00 ms"));
  }

  void aTickOnARaceMeansAllOfIt() {
    SessionModel m;
    m.setSessions({row(1, "random", 1, "r"), row(2, "xgb", 1, "r"), row(3, "random", 1)}, {});
    QSignalSpy toggled(&m, &SessionModel::compareToggled);
    const QModelIndex race = m.index(1, 0);
    QVERIFY(m.setData(race, Qt::Checked, Qt::CheckStateRole));
    QCOMPARE(toggled.at(0).at(0).value<std::vector<SessionId>>().size(), size_t{2});
    m.setCompared({SessionId{1}});
    QCOMPARE(race.data(Qt::CheckStateRole).toInt(), static_cast<int>(Qt::PartiallyChecked));
    m.setCompared({SessionId{1}, SessionId{2}});
    QCOMPARE(race.data(Qt::CheckStateRole).toInt(), static_cast<int>(Qt::Checked));
  }

  void namesAreEditedInTheirPlace() {
    SessionModel m;
    db::SessionRow named = row(7, "random", 1);
    named.name = "night run";
    m.setSessions({named}, {});
    const QModelIndex at = m.index(0, 0);
    QVERIFY(at.data().toString().contains(QStringLiteral("night run")));
    QCOMPARE(at.data(Qt::EditRole).toString(), QStringLiteral("night run"));
    QSignalSpy renamed(&m, &SessionModel::renamed);
    QVERIFY(m.setData(at, QStringLiteral(" day  run "), Qt::EditRole));
    QCOMPARE(renamed.at(0).at(1).toString(), QStringLiteral("day run"));
    QVERIFY(m.headerData(SessionModel::Seed, Qt::Horizontal, Qt::ToolTipRole).toString().contains(QStringLiteral("random numbers")));
  }

  void whatTunersCameToAsATable() {
    const double never = HUGE_VAL;
    const db::SessionCurve curve = curveOf(store({never, 7e-3, 8e-3, 5e-3}));
    QCOMPARE(curve.trials, 4);
    QCOMPARE(curve.failures, 1);
    QCOMPARE(curve.build_s, 4.0);
    QCOMPARE(curve.steps.size(), size_t{2});
    QCOMPARE(curve.steps[1].trial, 4.0);
    QCOMPARE(curve.steps[1].elapsed_s, 30.0);
    QCOMPARE(curve.steps[1].seconds, 5e-3);
    QCOMPARE(curveOf(nullptr).trials, 0);
    const Table table = progressTable(db::progress(std::vector<db::GroupCurves>{{"slow", {curve}}, {"fast", {curveOf(store({1e-3}))}}}));
    QCOMPARE(table.rows.size(), size_t{2});
    for (const QStringList& r : table.rows) QCOMPARE(r.size(), table.columns.size());
    QCOMPARE(table.rows[0][0], QStringLiteral("fast"));
    QCOMPARE(table.columns[4], QStringLiteral("Trials to 90 %"));
    QCOMPARE(table.rows[0][4], QStringLiteral("1"));
    db::GroupProgress quick;
    quick.reached[0].seconds = 2.6e-3, quick.reached[1].seconds = 75, quick.reached[2].seconds = never;
    const QStringList cells = progressTable({quick}).rows[0];
    QCOMPARE((QStringList{cells[5], cells[7], cells[9]}), (QStringList{QStringLiteral("2.60 ms"), QStringLiteral("1:15"), QStringLiteral("\u2014")}));
  }
};

QTEST_MAIN(SessionModelTest)
#include "session_model_test.moc"
