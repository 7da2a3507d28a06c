// SPDX-License-Identifier: Apache-2.0
#include "db/migrate.h"

#include <QtTest>

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
