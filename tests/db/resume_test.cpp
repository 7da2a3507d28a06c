// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <set>

#include "db/database.h"
#include "engine/base/json.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::db;

namespace {

constexpr int64_t kTrials = 150;

std::vector<tune::SessionTask> tasks() {
  return {{tune::fixture::dense(32, 64, 64), 1, {}}, {tune::fixture::dense(16, 32, 32), 2, {}}, {tune::fixture::elementwise(), 1, {}}};
}

/// Begins or goes on with the one session of a workspace, as `tw tune --resume` does.
Expected<tune::SessionReport> tune_into(const std::string& path, bool slow) {
  TW_TRY(auto db, Database::open(path));
  TW_TRY(const ModelId model, db->put_model("net", "net.onnx", "key", Json::object()));
  std::vector<tune::SessionTask> session_tasks = tasks();
  TW_TRY(const auto sessions, db->sessions(model));
  SessionId session;
  if (sessions.empty()) {
    TW_TRY(session, db->begin_session(model, "random", "llvm", Json::object(), Json::object()));
  } else {
    session = sessions[0].id;
  }
  for (tune::SessionTask& t : session_tasks) {
    TW_TRY(const TaskId id, db->put_task(t.task));
    TW_TRY(auto rows, db->trials(session, id, {}, -1, true));
    for (TrialRow& row : rows) t.history.push_back(std::move(row.record));
  }
  measure::AnalyticOptions machine;
  machine.failure_rate = 0.2;
  if (slow) {
    machine.seconds = [](const records::Task&, const records::Candidate&) {
      usleep(1000);
      return 1e-3;
    };
  }
  const auto builder = measure::analytic_builder(machine);
  const auto runner = measure::analytic_runner(machine);
  const auto sink = session_sink(db, session);
  TW_TRY(auto report, tune::run_session(session_tasks, tune::fixture::options(kTrials, 4), *builder, *runner, *sink, {}, {}));
  TW_CHECK(db->end_session(session, "done"));
  return report;
}

}  // namespace

class ResumeTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void a_session_killed_again_and_again_ends_with_every_trial_once() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a.twdb").toStdString();
    Rng rng(5);
    int killed = 0;
    for (int round = 0; round < 8; ++round) {
      const pid_t child = fork();
      if (child == 0) _exit(tune_into(path, true) ? 0 : 1);
      usleep(static_cast<useconds_t>(rng.range(30'000, 120'000)));
      kill(child, SIGKILL);
      int status = 0;
      waitpid(child, &status, 0);
      killed += WIFSIGNALED(status);
    }
    qInfo("%d of 8 runs were killed", killed);
    QVERIFY(killed >= 1);
    const auto report = tune_into(path, false);
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    int64_t total = 0;
    for (const auto& t : report->tasks) total += t.trials;
    QCOMPARE(total, kTrials);

    const auto db = Database::open(path, Mode::read_only);
    QVERIFY(db);
    const auto rows = (*db)->trials(std::nullopt, std::nullopt);
    QVERIFY(rows);
    QCOMPARE(static_cast<int64_t>(rows->size()), kTrials);
    std::set<std::pair<int64_t, int64_t>> points;
    for (const TrialRow& row : *rows) QVERIFY(points.emplace(row.task.value, row.record.candidate.index).second);
    const auto sessions = (*db)->sessions();
    QVERIFY(sessions);
    QCOMPARE(sessions->size(), size_t{1});
    QCOMPARE(sessions->at(0).state, std::string("done"));
    QCOMPARE(sessions->at(0).trials, kTrials);

    // The same points as in a run that nobody killed.
    const std::string other = dir.filePath("b.twdb").toStdString();
    QVERIFY(tune_into(other, false));
    const auto whole = Database::open(other, Mode::read_only);
    QVERIFY(whole);
    const auto expected = (*whole)->trials(std::nullopt, std::nullopt);
    QVERIFY(expected);
    for (const TrialRow& row : *expected) QVERIFY(points.contains({row.task.value, row.record.candidate.index}));
  }
};

QTEST_APPLESS_MAIN(ResumeTest)
#include "resume_test.moc"
