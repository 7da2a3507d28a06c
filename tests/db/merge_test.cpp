// SPDX-License-Identifier: Apache-2.0
#include "db/merge.h"

#include <QtTest>

#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db;
using namespace tw::db::fixture;

class MergeTest : public QObject {
  Q_OBJECT
  std::unique_ptr<QTemporaryDir> dir_;

  std::string path(const char* name) const { return dir_->filePath(name).toStdString(); }
  /// A session of its own with trials of some points.
  void fill(const std::string& file, const records::Task& task, const std::vector<int>& points, const std::string& model = "net") {
    const auto db = *Database::open(file);
    const auto model_id = *db->put_model(model, model + ".onnx", model, Json::object());
    const auto task_id = *db->put_task(task);
    QVERIFY(db->link_task(model_id, task_id, 3, records::Weights::unknown));
    const auto session = *db->begin_session(model_id, "random", task.target.str(), Json{{"seed", 1}}, Json::object());
    std::vector<records::Record> batch;
    for (const int p : points) batch.push_back(trial(task, p, 1e-3 / p));
    records::Round round;
    round.number = 1;
    round.decision = "{}";
    QVERIFY(db->put_trials(session, task_id, batch, &round));
    QVERIFY(db->put_event(session, "note", "of " + file));
    QVERIFY(db->put_mark({"session:" + std::to_string(session.value), "mine", {}}));
    QVERIFY(db->end_session(session, "done"));
  }

 private Q_SLOTS:
  void init() { dir_ = std::make_unique<QTemporaryDir>(); }

  void where_a_network_has_its_constants_comes_with_it() {
    fill(path("a"), task("shared", 4), {1});
    fill(path("b"), task("shared", 4), {2});
    {
      const auto db = *Database::open(path("b"));
      const ModelTaskRow row = db->tasks_of(db->models()->front().id)->front();
      QVERIFY(db->link_task(db->models()->front().id, row.task.id, row.weight, records::Weights::cold));
    }
    QVERIFY(merge_workspace(path("a"), path("b")));
    const auto db = *Database::open(path("a"));
    const ModelTaskRow row = db->tasks_of(db->models()->front().id)->front();
    QCOMPARE(row.weights, records::Weights::cold);
    QCOMPARE(row.weight, 3);
  }

  void what_is_missing_is_added_once() {
    const records::Task shared = task("shared", 4), other = task("other", 8);
    fill(path("a"), shared, {1, 2, 3});
    fill(path("b"), other, {1, 2}, "second");
    fill(path("b"), shared, {4, 5});
    for (int time = 0; time < 2; ++time) {
      const auto report = merge_workspace(path("a"), path("b"));
      QVERIFY2(report, report ? "" : report.error().text().c_str());
      QCOMPARE(report->trials, int64_t{time == 0 ? 4 : 0});
      QCOMPARE(report->there, int64_t{time == 0 ? 0 : 4});
      QCOMPARE(report->sessions, int64_t{time == 0 ? 2 : 0});
      QCOMPARE(report->tasks, int64_t{time == 0 ? 1 : 0});
      QCOMPARE(report->models, int64_t{time == 0 ? 1 : 0});
      QVERIFY(check_workspace(path("a"), {})->sound());
    }
    const auto db = *Database::open(path("a"));
    QCOMPARE(db->best(shared.key, records::Weights::unknown).value()->candidate.index, int64_t{5});
    QCOMPARE(db->task_by_key(shared.key).value()->counts().trials, int64_t{5});
    QCOMPARE(db->sessions()->size(), size_t{3});
    QCOMPARE(db->marks()->size(), size_t{3});  // each session's has the number that it has here
    const auto sessions = *db->sessions();
    for (const SessionRow& s : sessions) {
      QCOMPARE(db->rounds(s.id)->size(), size_t{1});
      QCOMPARE(db->events(s.id)->size(), size_t{1});
    }
    QCOMPARE(db->tasks_of(db->models()->at(1).id)->at(0).weight, 3);
  }

