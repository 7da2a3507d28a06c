// SPDX-License-Identifier: Apache-2.0
#include "app/logs/comparison_page.h"

#include <QtTest>

#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db::fixture;

class ComparisonPageTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void sessions_are_told_against_each_other() {
    QTemporaryDir dir;
    Workspace w;
    w.db = db::Database::open(dir.filePath("a.twdb").toStdString()).value();
    QVERIFY(w.fill());
    QVERIFY(w.db->put_trials(w.session, w.task_id, {trial(w.task, -1, 4e-3), trial(w.task, 3, 2e-3)}));
    const auto model = w.db->sessions().value()[0].model;
    const auto second = w.db->begin_session(model, "grid <b>", w.task.target.str(), Json{{"seed", 1}}, Json{{"cores", 2}});
    QVERIFY2(second, second ? "" : second.error().text().c_str());
    QVERIFY(w.db->put_trials(*second, w.task_id, {trial(w.task, -1, 4e-3), trial(w.task, 4, 1e-3)}));
    auto rows = w.db->sessions().value();
    QCOMPARE(logs::keep_comparable(rows), std::string());
    QCOMPARE(rows.size(), size_t{2});
    const auto comparison = logs::compare_sessions(*w.db, rows, {});
    QVERIFY2(comparison, comparison ? "" : comparison.error().text().c_str());
    const QString page = QString::fromStdString(logs::comparison_page(*comparison));
    for (const char* part : {"1.00 ms", "2.00 ms", "grid &lt;b&gt;", "<svg", "<h2>Sessions</h2>", "verdict"}) QVERIFY2(page.contains(QString::fromUtf8(part)), part);
    QVERIFY(!page.contains(QStringLiteral("grid <b>")));
    for (const char* asks : {"src=", "href=", "url(", "@import", "<script", "<link"}) QVERIFY2(!page.contains(QLatin1String(asks)), asks);
    QVERIFY(page.count(QStringLiteral("class=\"grid\" d=\"M84 ")) >= 4);  // one to four milliseconds: marks at more than powers of ten and their halves
    std::stop_source stop;
    stop.request_stop();
    QCOMPARE(logs::compare_sessions(*w.db, rows, stop.get_token()).error().code, ErrorCode::cancelled);
    // Times of another target say nothing beside them.
    rows.push_back(rows[0]);
    rows.back().target = "cuda";
    QVERIFY(!logs::keep_comparable(rows).empty());
    QCOMPARE(rows.size(), size_t{2});
  }
};

QTEST_APPLESS_MAIN(ComparisonPageTest)
#include "comparison_page_test.moc"
