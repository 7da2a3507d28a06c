// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>

#include <QtTest>
#include <algorithm>

#include "db/maintenance.h"
#include "engine/base/rng.h"
#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db;
using namespace tw::db::fixture;

class RepairTest : public QObject {
  Q_OBJECT
  std::unique_ptr<QTemporaryDir> dir_;
  std::string path_;

  /// A workspace of some pages. Returns how often a trial is in it: once each, 1 to `count`.
  void fill(int count) {
    Workspace w;
    w.db = *Database::open(path_);
    QVERIFY(w.fill());
    for (int first = 1; first <= count; first += 50) {
      std::vector<records::Record> batch;
      for (int i = first; i < std::min(count + 1, first + 50); ++i) batch.push_back(trial(w.task, i, 1e-3 / i));
      QVERIFY(w.db->put_trials(w.session, w.task_id, batch));
    }
    QVERIFY(w.db->put_event(w.session, "note", "It began"));
    QVERIFY(w.db->put_mark({"trial:1/" + w.task.key + "/7", "look here", {"odd"}}));
    NetworkFinalRow final_row;
    final_row.model = w.model;
    auto winner = trial(w.task, count);
    QVERIFY(w.db->put_network_final(final_row, {{winner, {true, 0.5, 0.4, 0.6, 1e-3}, "taken"}}));
    QVERIFY(w.db->end_session(w.session, "done"));
  }
  std::vector<int64_t> points(const std::string& path) {
    const auto db = Database::open(path, Mode::read_only);
    if (!db) return {};
    std::vector<int64_t> found;
    const auto rows = *(*db)->trials(std::nullopt, std::nullopt, {}, -1, true);
    for (const TrialRow& row : rows) found.push_back(row.record.candidate.index);
    std::sort(found.begin(), found.end());
    return found;
  }
  static std::vector<int64_t> up_to(int64_t count, const std::vector<int64_t>& without = {}) {
    std::vector<int64_t> all;
    for (int64_t i = 1; i <= count; ++i)
      if (std::find(without.begin(), without.end(), i) == without.end()) all.push_back(i);
    return all;
  }
  void expect_sound() {
    const auto report = check_workspace(path_, {});
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QVERIFY2(report->sound(), report->sound() ? "" : (report->problems[0].where + ": " + report->problems[0].reason).c_str());
  }
  qsizetype kept() const { return QDir(dir_->path()).entryList({"a.twdb.damaged-*"}).size(); }

 private Q_SLOTS:
  void init() {
    dir_ = std::make_unique<QTemporaryDir>();
    path_ = dir_->filePath("a.twdb").toStdString();
  }

  void a_sound_workspace_stays_as_it_is() {
    fill(60);
    expect_sound();
    const auto report = repair_workspace(path_, {}, {});
    QVERIFY(report);
    QVERIFY(report->before.sound() && report->after.sound() && report->kept.empty());
    QCOMPARE(report->after.trials, int64_t{60});
    QCOMPARE(kept(), qsizetype{0});
  }

  void ten_damaged_rows_are_named_removed_and_restored() {
    fill(120);
    const auto backup = back_up_workspace(path_, dir_->filePath("b.twdb").toStdString());
    QVERIFY2(backup, backup ? "" : backup.error().text().c_str());
    const std::vector<int64_t> bad{3, 11, 12, 40, 41, 42, 77, 90, 119, 120};
    {
      SQLite::Database raw(path_, SQLite::OPEN_READWRITE);
      const char* const changes[] = {"final_s = 1e-9",  "final_low = 0.5", "final_high = 0.5",    "seconds = seconds / 2", "weights = 'warm'",
                                     "steps_json = ''", "predicted = 7.0", "timestamp_s = 1.0", "message = 'hello'"};
      for (size_t i = 0; i < std::size(changes); ++i) raw.exec(std::string("UPDATE trial SET ") + changes[i] + " WHERE id = " + std::to_string(bad[i]));
      raw.exec("UPDATE sample SET data = zeroblob(length(data)) WHERE trial_id = 120");
    }
    const auto found = check_workspace(path_, {});
    QVERIFY(found);
    std::vector<int64_t> named;
    for (const Problem& p : found->problems)
      if (p.row.table == "trial" || p.row.table == "sample") {
        named.push_back(p.row.id);
        QVERIFY2(p.where.find("session 1, task tiny") != std::string::npos, p.where.c_str());
      }
    std::sort(named.begin(), named.end());
    QVERIFY(named == bad);
    QCOMPARE(found->trials, int64_t{110});
    const auto repaired = repair_workspace(path_, {}, {});
    QVERIFY2(repaired, repaired ? "" : repaired.error().text().c_str());
    QCOMPARE(repaired->removed, int64_t{10});
    QCOMPARE(repaired->restored, int64_t{0});
    QVERIFY(points(path_) == up_to(120, bad));
    QCOMPARE(kept(), qsizetype{1});
    expect_sound();
    const auto restored = repair_workspace(path_, {*backup}, {});
    QVERIFY2(restored, restored ? "" : restored.error().text().c_str());
    QCOMPARE(restored->restored, int64_t{10});
    QVERIFY(points(path_) == up_to(120));
    expect_sound();
    const auto db = *Database::open(path_);
    QCOMPARE(db->best(task().key, records::Weights::unknown).value()->candidate.index, int64_t{120});
    QCOMPARE(db->trial(SessionId{1}, TaskId{1}, 77).value()->record.candidate.index, int64_t{77});  // its old number
    QVERIFY(*db->in_network("key", *db->best(task().key, records::Weights::unknown).value()));
  }

