// SPDX-License-Identifier: Apache-2.0
#include "db/row_checks.h"

#include <QtTest>
#include <map>

#include "db/migrate.h"
#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db;
using namespace tw::db::fixture;

class RowChecksTest : public QObject {
  Q_OBJECT
  std::unique_ptr<QTemporaryDir> dir_;
  std::string path_;

  /// Trials 1 to `count`, the fastest last.
  void fill(int count) {
    Workspace w;
    w.db = *Database::open(path_);
    QVERIFY(w.fill());
    std::vector<records::Record> batch;
    for (int i = 1; i <= count; ++i) batch.push_back(trial(w.task, i, 1e-3 / i));
    QVERIFY(w.db->put_trials(w.session, w.task_id, batch));
    batch[0].result.verdict = records::Verdict{2e-3, 1.0, 1.1};
    QVERIFY(w.db->put_finals(w.session, w.task_id, {batch[0]}));
  }
  void damage(const std::string& sql) {
    SQLite::Database raw(path_, SQLite::OPEN_READWRITE);
    QVERIFY(raw.exec(sql) >= 0);
  }

 private Q_SLOTS:
  void init() {
    dir_ = std::make_unique<QTemporaryDir>();
    path_ = dir_->filePath("a.twdb").toStdString();
  }

  /// A column that the checksum forgets fails here, also one of a later format.
  void every_column_and_the_samples_are_covered() {
    fill(2);
    std::vector<std::pair<std::string, std::string>> columns;
    {
      SQLite::Database raw(path_);
      SQLite::Statement q(raw, "SELECT name, type FROM pragma_table_info('trial') WHERE name <> 'id'");
      while (q.executeStep()) columns.emplace_back(q.getColumn(0).getString(), q.getColumn(1).getString());
    }
    QVERIFY(columns.size() > 25);
    columns.emplace_back("", "");  // the samples
    for (const auto& [column, type] : columns) {
      const std::string copy = path_ + "." + column;
      QVERIFY(QFile::copy(QString::fromStdString(path_), QString::fromStdString(copy)));
      {
        SQLite::Database raw(copy, SQLite::OPEN_READWRITE);
        raw.exec("PRAGMA foreign_keys = OFF");
        const std::string other = type == "TEXT" ? "coalesce(" + column + ", '') || 'x'" : "coalesce(" + column + ", 0) + 3";
        raw.exec(column.empty() ? "UPDATE sample SET data = zeroblob(length(data)) WHERE trial_id = 1" : "UPDATE trial SET " + column + " = " + other + " WHERE id = 1");
      }
      const auto db = *Database::open(copy, Mode::read_only);
      const auto rows = db->trials(std::nullopt, std::nullopt, {}, -1, true);
      QVERIFY(rows);
      if (column != "session_id" && column != "task_id") {  // of no session or task: nobody sees it
        const auto damaged = db->damaged();
        QVERIFY2(damaged.size() == 1 && damaged[0].id == 1, column.c_str());
      }
      QVERIFY2(rows->size() == 1 && (*rows)[0].number == 2, column.c_str());
    }
  }

  void readers_leave_damaged_rows_out_and_count_them() {
    fill(20);
    damage("UPDATE trial SET final_s = 1e-9, final_low = 0.1 WHERE number = 20");  // would be the best
    damage("UPDATE trial SET status = 'infra' WHERE number = 19");
    damage("UPDATE sample SET data = substr(data, 2) WHERE trial_id = 18");
    damage("UPDATE session SET host_json = '{' WHERE id = 1");
    const auto db = *Database::open(path_);
    int told = 0;
    db->on_damage([&] { ++told; });
    QVERIFY(db->damaged().empty());
    QCOMPARE(db->trials(std::nullopt, std::nullopt)->size(), size_t{18});  // without samples those of 18 are not looked at
    QCOMPARE(told, 1);
    QCOMPARE(db->trials(std::nullopt, std::nullopt, {}, -1, true)->size(), size_t{17});
    QCOMPARE(told, 2);
    QCOMPARE(db->trials(std::nullopt, std::nullopt, {}, -1, true)->size(), size_t{17});
    QCOMPARE(told, 2);
    QCOMPARE(db->best(task().key, records::Weights::unknown).value()->candidate.index, int64_t{17});
    QCOMPARE(db->outcomes(SessionId{1}, TaskId{1}, 0, -1)->size(), size_t{18});
    QCOMPARE(db->bests({SessionId{1}})->at(0).trials, int64_t{18});
    QCOMPARE(db->bests({SessionId{1}})->at(0).failures, int64_t{0});
    QVERIFY(!*db->trial(SessionId{1}, TaskId{1}, 20));
    QVERIFY(*db->trial(SessionId{1}, TaskId{1}, 17));
    QVERIFY(db->sessions()->empty());
    const std::vector<DamagedRow> expected{{"sample", 18}, {"session", 1}, {"trial", 19}, {"trial", 20}};
    QVERIFY(db->damaged() == expected);
  }

