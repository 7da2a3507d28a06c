// SPDX-License-Identifier: Apache-2.0
#include "app/logs/session_page.h"

#include <QtTest>

#include "app/logs/page.h"
#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db::fixture;

class SessionPageTest : public QObject {
  Q_OBJECT
  static bool stands_alone(const std::string& page) {
    const QString text = QString::fromStdString(page);
    for (const char* other : {"src=", "href=", "url(", "@import", "<script", "<link", "http:", "https:"})
      if (text.contains(QLatin1String(other))) return false;
    return text.startsWith(QLatin1String("<!doctype html>")) && text.endsWith(QLatin1String("</html>\n"));
  }
 private Q_SLOTS:
  void dates_have_their_zone() { QCOMPARE(logs::date_text(1700000000), std::string("2023-11-14 22:13 UTC")); }

  void a_session_is_told_with_its_times_failures_and_notes() {
    QTemporaryDir dir;
    Workspace w;
    w.db = db::Database::open(dir.filePath("a.twdb").toStdString()).value();
    QVERIFY(w.fill());
    QVERIFY(w.db->put_trials(w.session, w.task_id, {trial(w.task, -1, 4e-3), trial(w.task, 3, 2e-3), trial(w.task, 4, 1, records::Status::run_crash)}));
    QVERIFY(w.db->put_mark({"session:" + std::to_string(w.session.value), "<b>first</b> try", {"warm"}, 0}));
    const auto page = logs::session_page(*w.db, w.session, {});
    QVERIFY2(page, page ? "" : page.error().text().c_str());
    QVERIFY(stands_alone(*page));
    const QString text = QString::fromStdString(*page);
    const double best = w.db->tasks().value()[0].counts().best_s;
    QVERIFY(best > 0 && best < 4e-3);
    QVERIFY(text.contains(QStringLiteral("%1 ms").arg(best * 1e3, 0, 'f', 2)));
    QVERIFY(text.contains(QStringLiteral("<td>2.00\u00D7</td>")));
    QVERIFY(text.contains(QStringLiteral("&lt;b&gt;first&lt;/b&gt; try")) && !text.contains(QStringLiteral("<b>first")));
    QVERIFY(text.contains(QStringLiteral("#warm")));
    QCOMPARE(text.count(QStringLiteral("<circle")), 2);
    QVERIFY(text.contains(QLatin1String(records::status_name(records::Status::run_crash))));
    QCOMPARE(logs::session_page(*w.db, SessionId{77}, {}).error().code, ErrorCode::not_found);
    std::stop_source stop;
    stop.request_stop();
    QCOMPARE(logs::session_page(*w.db, w.session, stop.get_token()).error().code, ErrorCode::cancelled);
  }

  void a_trial_is_told_with_the_code_that_its_steps_make() {
    QTemporaryDir dir;
    Workspace w;
    w.db = db::Database::open(dir.filePath("a.twdb").toStdString()).value();
    QVERIFY(w.fill());
    QVERIFY(w.db->put_trials(w.session, w.task_id, {trial(w.task, -1, 4e-3), trial(w.task, 3, 2e-3), trial(w.task, 4, 1, records::Status::build_fail)}));
    const auto page = logs::trial_page(*w.db, w.session, w.task_id, 2);
    QVERIFY2(page, page ? "" : page.error().text().c_str());
    QVERIFY(stands_alone(*page));
    const QString text = QString::fromStdString(*page);
    for (const char* part : {"<td>2.00\u00D7</td>", "tile_x", "split", "<summary>Loops</summary>", "<summary>LLVM IR</summary>", "<summary>Assembly</summary>"})
      QVERIFY2(text.contains(QString::fromUtf8(part)), part);
    const auto failed = logs::trial_page(*w.db, w.session, w.task_id, 3);
    QVERIFY(failed && QString::fromStdString(*failed).contains(QStringLiteral("It broke")));
    QCOMPARE(logs::trial_page(*w.db, w.session, w.task_id, 9).error().code, ErrorCode::not_found);
  }

  void a_task_of_another_program_has_no_code() {
    QTemporaryDir dir;
    Workspace w;
    w.db = db::Database::open(dir.filePath("a.twdb").toStdString()).value();
    QVERIFY(w.fill());
    const TaskId foreign = w.db->put_foreign_task("foreign", "theirs", "cuda").value();
    records::Record record = trial(w.task, 3, 2e-3);
    record.task_key = "foreign";
    QVERIFY(w.db->put_trials(w.session, foreign, {record}));
    const auto page = logs::trial_page(*w.db, w.session, foreign, 1);
    QVERIFY2(page, page ? "" : page.error().text().c_str());
    QVERIFY(QString::fromStdString(*page).contains(QStringLiteral("another program")));
  }
};

QTEST_APPLESS_MAIN(SessionPageTest)
#include "session_page_test.moc"