  /// Pages of zeros, of noise, and a file that ends early: what can be read is kept, the newest backup gives the rest.
  void damaged_structure_is_rebuilt() {
    for (const int kind : {0, 1, 2})
      for (const bool backed_up : {false, true}) {
        init();
        fill(400);
        if (backed_up) QVERIFY(back_up_workspace(path_, ""));
        Rng rng(static_cast<uint64_t>(kind) + 5);
        QFile file(QString::fromStdString(path_));
        QVERIFY(file.open(QIODevice::ReadWrite));
        const qint64 pages = file.size() / 8192;
        QVERIFY(pages > 30);
        if (kind == 2) {
          QVERIFY(file.resize(8192 * (pages - 6) + 100));
        } else {
          for (int i = 0; i < 4; ++i) {
            file.seek(8192 * static_cast<qint64>(rng.range(static_cast<int64_t>(pages / 2), static_cast<int64_t>(pages - 1))));
            QByteArray bytes(8192, '\0');
            if (kind == 1)
              for (char& c : bytes) c = static_cast<char>(rng.range(0, 255));
            file.write(bytes);
          }
        }
        file.close();
        const auto before = check_workspace(path_, {});
        QVERIFY(before);
        QVERIFY(!before->sound());
        const auto report = repair_workspace(path_, {}, {});
        QVERIFY2(report, report ? "" : report.error().text().c_str());
        QVERIFY(report->after.sound());
        QVERIFY(!report->kept.empty());
        const auto there = points(path_);
        QVERIFY2(backed_up ? there == up_to(400) : there.size() > 100, qPrintable(QString("%1 trials, kind %2").arg(there.size()).arg(kind)));
        for (const int64_t point : there) QVERIFY(point >= 1 && point <= 400);
        QCOMPARE((*Database::open(path_))->sessions()->size(), size_t{1});
      }
  }

  void without_its_first_page_backups_are_all_there_is() {
    fill(60);
    const auto copy = *back_up_workspace(path_, "");
    QFile file(QString::fromStdString(path_));
    QVERIFY(file.open(QIODevice::ReadWrite));
    file.write(QByteArray(8192, '\x55'));
    file.close();
    QVERIFY(!check_workspace(path_, {}));
    const auto report = repair_workspace(path_, {}, {});
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QCOMPARE(report->restored, int64_t{60});
    expect_sound();
    QVERIFY(points(path_) == up_to(60));
  }

  void what_is_no_database_is_left_alone() {
    QFile file(QString::fromStdString(path_));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("This is a letter, not a database. It is long enough.");
    file.close();
    const auto report = repair_workspace(path_, {}, {});
    QVERIFY(!report);
    QCOMPARE(report.error().code, ErrorCode::parse_error);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.readAll().startsWith("This is a letter"));
    QCOMPARE(kept(), qsizetype{0});
  }

  void counters_that_lie_are_counted_anew() {
    fill(20);
    {
      SQLite::Database raw(path_, SQLite::OPEN_READWRITE);
      raw.exec("UPDATE task_count SET trials = 7, best_s = 1e-12");
      raw.exec("UPDATE session SET trials = 99");
    }
    QCOMPARE(check_workspace(path_, {})->problems.size(), size_t{2});
    QVERIFY(repair_workspace(path_, {}, {}));
    expect_sound();
    const auto db = *Database::open(path_);
    QCOMPARE(db->task_by_key(task().key).value()->counts().best_s, 1e-3 / 20);
    QCOMPARE(db->sessions()->at(0).trials, int64_t{20});
  }

  void texts_that_mean_nothing_are_dropped_and_their_trials_stay() {
    fill(20);
    {
      SQLite::Database raw(path_, SQLite::OPEN_READWRITE);
      raw.exec("UPDATE session SET host_json = '{'");
      raw.exec("UPDATE mark SET tags_json = '[1]'");
      raw.exec("UPDATE task SET dag_text = 'y = '");
    }
    QCOMPARE(check_workspace(path_, {})->problems.size(), size_t{3});
    const auto report = repair_workspace(path_, {}, {});
    QVERIFY(report);
    expect_sound();
    const auto db = *Database::open(path_);
    QCOMPARE(db->sessions()->at(0).options.value("seed", 0), 1);
    QCOMPARE(db->trials(std::nullopt, std::nullopt)->size(), size_t{20});
    QVERIFY(db->put_task(task()));  // whoever tunes the network again brings the text
    QVERIFY(!db->task_by_key(task().key).value()->dag_text.empty());
  }

  void another_writer_is_left_alone() {
    fill(20);
    const auto db = *Database::open(path_);
    const auto report = repair_workspace(path_, {}, {});
    QVERIFY(!report);
    QCOMPARE(report.error().code, ErrorCode::infrastructure);
    QVERIFY(check_workspace(path_, {})->sound());  // a check may run beside it
    QVERIFY(back_up_workspace(path_, ""));
  }
};

QTEST_APPLESS_MAIN(RepairTest)
#include "repair_test.moc"
