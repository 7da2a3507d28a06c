// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>

#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db;
using namespace tw::db::fixture;

class RoundStoreTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void rounds_come_back_as_they_were_and_replace_their_number() {
    QTemporaryDir dir;
    Workspace w;
    w.db = Database::open(dir.filePath("a.twdb").toStdString()).value();
    QVERIFY(w.fill());
    const auto sink = session_sink(w.db, w.session);
    records::Round r;
    r.number = 1;
    r.planned = 3;
    r.trials = 1;
    r.session_trials = 1;
    r.decision = R"({"why":"Its default schedule"})";
    QVERIFY(sink->store(w.task, {trial(w.task, -1)}, r));
    r.trials = 2;
    r.session_trials = 2;
    r.best_s = 1e-3;
    r.network_s = 2e-3;
    r.search_s = 0.25, r.build_s = 0.5, r.measure_s = 0.75, r.total_s = 2, r.elapsed_s = 3, r.measured_s = 1;
    QVERIFY(sink->store(w.task, {trial(w.task, 5)}, r));
    records::Round next = r;
    next.number = 2;
    next.network_s = INFINITY;
    QVERIFY(sink->store(w.task, {trial(w.task, 6)}, next));
    const auto rounds = w.db->rounds(w.session).value();
    QCOMPARE(rounds.size(), size_t{2});
    QCOMPARE(rounds[0].task_key, w.task.key);
    QCOMPARE(rounds[0].planned, 3);
    QCOMPARE(rounds[0].trials, 2);
    QCOMPARE(rounds[0].session_trials, 2);
    QCOMPARE(rounds[0].decision, r.decision);
    QCOMPARE(rounds[0].best_s, 1e-3);
    QCOMPARE(rounds[0].network_s, 2e-3);
    QCOMPARE(rounds[0].search_s, 0.25);
    QCOMPARE(rounds[0].build_s, 0.5);
    QCOMPARE(rounds[0].measure_s, 0.75);
    QCOMPARE(rounds[0].total_s, 2.0);
    QCOMPARE(rounds[0].elapsed_s, 3.0);
    QCOMPARE(rounds[0].measured_s, 1.0);
    QVERIFY(std::isinf(rounds[1].network_s));
    QCOMPARE(w.db->rounds(w.session, 1).value().size(), size_t{1});
    QCOMPARE(w.db->trials(w.session, std::nullopt).value().size(), size_t{3});
  }
  /// A trial that is refused takes its round with it.
  void a_round_is_stored_with_its_trials_or_not_at_all() {
    QTemporaryDir dir;
    Workspace w;
    w.db = Database::open(dir.filePath("a.twdb").toStdString()).value();
    QVERIFY(w.fill());
    const auto sink = session_sink(w.db, w.session);
    records::Round r;
    r.number = 1;
    QVERIFY(!sink->store(w.task, {trial(w.task, 5), trial(w.task, 5)}, r));
    QVERIFY(w.db->rounds(w.session).value().empty());
    QVERIFY(w.db->trials(w.session, std::nullopt).value().empty());
  }
  void candidates_without_an_index_are_told_apart_by_their_fingerprint() {
    QTemporaryDir dir;
    Workspace w;
    w.db = Database::open(dir.filePath("a.twdb").toStdString()).value();
    QVERIFY(w.fill());
    records::Record a = trial(w.task, -1), b = a, same = a;
    a.candidate.space = b.candidate.space = same.candidate.space = "sketch";
    a.candidate.fingerprint = same.candidate.fingerprint = 17;
    b.candidate.fingerprint = uint64_t{1} << 63;
    same.candidate.steps.clear();
    QVERIFY(w.db->put_trials(w.session, w.task_id, {a, b}));
    QVERIFY(!w.db->put_trials(w.session, w.task_id, {same}));
    const auto rows = w.db->trials(w.session, std::nullopt).value();
    QCOMPARE(rows[0].record.candidate.fingerprint, a.candidate.fingerprint);
    QCOMPARE(rows[1].record.candidate.fingerprint, b.candidate.fingerprint);
    b.result.verdict = records::Verdict{1e-3, 1, 1};
    QVERIFY(w.db->put_finals(w.session, w.task_id, {b}));
    QVERIFY(!w.db->trials(w.session, std::nullopt).value()[0].record.result.verdict);
    QVERIFY(w.db->trials(w.session, std::nullopt).value()[1].record.result.verdict);
  }
};

QTEST_APPLESS_MAIN(RoundStoreTest)
#include "round_store_test.moc"
