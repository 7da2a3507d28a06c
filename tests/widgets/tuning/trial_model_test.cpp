// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/trial_model.h"

#include <QAbstractItemModelTester>
#include <QtTest>
#include <limits>
#include <random>

#include "widgets/tuning/task_model.h"
#include "widgets/tuning/trials_beside.h"

using namespace tw;
using namespace tw::widgets;

namespace {

records::Record record(records::Status status, double seconds, int64_t index = 0) {
  records::Record r;
  r.candidate.space = "dense_pack.cpu";
  r.candidate.index = index;
  r.result.status = status;
  r.result.message = status == records::Status::ok ? "" : "Stage 'C' has no loop 7";
  if (status == records::Status::ok) r.result.samples_s = {seconds, seconds * 1.1}, r.result.sample_flags = {false, false};
  return r;
}

/// Trials with a failure every fifth time.
TrialStorePtr filled(int count, unsigned seed) {
  auto store = std::make_shared<TrialStore>(2e9);
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 1; i <= count; ++i) store->append(i, record(i % 5 == 0 ? records::Status::run_timeout : records::Status::ok, 0.001 + unit(rng) * 0.1, i * 3));
  return store;
}

TrialQuery query(const char* text) { return TrialQuery::parse(QLatin1String(text), {}, nullptr).value(); }

/// For work on another thread of a machine that has other things to do.
constexpr int kPatienceMs = 60000;

}  // namespace

class TrialModelTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void storeKeepsImprovementsAndFailures() {
    TrialStore store(1e9);
    for (const double s : {0.5, 0.7, 0.4, 0.4, 0.1}) store.append(store.size() + 1, record(records::Status::ok, s));
    store.append(6, record(records::Status::build_fail, 0));
    QCOMPARE(store.improvements().size(), size_t{3});
    QCOMPARE(store.improvements()[1].row, 2);
    QCOMPARE(store.improvements().back().seconds, 0.1);
    QCOMPARE(store.failures().at(records::Status::build_fail), 1);
    QVERIFY(std::isinf(store.seconds(5)));
    QCOMPARE(store.rowOf(3), 2);
    QCOMPARE(store.rowOf(99), -1);
    QCOMPARE(store.message(5), std::string("Stage 'C' has no loop 7"));
  }

  void trialsOfSeveralSessionsAreNumberedByTheirPlace() {
    TrialStore store(1e9, true);
    for (const auto& [session, number] : {std::pair(3, 1), std::pair(3, 2), std::pair(1, 7)}) {
      db::TrialOutcome trial = db::outcome_of(number, record(records::Status::ok, 1.0 / number));
      trial.session = SessionId{session}, trial.id = TrialId{10 + number};
      store.append(trial);
    }
    QCOMPARE(store.number(2), 3);
    QCOMPARE(store.numberInSession(2), 7);
    QCOMPARE(store.rowOf(SessionId{1}, 7), 2);
    QCOMPARE(store.rowOf(SessionId{1}, 1), -1);
    QCOMPARE(store.rowOf(3), 2);
    QCOMPARE(store.lastId(), TrialId{17});
    TrialModel model;
    model.setStore(std::make_shared<TrialStore>(store));
    QCOMPARE(model.index(2, TrialModel::Session).data().toString(), QStringLiteral("1 / 7"));
  }

  void finalsChangeTimesAndLeaveSnapshotsAlone() {
    TrialStore store(1e9);
    for (const auto& [index, s] : {std::pair(1, 0.5), std::pair(2, 0.4), std::pair(3, 0.6)}) store.append(store.size() + 1, record(records::Status::ok, s, index));
    const TrialColumns before = store;
    store.settle(record(records::Status::ok, 0, 3).candidate, 0.3);
    store.settle(record(records::Status::ok, 0, 2).candidate, std::numeric_limits<double>::infinity());  // wrong with other inputs
    QCOMPARE(store.seconds(2), 0.3);
    QVERIFY(store.ok(1) && !store.timed(1));
    QCOMPARE(store.improvements().size(), size_t{2});
    QCOMPARE(store.improvements().back().row, 2);
    QCOMPARE(before.seconds(1), 0.4);
    QCOMPARE(before.seconds(2), 0.6);
  }

  /// The finals give what they cannot tell from the winner its time; the best is the winner still, live and read back.
  void theWinnerOfTheFinalsIsTheBest() {
    TrialStore live(1e9), read(1e9);
    for (const auto& [index, s] : {std::pair(1, 0.5), std::pair(2, 0.42), std::pair(3, 0.4), std::pair(4, 0.41)}) live.append(live.size() + 1, record(records::Status::ok, s, index));
    for (const int index : {2, 3, 4}) live.settle(record(records::Status::ok, 0, index).candidate, 0.4);
    for (int row = 0; row < live.size(); ++row) {
      records::Record r = record(records::Status::ok, row == 0 ? 0.5 : row == 1 ? 0.42 : row == 2 ? 0.4 : 0.41, row + 1);
      if (row > 0) r.result.verdict = records::Verdict{0.4, 1, 1};
      read.append(row + 1, r);
    }
    for (const TrialStore* store : {&live, &read}) {
      QCOMPARE(store->seconds(1), 0.4);
      QCOMPARE(store->improvements().back().row, 2);
      QCOMPARE(store->improvements().back().seconds, 0.4);
    }
  }

  void censoredTrialsAreNoImprovement() {
    TrialStore store(1e9);
    records::Record r = record(records::Status::ok, 0.2);
    r.result.censored = true;
    store.append(1, r);
    QVERIFY(store.improvements().empty());
  }

  void snapshotsStayAsTheyWere() {
    auto store = filled(5000, 4);
    const TrialColumns snapshot = *store;
    const double last = snapshot.seconds(4998);
    for (int i = 0; i < 20'000; ++i) store->append(store->size() + 1, record(records::Status::ok, 1.0));
    QCOMPARE(snapshot.size(), 5000);
    QCOMPARE(snapshot.seconds(4998), last);
    QCOMPARE(snapshot.message(4), std::string("Stage 'C' has no loop 7"));
    QVERIFY(snapshot.bytes() < size_t{150} * 5000);
  }

  void modelKeepsTheRulesWhileGrowing() {
    TrialModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    auto store = filled(20, 1);
    model.setStore(store);
    QCOMPARE(model.rowCount(), 20);
    model.sort(TrialModel::Time);
    for (int batch = 0; batch < 30; ++batch) {
      for (int i = 0; i < 7; ++i)
        store->append(store->size() + 1, record(i == 3 ? records::Status::wrong_output : records::Status::ok, 0.01 + 0.001 * ((batch * 7 + i * 13) % 50)));
      model.sync();
      if (batch % 10 == 5) model.setQuery(query("status=failed"));
      if (batch % 10 == 9) model.setQuery({});
    }
    QCOMPARE(model.rowCount(), 20 + 210);
    model.setQuery(query("status=ok"));
    double last = 0;
    for (int row = 0; row < model.rowCount(); ++row) {
      const double s = store->seconds(model.storeRow(row));
      QVERIFY(s >= last);
      last = s;
    }
    QCOMPARE(model.rowOfNumber(store->number(model.storeRow(3))), 3);
    model.setStore(nullptr);
    QCOMPARE(model.rowCount(), 0);
  }

  /// Of which there is no first row to look at.
  void noTrialsAreInAnyOrder() {
    TrialModel model;
    for (const int column : {int(TrialModel::Space), int(TrialModel::Message), int(TrialModel::Time), int(TrialModel::Number)}) {
      model.sort(column);
      model.setStore(std::make_shared<TrialStore>(1e9));
      QCOMPARE(model.rowCount(), 0);
    }
  }
  void ratioFollowsTheBest() {
    TrialModel model;
    auto store = std::make_shared<TrialStore>(1e9);
    model.setStore(store);
    model.setQuery(query("ratio<=1.1"));
    for (const double s : {0.5, 0.52, 0.1}) {
      store->append(store->size() + 1, record(records::Status::ok, s));
      model.sync();
    }
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.storeRow(0), 2);
  }

  void manyTrialsAreArrangedOnAnotherThread() {
    TrialModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    auto store = filled(3 * TrialModel::kAtOnce, 3);
    model.setStore(store);
    QVERIFY(model.isArranging());
    QTRY_VERIFY_WITH_TIMEOUT(!model.isArranging(), kPatienceMs);
    QCOMPARE(model.rowCount(), 3 * TrialModel::kAtOnce);
    model.sort(TrialModel::Gflops, Qt::DescendingOrder);
    QCOMPARE(model.rowCount(), 3 * TrialModel::kAtOnce);  // the old rows stay meanwhile
    store->append(store->size() + 1, record(records::Status::ok, 1e-9));
    model.sync();
    QTRY_VERIFY_WITH_TIMEOUT(!model.isArranging(), kPatienceMs);
    QCOMPARE(model.rowCount(), 3 * TrialModel::kAtOnce + 1);
    QCOMPARE(model.storeRow(0), store->size() - 1);  // what came meanwhile is put in where it belongs
    for (int row = 1; row < 1000; ++row) QVERIFY(store->seconds(model.storeRow(row - 1)) <= store->seconds(model.storeRow(row)));
    model.setQuery(query("status=failed"));
    model.setQuery(query("number=7"));  // the first is given up
    QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 1, kPatienceMs);
  }

  void trialsBesideEachOtherSayWhatDiffers() {
    SideBySideModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    auto space = std::make_shared<space::ConfigSpace>();
    space->define_knob("unroll", {0, 16});
    space->define_knob("width", {8, 16});
    model.set(QStringLiteral("Property"), {QStringLiteral("A"), QStringLiteral("B")},
              trialsBeside({{{}, 1e9, record(records::Status::ok, 0.2, 0)}, {{}, 1e9, record(records::Status::ok, 0.1, 1)}}, {{"dense_pack.cpu", space}}));
    QCOMPARE(model.columnCount(), 3);
    int knobs = 0;
    for (int row = 0; row < model.rowCount(); ++row) {
      const QString name = model.index(row, 0).data().toString();
      if (name != QStringLiteral("unroll") && name != QStringLiteral("width")) continue;
      ++knobs;
      QCOMPARE(model.index(row, 1).data(Qt::FontRole).isValid(), name == QStringLiteral("unroll"));
    }
    QCOMPARE(knobs, 2);
    QVERIFY(model.index(1, 2).data().toString().startsWith(QChar(0x2605)));  // the faster one
    model.set({}, {}, {});
    QCOMPARE(model.rowCount(), 0);
  }

  void failuresShowNoTime() {
    TrialModel model;
    auto store = std::make_shared<TrialStore>(1e9);
    store->append(1, record(records::Status::run_crash, 0));
    model.setStore(store);
    QCOMPARE(model.index(0, TrialModel::Time).data().toString(), QString(QChar(0x2014)));
    QVERIFY(model.index(0, TrialModel::Result).data().toString().contains(QStringLiteral("crash")));
    QVERIFY(!model.headerData(TrialModel::Time, Qt::Horizontal).toString().isEmpty());
  }

  void taskModelKeepsTheRules() {
    TaskModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    std::vector<TaskLine> lines(3);
    for (int i = 0; i < 3; ++i) {
      lines[static_cast<size_t>(i)].name = QStringLiteral("conv%1").arg(i);
      lines[static_cast<size_t>(i)].flops = 1e9;
      lines[static_cast<size_t>(i)].bestSeconds = lines[static_cast<size_t>(i)].defaultSeconds = HUGE_VAL;
    }
    model.setTasks(lines);
    QCOMPARE(model.rowCount(), 3);
    QCOMPARE(model.index(1, TaskModel::Speedup).data().toString(), QString(QChar(0x2014)));
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    lines[1].bestSeconds = 0.01, lines[1].defaultSeconds = 0.05;
    model.updateTask(1, lines[1]);
    QCOMPARE(changed.count(), 1);
    model.updateTask(1, lines[1]);
    QCOMPARE(changed.count(), 1);  // nothing new, nothing said
    model.setPeak(2e11);
    QCOMPARE(model.index(1, TaskModel::Peak).data().toString(), QStringLiteral("50.0"));
    QVERIFY(model.index(1, TaskModel::Speedup).data().toString().startsWith(QStringLiteral("5.00")));
    QVERIFY(model.index(1, TaskModel::Gflops).data().toString().startsWith(QStringLiteral("100")));
    // A task of a log that does not say what it computes has no operations, not none.
    lines[2].flops = 0, lines[2].bestSeconds = 0.01;
    model.updateTask(2, lines[2]);
    for (const int column : {TaskModel::Mflops, TaskModel::Share, TaskModel::Gflops, TaskModel::Peak}) QCOMPARE(model.index(2, column).data().toString(), QString(QChar(0x2014)));
    lines[2].shape = QStringLiteral("1×64");  // a reshape
    model.updateTask(2, lines[2]);
    QCOMPARE(model.index(2, TaskModel::Mflops).data().toString(), QStringLiteral("0"));
  }
};

QTEST_MAIN(TrialModelTest)
#include "trial_model_test.moc"