  void what_nobody_can_read_is_measured_again() {
    fill(5);
    damage("UPDATE trial SET build_s = 7 WHERE number = 3");
    const auto db = *Database::open(path_);
    const auto stored = db->put_trials(SessionId{1}, TaskId{1}, {trial(task(), 3, 1e-6)});
    QVERIFY2(stored, stored ? "" : stored.error().text().c_str());
    QCOMPARE(db->trials(std::nullopt, std::nullopt)->size(), size_t{5});
    QCOMPARE(db->task_by_key(task().key).value()->counts().trials, int64_t{5});
    QCOMPARE(db->best(task().key, records::Weights::unknown).value()->candidate.index, int64_t{3});
    QVERIFY(!db->put_trials(SessionId{1}, TaskId{1}, {trial(task(), 4)}));  // it is whole
  }

  /// Every byte of a value counts, of short values too.
  void checksums_tell_values_apart() {
    fill(1);
    SQLite::Database raw(path_, SQLite::OPEN_READWRITE);
    Damage ignored;
    add_row_checks(raw, ignored);
    std::map<int64_t, std::string> seen;
    for (const char* values : {"''", "'a'", "'b'", "'ab'", "'ba'", "'a', 'b'", "'b', 'a'", "1", "2", "1.0", "NULL", "NULL, NULL"}) {
      SQLite::Statement q(raw, std::string("SELECT row_checksum(") + values + ")");
      QVERIFY(q.executeStep());
      const auto [at, fresh] = seen.emplace(q.getColumn(0).getInt64(), values);
      QVERIFY2(fresh, (at->second + " and " + values).c_str());
    }
  }

  /// As programs that read the file by SQL count them.
  void flags_are_zero_or_one() {
    Workspace w;
    w.db = *Database::open(path_);
    QVERIFY(w.fill());
    auto censored = trial(w.task, 1), verified = trial(w.task, 2), neither = trial(w.task, 3);
    censored.result.censored = true;
    censored.result.verified = neither.result.verified = false;
    verified.result.verified = true;
    QVERIFY(w.db->put_trials(w.session, w.task_id, {censored, verified, neither}));
    SQLite::Database raw(path_);
    SQLite::Statement q(raw, "SELECT censored, verified FROM trial ORDER BY id");
    for (const auto& [c, v] : {std::pair{1, 0}, {0, 1}, {0, 0}}) {
      QVERIFY(q.executeStep());
      QCOMPARE(q.getColumn(0).getInt(), c);
      QCOMPARE(q.getColumn(1).getInt(), v);
    }
  }

  void verdicts_do_not_hide_damage() {
    fill(5);
    damage("UPDATE trial SET build_s = 7 WHERE number = 3");
    const auto db = *Database::open(path_);
    auto finalist = trial(task(), 3);
    finalist.result.verdict = records::Verdict{1e-9, 0.1, 0.2};
    QVERIFY(db->put_finals(SessionId{1}, TaskId{1}, {finalist}));
    QCOMPARE(db->trials(std::nullopt, std::nullopt)->size(), size_t{4});
  }