  /// A copy that went on by itself: the session is the same, and so are its points.
  void a_session_that_went_on_elsewhere_comes_back() {
    const records::Task t = task();
    fill(path("a"), t, {1, 2, 3});
    QVERIFY(back_up_workspace(path("a"), path("b")));
    QVERIFY((*Database::open(path("a")))->put_trials(SessionId{1}, TaskId{1}, {trial(t, 10), trial(t, 11)}));
    QVERIFY((*Database::open(path("b")))->put_trials(SessionId{1}, TaskId{1}, {trial(t, 11), trial(t, 12)}));
    const auto report = merge_workspace(path("a"), path("b"));
    QVERIFY(report);
    QCOMPARE(report->trials, int64_t{1});
    QCOMPARE(report->there, int64_t{4});
    const auto rows = (*Database::open(path("a")))->trials(SessionId{1}, std::nullopt);
    QCOMPARE(rows->size(), size_t{6});
    QCOMPARE(rows->back().number, int64_t{6});  // 5 was taken
    QVERIFY(check_workspace(path("a"), {})->sound());
  }

  void what_a_session_gained_since_comes_along() {
    const records::Task t = task();
    fill(path("a"), t, {1, 2, 3});
    QVERIFY(back_up_workspace(path("a"), path("b")));
    {
      const auto db = *Database::open(path("b"));
      QVERIFY(db->go_on(SessionId{1}, {{"seed", 1}, {"trials", 60}}));
      records::Round round;
      round.number = 1;
      round.decision = "{}";
      round.trials = 4;
      QVERIFY(db->put_trials(SessionId{1}, TaskId{1}, {trial(t, 10)}, &round));
      records::Record best = trial(t, 2);
      best.result.verdict = {4e-4, 3e-4, 5e-4};
      QVERIFY(db->put_finals(SessionId{1}, TaskId{1}, {best}));
      QVERIFY(db->end_session(SessionId{1}, "cancelled"));
    }
    for (int time = 0; time < 2; ++time) {
      QVERIFY(merge_workspace(path("a"), path("b")));
      const auto a = *Database::open(path("a")), b = *Database::open(path("b"));
      const SessionRow there = a->sessions()->at(0), here = b->sessions()->at(0);
      QCOMPARE(there.state, std::string("cancelled"));
      QCOMPARE(there.ended_s, here.ended_s);
      QCOMPARE(there.options, here.options);
      QCOMPARE(a->rounds(SessionId{1})->at(0).trials, b->rounds(SessionId{1})->at(0).trials);
      QCOMPARE(a->best(t.key, records::Weights::unknown).value()->result.decided_s(), b->best(t.key, records::Weights::unknown).value()->result.decided_s());
      QVERIFY(check_workspace(path("a"), {})->sound());
    }
  }

  void damaged_rows_are_left_behind() {
    fill(path("a"), task(), {1});
    fill(path("b"), task("other", 8), {1, 2, 3});
    {
      SQLite::Database raw(path("b"), SQLite::OPEN_READWRITE);
      raw.exec("UPDATE trial SET seconds = 1e-9 WHERE number = 2");
    }
    const auto report = merge_workspace(path("a"), path("b"));
    QVERIFY(report);
    QCOMPARE(report->trials, int64_t{2});
    QCOMPARE(report->damaged, int64_t{1});
    QVERIFY(check_workspace(path("a"), {})->sound());
  }

  void itself_is_refused() {
    fill(path("a"), task(), {1});
    QCOMPARE(merge_workspace(path("a"), path("a")).error().code, ErrorCode::invalid_argument);
    QVERIFY(!merge_workspace(path("a"), path("none")));
    QVERIFY(!merge_workspace(path("none"), path("a")));
    QVERIFY(!QFile::exists(dir_->filePath("none")));
  }
};

QTEST_APPLESS_MAIN(MergeTest)
#include "merge_test.moc"
