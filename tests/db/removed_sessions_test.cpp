// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db;
using namespace tw::db::fixture;

class RemovedSessionsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void a_session_goes_with_all_that_belongs_to_it_and_comes_back_as_it_was() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a.twdb").toStdString();
    Workspace w;
    w.db = Database::open(path).value();
    QVERIFY(w.fill());
    const SessionId other = w.session;
    QVERIFY(w.db->put_trials(other, w.task_id, {trial(w.task, -1, 4e-3), trial(w.task, 3, 3e-3)}));
    QVERIFY(w.db->end_session(other, "done"));
    const SessionId gone = w.db->begin_session(w.model, "genetic", w.task.target.str(), Json{{"seed", 2}}, Json::object()).value();
    records::Round round;
    round.number = 1, round.task_key = w.task.key, round.trials = 2, round.planned = 2, round.session_trials = 2, round.decision = "{}";
    QVERIFY(w.db->put_trials(gone, w.task_id, {trial(w.task, 5, 1e-3), trial(w.task, 6, 2e-3, records::Status::build_fail)}, &round));
    QVERIFY(w.db->put_event(gone, "note", "it is warm"));
    NetworkFinalRow final;
    final.model = w.model, final.session = gone, final.target = w.task.target.str(), final.default_s = 2, final.tuned_s = 1;
    QVERIFY(w.db->put_network_final(final, {{trial(w.task, 5, 1e-3), {true, 0.5, 0.4, 0.6, 2e-3}, "holds"}}));
    QCOMPARE(w.db->remove_session(gone).error().code, ErrorCode::invalid_argument);  // while it is running
    QVERIFY(w.db->end_session(gone, "done"));
    const std::string number = std::to_string(gone.value);
    QVERIFY(w.db->put_mark({"session:" + number, "warm", {}, 0}));
    QVERIFY(w.db->put_mark({"trial:" + number + "/key/1", "the fastest", {}, 0}));
    QVERIFY(w.db->put_mark({"session:" + number + "1", "another", {}, 0}));

    const auto counts = [&] { return w.db->tasks().value()[0].counts(); };
    QCOMPARE(counts().trials, 4);
    QCOMPARE(counts().best_s, 1e-3);
    const auto before = w.db->outcomes(gone, w.task_id, 0, 10).value();
    QVERIFY(w.db->remove_session(gone));
    QCOMPARE(w.db->sessions().value().size(), size_t{1});
    QCOMPARE(counts().trials, 2);
    QCOMPARE(counts().failures, 0);
    QCOMPARE(counts().best_s, 3e-3);
    QVERIFY(w.db->network_finals(w.model).value().empty());
    QVERIFY(w.db->trials(gone, std::nullopt).value().empty());
    QVERIFY(w.db->rounds(gone).value().empty());
    QCOMPARE(w.db->marks().value().size(), size_t{1});  // its own marks go with it: its number may be another session's later

    // What is stored meanwhile gets numbers of its own.
    const SessionId next = w.db->begin_session(w.model, "grid", w.task.target.str(), Json::object(), Json::object()).value();
    QVERIFY(next.value > gone.value);
    QVERIFY(w.db->put_trials(next, w.task_id, {trial(w.task, 8, 5e-3)}));
    final.session = next;
    QVERIFY(w.db->put_network_final(final, {}));

    QVERIFY(w.db->restore_session(gone));
    QCOMPARE(w.db->sessions().value().size(), size_t{3});
    QCOMPARE(counts().trials, 5);
    QCOMPARE(counts().failures, 1);
    QCOMPARE(counts().best_s, 1e-3);
    QCOMPARE(w.db->network_finals(w.model).value().size(), size_t{2});
    QCOMPARE(w.db->rounds(gone).value().size(), size_t{1});
    QCOMPARE(w.db->events(gone).value()[0].text, std::string("it is warm"));
    QCOMPARE(w.db->marks().value().size(), size_t{3});
    const auto after = w.db->outcomes(gone, w.task_id, 0, 10).value();
    QCOMPARE(after.size(), before.size());
    for (size_t i = 0; i < after.size(); ++i) QCOMPARE(after[i].seconds, before[i].seconds);
    const auto verdict = w.db->in_network("key", trial(w.task, 5, 1e-3)).value();
    QVERIFY(verdict && verdict->taken);
    QVERIFY(w.db->damaged().empty());
    QCOMPARE(w.db->restore_session(gone).error().code, ErrorCode::not_found);  // it is there

    // What was not brought back is gone with the file's closing.
    QVERIFY(w.db->remove_session(gone));
    w.db.reset();
    w.db = Database::open(path).value();
    QCOMPARE(w.db->restore_session(gone).error().code, ErrorCode::not_found);
    QCOMPARE(w.db->sessions().value().size(), size_t{2});
    QCOMPARE(w.db->remove_session(gone).error().code, ErrorCode::not_found);
  }

  void sessions_are_called_as_their_notes_say() {
    QTemporaryDir dir;
    Workspace w;
    w.db = Database::open(dir.filePath("a.twdb").toStdString()).value();
    QVERIFY(w.fill());
    QCOMPARE(w.db->sessions().value()[0].name, std::string());
    QVERIFY(w.db->put_mark({"session:" + std::to_string(w.session.value), "night run\nwith the old model", {"paper", "old"}, 0}));
    QCOMPARE(w.db->sessions().value()[0].name, std::string("night run"));
    QCOMPARE(w.db->sessions().value()[0].group, std::string("paper"));
  }
};

QTEST_APPLESS_MAIN(RemovedSessionsTest)
#include "removed_sessions_test.moc"
