// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/comparison.h"

#include <QAbstractItemModelTester>
#include <QtTest>
#include <cmath>

#include "engine/base/json.h"

using namespace tw;
using namespace tw::widgets;

namespace {

db::ComparedSession session(int id, const char* tuner, int seed, double best, int batch = 16) {
  db::ComparedSession s;
  s.name = std::to_string(id);
  s.row.id = SessionId{id};
  s.row.tuner = tuner;
  s.row.options = {{"seed", seed}, {"batch", batch}};
  s.row.host = {{"cores", 2}};
  s.best[1] = best;
  return s;
}

const std::vector<db::ComparedTask> kTasks = {{1, "T1"}, {2, "T2"}};

}  // namespace

class ComparisonTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void tablesOfTimesAndConfigurations() {
    std::vector<db::ComparedSession> sessions = {session(1, "random", 1, 2e-3), session(2, "xgb", 1, 1e-3, 8)};
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
};

QTEST_MAIN(ComparisonTest)
#include "comparison_test.moc"
