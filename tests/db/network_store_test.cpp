// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <limits>

#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db;
using namespace tw::db::fixture;

class NetworkStoreTest : public QObject {
  Q_OBJECT
  std::unique_ptr<QTemporaryDir> dir_;
  std::string path_;
  Workspace w_;

  NetworkFinalRow row() const {
    NetworkFinalRow r;
    r.model = w_.model;
    r.session = w_.session;
    r.target = w_.task.target.str();
    r.default_s = 4e-3;
    r.tuned_s = 3e-3;
    r.ratio = 0.75;
    r.low = 0.74;
    r.high = 0.77;
    r.default_estimate_s = 5e-3;
    r.tuned_estimate_s = 2e-3;
    return r;
  }
  static NetworkVerdictRow verdict(const records::Record& r, bool taken) {
    return {r, {taken, 0.9, 0.8, 0.95, 2e-3}, taken ? "taken" : "slower_in_place"};
  }

 private Q_SLOTS:
  void init() {
    dir_ = std::make_unique<QTemporaryDir>();
    path_ = dir_->filePath("a.twdb").toStdString();
    auto db = Database::open(path_);
    QVERIFY2(db, db ? "" : db.error().text().c_str());
    w_ = {};
    w_.db = *db;
    QVERIFY(w_.fill());
    QVERIFY(w_.db->put_trials(w_.session, w_.task_id, {trial(w_.task, 1, 1e-3), trial(w_.task, 2, 2e-3)}));
  }
  void cleanup() { w_ = {}; }

  void finals_come_back() {
    QVERIFY(w_.db->network_finals(w_.model)->empty());
    const auto put = w_.db->put_network_final(row(), {verdict(trial(w_.task, 1), true), verdict(trial(w_.task, 2), false)});
    QVERIFY2(put, put ? "" : put.error().text().c_str());
    NetworkFinalRow alone = row();
    alone.session.reset();
    alone.high = std::numeric_limits<double>::infinity();
    QVERIFY(w_.db->put_network_final(alone, {}));
    w_.db.reset();
    w_.db = *Database::open(path_, Mode::read_only);
    const auto rows = w_.db->network_finals(w_.model);
    QVERIFY(rows && rows->size() == 2);
    const NetworkFinalRow& r = (*rows)[0];
    QVERIFY(r.session == w_.session && r.target == row().target && r.at_s > 1e9);
    QVERIFY(r.default_s == 4e-3 && r.tuned_s == 3e-3 && r.ratio == 0.75 && r.low == 0.74 && r.high == 0.77);
    QVERIFY(r.default_estimate_s == 5e-3 && r.tuned_estimate_s == 2e-3 && r.tried == 2 && r.taken == 1);
    QVERIFY(!(*rows)[1].session && std::isinf((*rows)[1].high) && (*rows)[1].tried == 0);
    QVERIFY(!w_.db->put_network_final(row(), {}));  // read-only
  }

  void the_last_word_on_a_point_in_a_network_counts() {
    const records::Record one = trial(w_.task, 1), two = trial(w_.task, 2);
    QVERIFY(!*w_.db->in_network("key", one));
    QVERIFY(w_.db->put_network_final(row(), {verdict(one, false), verdict(two, true)}));
    auto judged = w_.db->in_network("key", one);
    QVERIFY(judged && *judged && !(*judged)->taken);
    QVERIFY((*judged)->ratio == 0.9 && (*judged)->low == 0.8 && (*judged)->high == 0.95 && (*judged)->default_s == 2e-3);
    QVERIFY((**w_.db->in_network("key", two)).taken);
    QVERIFY(!*w_.db->in_network("another network", one));
    QVERIFY(!*w_.db->in_network("key", trial(w_.task, 3)));
    QVERIFY(w_.db->put_network_final(row(), {verdict(one, true)}));
    QVERIFY((**w_.db->in_network("key", one)).taken);
    QVERIFY((**w_.db->in_network("key", two)).taken);  // was not tried again
    // The same point measured in another session is the same kernel.
    const auto again = w_.db->begin_session(w_.model, "grid", w_.task.target.str(), Json::object(), Json::object());
    QVERIFY(w_.db->put_trials(*again, w_.task_id, {trial(w_.task, 1, 5e-4)}));
    const auto best = w_.db->best(w_.task.key, records::Weights::unknown);
    QVERIFY(best && *best && (*best)->result.seconds() == 5e-4);
  }

