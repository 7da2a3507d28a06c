// SPDX-License-Identifier: Apache-2.0
#include "app/logs/network_trials.h"

#include <QtTest>
#include <cmath>

#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db;
using namespace tw::db::fixture;

class NetworkTrialsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_best_trials_go_into_a_network_and_verdicts_come_back() {
    const QTemporaryDir dir;
    Workspace w;
    w.db = *Database::open(dir.filePath("a.twdb").toStdString());
    QVERIFY(w.fill());
    records::Record by_default = trial(w.task, -1, 4e-3);
    by_default.candidate.space = std::string(records::kDefaultSpace);
    QVERIFY(w.db->put_trials(w.session, w.task_id, {by_default, trial(w.task, 1, 3e-3), trial(w.task, 2, 1e-3)}));
    const std::vector<api::NetworkTask> tasks{{.task = w.task, .weight = 3}, {.task = task("other", 8), .weight = 1}};
    const auto tried = logs::tried_tasks(tasks, *w.db);
    QVERIFY(tried && tried->size() == 2);
    QCOMPARE(tried->at(0).default_s, 4e-3);
    QCOMPARE(tried->at(0).best->candidate.index, int64_t{2});
    QVERIFY(std::isinf(tried->at(1).default_s) && !tried->at(1).best);

    api::NetworkFinals finals;
    finals.default_s = 12e-3, finals.tuned_s = 9e-3, finals.network = {0.75, 0.7, 0.8};
    api::KernelFinal held{.task_key = w.task.key, .weight = 3, .default_s = 4e-3, .best_s = 1e-3, .tried = true, .standing = api::Standing::slower_in_place};
    held.record = tried->at(0).best;
    finals.kernels = {held, {.task_key = tasks[1].task.key}};
    QVERIFY(logs::store_finals(w.model, w.task.target, w.session, finals, *w.db));
    const auto rows = w.db->network_finals(w.model);
    QVERIFY(rows && rows->size() == 1);
    QVERIFY(rows->front().session == w.session && rows->front().tried == 1 && rows->front().taken == 0);
    QCOMPARE(rows->front().tuned_s, 9e-3);
    const auto verdict = w.db->in_network("key", *tried->at(0).best);
    QVERIFY(verdict && *verdict && !(*verdict)->taken);
  }
};

QTEST_APPLESS_MAIN(NetworkTrialsTest)
#include "network_trials_test.moc"
