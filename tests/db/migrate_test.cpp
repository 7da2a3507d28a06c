// SPDX-License-Identifier: Apache-2.0
#include "db/migrate.h"

#include <QtTest>
#include <array>
#include <span>

using namespace tw;
using namespace tw::db;

class MigrateTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void embedded_migrations_have_no_gaps() {
    const auto& all = embedded_migrations();
    QVERIFY(!all.empty());
    for (size_t i = 0; i < all.size(); ++i) QCOMPARE(all[i].number, static_cast<int>(i) + 1);
    QCOMPARE(all[0].name, "0001_initial");
  }
  void what_is_missing_is_applied_after_a_backup() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a").toStdString(), backup = dir.filePath("b").toStdString();
    const std::vector<Migration> first = {{1, "0001", "CREATE TABLE a(x INTEGER); INSERT INTO a VALUES(7);"}};
    const std::vector<Migration> both = {first[0], {2, "0002", "ALTER TABLE a ADD COLUMN y INTEGER DEFAULT 1;"}};
    SQLite::Database c(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    QVERIFY(migrate(c, *check_version(c, path, 1), first, backup));
    QVERIFY(!QFile::exists(QString::fromStdString(backup)));
    QVERIFY(migrate(c, *check_version(c, path, 2), both, backup));
    QCOMPARE(c.execAndGet("SELECT x + y FROM a").getInt(), 8);
    QCOMPARE(*check_version(c, path, 2), 2);
    SQLite::Database old(backup);
    QCOMPARE(*check_version(old, backup, 2), 1);
    QCOMPARE(old.execAndGet("SELECT x FROM a").getInt(), 7);
    QVERIFY(!check_version(c, path, 1));
  }
  void progress_is_told_and_a_stop_changes_nothing() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a").toStdString(), backup = dir.filePath("b").toStdString();
    // The last step would take minutes.
    const std::vector<Migration> all = {{1, "0001", "CREATE TABLE a(x INTEGER); INSERT INTO a VALUES(7);"},
                                        {2, "0002", "ALTER TABLE a ADD COLUMN y INTEGER DEFAULT 1;"},
                                        {3, "0003", "INSERT INTO a(x) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT max(i) FROM n;"}};
    SQLite::Database c(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    const auto first = std::span(all).first(1), two = std::span(all).first(2);
    QVERIFY(migrate(c, 0, {first.begin(), first.end()}, backup));
    std::vector<std::array<int, 4>> told;
    StopSource stop;
    const Upgrade upgrade{[&](int from, int to, int done, int steps) {
                            told.push_back({from, to, done, steps});
                            if (done == 2) stop.request_stop();
                          },
                          stop.get_token()};
    const auto stopped = migrate(c, 1, all, backup, upgrade);
    QVERIFY(!stopped && stopped.error().code == ErrorCode::cancelled);
    QVERIFY2(stopped.error().message.find("it is as it was") != std::string::npos, stopped.error().message.c_str());
    QVERIFY(told == (std::vector<std::array<int, 4>>{{1, 3, 0, 3}, {1, 3, 1, 3}, {1, 3, 2, 3}}));
    QCOMPARE(*check_version(c, path, 3), 1);
    QCOMPARE(c.execAndGet("SELECT count(*) FROM pragma_table_info('a')").getInt(), 1);
    // Nor does one that comes before anything is done; and afterwards the connection is as any other.
    QFile::remove(QString::fromStdString(backup));
    const auto early = migrate(c, 1, {two.begin(), two.end()}, backup, upgrade);
    QVERIFY(!early && early.error().code == ErrorCode::cancelled);
    QVERIFY(!QFile::exists(QString::fromStdString(backup)));
    QVERIFY(migrate(c, 1, {two.begin(), two.end()}, backup));
    QCOMPARE(*check_version(c, path, 3), 2);
  }
  void a_failing_migration_changes_nothing() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a").toStdString();
    const std::vector<Migration> bad = {{1, "0001", "CREATE TABLE a(x INTEGER);"}, {2, "0002", "CREATE TABLE b(x INTEGER); CREATE TABLE a(x INTEGER);"}};
    SQLite::Database c(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    QVERIFY(!migrate(c, 0, bad, path + ".backup"));
    QCOMPARE(c.execAndGet("SELECT count(*) FROM sqlite_schema").getInt(), 0);
    QCOMPARE(*check_version(c, path, 2), 0);
  }
};

QTEST_APPLESS_MAIN(MigrateTest)
#include "migrate_test.moc"