  /// Format 7 had checksums of some columns, and samples had their own.
  void older_files_get_checksums_and_keep_their_damage() {
    fill(6);
    {
      SQLite::Database raw(path_, SQLite::OPEN_READWRITE);
      Damage ignored;
      add_row_checks(raw, ignored);
      raw.exec("UPDATE trial SET checksum = row_checksum(space, config_json, steps_json, status, message, config_index, flagged, inner_runs, censored, verified, "
               "coalesce(seconds, 0.0), max_rel_error, build_s, load_s, run_s, timestamp_s)");
      for (const char* column : {"fill_s", "verify_s"}) raw.exec(std::string("ALTER TABLE trial DROP COLUMN ") + column);
      raw.exec("ALTER TABLE trial DROP COLUMN samples_checksum");
      raw.exec("DROP INDEX trial_of_record");
      raw.exec("ALTER TABLE trial DROP COLUMN record_hash");
      raw.exec("UPDATE trial SET run_s = 1234.5 WHERE number = 2");
      raw.exec("UPDATE sample SET data = zeroblob(length(data)) WHERE trial_id = 4");
      raw.exec("DROP INDEX trial_default");
      raw.exec("DROP INDEX trial_by_time");
      raw.exec("DROP TABLE task_count");
      raw.exec("ALTER TABLE session DROP COLUMN kind");
      for (const char* column : {"trials INTEGER NOT NULL DEFAULT 0", "failures INTEGER NOT NULL DEFAULT 0", "best_s REAL", "default_s REAL", "unverified_s REAL"})
        raw.exec(std::string("ALTER TABLE task ADD COLUMN ") + column);
      raw.exec("ALTER TABLE model_task DROP COLUMN weights");
      raw.exec("PRAGMA user_version = 7");
    }
    const auto db = Database::open(path_);
    QVERIFY2(db, db ? "" : db.error().text().c_str());
    const auto rows = (*db)->trials(std::nullopt, std::nullopt, {}, -1, true);
    QVERIFY(rows);
    std::vector<int64_t> numbers;
    for (const TrialRow& row : *rows) numbers.push_back(row.number);
    QVERIFY((numbers == std::vector<int64_t>{1, 3, 5, 6}));
    QVERIFY(rows->at(0).record.result.verdict);
    QCOMPARE(rows->at(0).record.result.samples_s.size(), size_t{3});
    QVERIFY(QFile::exists(QString::fromStdString(path_ + ".v7.backup")));
  }

  /// Format 11 did not know how long arguments were filled and results compared.
  void stage_times_come_to_older_files() {
    fill(4);
    {
      SQLite::Database raw(path_, SQLite::OPEN_READWRITE);
      Damage ignored;
      add_row_checks(raw, ignored);
      for (const char* column : {"fill_s", "verify_s"}) raw.exec(std::string("ALTER TABLE trial DROP COLUMN ") + column);
      raw.exec("UPDATE trial SET checksum = row_checksum(id, session_id, task_id, number, space, config_index, steps_hash, config_json, steps_json, status, message, seconds, "
               "flagged, inner_runs, censored, verified, max_rel_error, build_s, load_s, run_s, timestamp_s, final_s, final_low, final_high, predicted, predicted_after, "
               "predicted_by, weights, samples_checksum, record_hash)");
      raw.exec("UPDATE trial SET load_s = 99 WHERE number = 3");
      raw.exec("ALTER TABLE model_task DROP COLUMN weights");
      raw.exec("PRAGMA user_version = 11");
    }
    const auto db = Database::open(path_);
    QVERIFY2(db, db ? "" : db.error().text().c_str());
    auto timed = trial(task(), 5);
    timed.result.fill_s = 0.25, timed.result.verify_s = 0.5, timed.result.run_s = 2;
    QVERIFY((*db)->put_trials(SessionId{1}, TaskId{1}, {timed}));
    const auto rows = (*db)->outcomes(SessionId{1}, TaskId{1}, 0, -1);
    QVERIFY(rows);
    std::vector<int64_t> numbers;
    for (const TrialOutcome& row : *rows) numbers.push_back(row.number);
    QVERIFY((numbers == std::vector<int64_t>{1, 2, 4, 5}));
    QCOMPARE(rows->front().fill_s, 0.0);
    QCOMPARE(rows->back().fill_s, 0.25);
    QCOMPARE(rows->back().verify_s, 0.5);
    QCOMPARE((*db)->trial(SessionId{1}, TaskId{1}, 5)->value().record.result.verify_s, 0.5);
    QVERIFY(QFile::exists(QString::fromStdString(path_ + ".v11.backup")));
  }
};

QTEST_APPLESS_MAIN(RowChecksTest)
#include "row_checks_test.moc"