  void points_without_a_trial_are_refused() {
    const auto put = w_.db->put_network_final(row(), {verdict(trial(w_.task, 1), true), verdict(trial(w_.task, 9), true)});
    QVERIFY(!put && put.error().code == ErrorCode::not_found);
    QVERIFY(w_.db->network_finals(w_.model)->empty());  // nothing of it is stored
  }

  void trials_say_where_their_weights_were() {
    records::Record cold = trial(w_.task, 5), warm = trial(w_.task, 6, 1e-4);
    cold.result.weights = records::Weights::cold;
    warm.result.weights = records::Weights::warm;
    QVERIFY(w_.db->put_trials(w_.session, w_.task_id, {cold, warm}));
    const auto trials = w_.db->trials(w_.session, w_.task_id);
    QVERIFY(trials && trials->size() == 4);
    QCOMPARE((*trials)[0].record.result.weights, records::Weights::unknown);
    QCOMPARE((*trials)[2].record.result.weights, records::Weights::cold);
    QCOMPARE((*trials)[3].record.result.weights, records::Weights::warm);
    QCOMPARE((*w_.db->trial(w_.session, w_.task_id, 3))->record.result.weights, records::Weights::cold);
    QCOMPARE((*w_.db->best(w_.task.key, records::Weights::unknown))->result.weights, records::Weights::warm);
  }

  void a_network_takes_the_best_with_constants_where_it_has_them() {
    using records::Weights;
    const auto timed = [&](int64_t point, double seconds, Weights weights) {
      records::Record r = trial(w_.task, point, seconds);
      r.result.weights = weights;
      return r;
    };
    const auto agree = [&](Weights weights, int64_t point, double seconds) {
      const auto best = *w_.db->best_of_kinds(w_.task.key, weights);
      QCOMPARE(best->record.candidate.index, point);
      QVERIFY(w_.db->link_task(w_.model, w_.task_id, 2, weights));
      const ModelTaskRow linked = (*w_.db->tasks_of(w_.model))[0];
      QCOMPARE(linked.weights, weights);
      for (const TaskRow& row : {**w_.db->task_by_key(w_.task.key, weights), linked.task}) {
        QCOMPARE(row.counts().best_s, seconds);
        QCOMPARE(row.counts().best_session, best->session);
        QCOMPARE(row.counts().trials, static_cast<int64_t>(w_.db->trials(std::nullopt, w_.task_id)->size()));
      }
    };
    const SessionId cold = *w_.db->begin_session(w_.model, "grid", "llvm", Json::object(), Json::object());
    QVERIFY(w_.db->put_trials(w_.session, w_.task_id, {timed(5, 1e-4, Weights::warm), timed(6, 2e-4, Weights::warm)}));
    agree(Weights::warm, 5, 1e-4);
    agree(Weights::cold, 1, 1e-3);  // what is not known may be either
    QVERIFY(w_.db->put_trials(cold, w_.task_id, {timed(6, 5e-4, Weights::cold), timed(5, 6e-4, Weights::cold)}));
    agree(Weights::cold, 6, 5e-4);
    agree(Weights::warm, 5, 1e-4);
    agree(Weights::unknown, 5, 1e-4);
    // The finals turn the cold ones round.
    records::Record finalist = timed(5, 6e-4, Weights::cold);
    finalist.result.verdict = records::Verdict{4e-4, 1, 1};
    QVERIFY(w_.db->put_finals(cold, w_.task_id, {finalist}));
    agree(Weights::cold, 5, 4e-4);
    // Where there are none of the network's own, the others are better than nothing.
    for (const SessionId session : {w_.session, cold}) QVERIFY(w_.db->end_session(session, "done") && w_.db->remove_session(session));
    const SessionId warm = *w_.db->begin_session(w_.model, "grid", "llvm", Json::object(), Json::object());
    QVERIFY(w_.db->put_trials(warm, w_.task_id, {timed(7, 3e-4, Weights::warm)}));
    agree(Weights::cold, 7, 3e-4);
  }
};

QTEST_APPLESS_MAIN(NetworkStoreTest)
#include "network_store_test.moc"
