// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <set>

#include <fmt/format.h>

#include "db/session_workspace.h"
#include "engine/api/tune.h"
#include "engine/base/json.h"
#include "engine/records/autotvm_log.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::db;

namespace {

constexpr int64_t kTrials = 150;

std::vector<tune::SessionTask> tasks() {
  return {{tune::fixture::dense(32, 64, 64), 1, {}}, {tune::fixture::dense(16, 32, 32), 2, {}}, {tune::fixture::elementwise(), 1, {}}};
}

/// Begins or goes on with the one session of a workspace, as `tw tune --resume` does, on a machine whose times follow from the candidate alone.
Expected<tune::SessionReport> tune_into(const std::string& path, const char* scheduler, const char* tuner, bool slow) {
  TW_TRY(const auto log, records::autotvm_log_sink(path + ".log"));
  TW_TRY(auto db, Database::open(path));
  TW_TRY(const ModelId model, db->put_model("net", "net.onnx", "key", Json::object()));
  const auto store = session_store(db, model, Json::object());
  api::TuneRequest request{.tasks = tasks(), .target = tasks()[0].task.target, .options = tune::fixture::options(kTrials, 4), .resume = true};
  request.options.scheduler = scheduler;
  request.options.tuner = tuner;
  measure::AnalyticOptions machine;
  machine.failure_rate = 0.2;
  machine.noise = 0;
  machine.seconds = [slow](const records::Task&, const records::Candidate& c) {
    if (slow) usleep(1000);
    return 1e-3 * (1 + static_cast<double>(records::identity(c) % 1009) / 1009);
  };
  api::TuneHooks hooks;
  hooks.also = log.get();
  hooks.loop = [&](const auto& session_tasks, const auto& options, auto& sink, const auto& events, const auto& control, const auto&) {
    return tune::run_session(session_tasks, options, *measure::analytic_builder(machine), *measure::analytic_runner(machine), sink, events, control);
  };
  TW_TRY(api::TuneOutcome outcome, api::tune(std::move(request), *store, hooks));
  return std::move(outcome.report);
}

/// Task, decision and best of each round.
std::string story(Database& db) {
  std::string text;
  const auto rounds = db.rounds(SessionId{1});
  for (const records::Round& r : *rounds)
    text += fmt::format("{} {} {} {} {} {}\n", r.number, r.task_key.substr(0, 8), r.planned, r.trials, r.best_s, r.decision);
  return text;
}

}  // namespace

class ResumeTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// Times of constants in caches and out of them are not compared, and what is stored names the limits that hold.
  void a_session_goes_on_as_it_began_with_new_limits() {
    QTemporaryDir dir;
    const auto db = *Database::open(dir.filePath("a.twdb").toStdString());
    const auto store = session_store(db, *db->put_model("net", "net.onnx", "key", Json::object()), Json::object());
    api::TuneRequest request{.tasks = tasks(), .target = tasks()[0].task.target, .options = tune::fixture::options(10, 5), .resume = true};
    request.options.weights = records::Weights::cold;
    std::vector<records::Weights> asked;
    const api::TuneHooks hooks{.loop = [&](const auto&, const tune::SessionOptions& o, auto&, const auto&, const auto&, const auto&) {
      asked.push_back(o.weights);
      return Expected<tune::SessionReport>(tune::SessionReport());
    }};
    QVERIFY(api::tune(request, *store, hooks));
    request.options.weights = records::Weights::warm;
    request.options.trials = 20;
    QVERIFY(api::tune(request, *store, hooks));
    QCOMPARE(asked, (std::vector<records::Weights>{records::Weights::cold, records::Weights::cold}));
    const auto sessions = *db->sessions();
    QCOMPARE(sessions.size(), size_t{1});
    QCOMPARE(sessions[0].options.at("trials"), Json(20));
    QCOMPARE(sessions[0].options.at("weights"), Json("cold"));
  }

  void a_session_killed_again_and_again_ends_with_every_trial_once_data() {
    QTest::addColumn<QByteArray>("scheduler");
    QTest::addColumn<QByteArray>("tuner");
    QTest::newRow("task after task") << QByteArray("proportional") << QByteArray("random");
    QTest::newRow("in rounds") << QByteArray("gradient") << QByteArray("genetic");
  }
  void a_session_killed_again_and_again_ends_with_every_trial_once() {
    QFETCH(QByteArray, scheduler);
    QFETCH(QByteArray, tuner);
    QTemporaryDir dir;
    const std::string path = dir.filePath("a.twdb").toStdString();
    Rng rng(5);
    int killed = 0;
    for (int round = 0; round < 8; ++round) {
      const pid_t child = fork();
      if (child == 0) _exit(tune_into(path, scheduler, tuner, true) ? 0 : 1);
      usleep(static_cast<useconds_t>(rng.range(30'000, 120'000)));
      kill(child, SIGKILL);
      int status = 0;
      waitpid(child, &status, 0);
      killed += WIFSIGNALED(status);
    }
    qInfo("%d of 8 runs were killed", killed);
    QVERIFY(killed >= 1);
    const auto report = tune_into(path, scheduler, tuner, false);
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

    // Every trial has its line, whenever it was that the process was killed.
    const auto lines = records::read_autotvm_file(path + ".log");
    QVERIFY(lines);
    std::set<std::pair<std::string, int64_t>> logged;
    for (const records::AutotvmRecord& r : lines->records) logged.emplace(r.record.task_key, r.record.candidate.index);
    for (const TrialRow& row : *rows) QVERIFY(logged.contains({row.record.task_key, row.record.candidate.index}));

    // The same points and decisions as in a run that nobody killed.
    const std::string other = dir.filePath("b.twdb").toStdString();
    QVERIFY(tune_into(other, scheduler, tuner, false));
    const auto whole = Database::open(other, Mode::read_only);
    QVERIFY(whole);
    const auto expected = (*whole)->trials(std::nullopt, std::nullopt);
    QVERIFY(expected);
    for (const TrialRow& row : *expected) QVERIFY(points.contains({row.task.value, row.record.candidate.index}));
    QCOMPARE(story(**db), story(**whole));
  }

  /// Times of two machines are never those of one session, whoever names it.
  void a_session_goes_on_for_its_target_alone() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a.twdb").toStdString();
    QVERIFY(tune_into(path, "proportional", "random", false));
    const auto db = Database::open(path);
    QVERIFY(db);
    const auto store = session_store(*db, ModelId{1}, Json::object());
    const Target its = tasks()[0].task.target;
    api::TuneRequest request{.tasks = tasks(), .target = its, .options = tune::fixture::options(kTrials, 4), .resume = true, .session = SessionId{1}};
    QCOMPARE(api::session_to_resume(request, *store).value(), SessionId{1});
    request.target.cores += 1;
    const auto refused = api::session_to_resume(request, *store);
    QVERIFY(!refused);
    QVERIFY2(refused.error().message.starts_with("Session 1 is for the target '" + its.str() + "' and cannot go on"), refused.error().message.c_str());
  }
};

QTEST_APPLESS_MAIN(ResumeTest)
#include "resume_test.moc"
