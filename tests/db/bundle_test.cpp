// SPDX-License-Identifier: Apache-2.0
#include "db/bundle.h"

#include <QtTest>

#include "db/maintenance.h"
#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db;
using namespace tw::db::fixture;

class BundleTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void a_bundle_holds_its_sessions_and_what_belongs_to_them_alone() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a.twdb").toStdString(), bundle = dir.filePath("b.twz").toStdString();
    Workspace w;
    w.db = Database::open(path).value();
    QVERIFY(w.fill());
    const SessionId shared = w.session;
    QVERIFY(w.db->put_trials(shared, w.task_id, {trial(w.task, -1, 4e-3), trial(w.task, 3, 3e-3)}));
    const ModelId secret = w.db->put_model("secret", "/home/someone/secret.onnx", "other", Json::object()).value();
    const records::Task hidden = fixture::task("hidden", 8);
    const TaskId hidden_id = w.db->put_task(hidden).value();
    QVERIFY(w.db->link_task(secret, hidden_id, 1, records::Weights::unknown));
    const SessionId kept = w.db->begin_session(secret, "genetic", hidden.target.str(), Json{{"seed", 2}}, Json::object()).value();
    QVERIFY(w.db->put_trials(kept, hidden_id, {trial(hidden, 5, 1e-3)}));
    QVERIFY(w.db->put_trials(kept, w.task_id, {trial(w.task, 7, 1e-3)}));
    QVERIFY(w.db->put_mark({"task:" + hidden.key, "not for others", {}, 0}));
    QVERIFY(w.db->put_mark({"session:" + std::to_string(shared.value), "for all", {}, 0}));

    const auto report = pack_bundle(path, std::vector{shared}, bundle);
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QCOMPARE(report->sessions, 1);
    QCOMPARE(report->trials, 2);
    QVERIFY(is_bundle(bundle));
    QVERIFY(!is_bundle(path));

    const auto read = Database::open(bundle, Mode::read_only);
    QVERIFY2(read, read ? "" : read.error().text().c_str());
    const auto sessions = (*read)->sessions().value();
    QCOMPARE(sessions.size(), size_t{1});
    QCOMPARE(sessions[0].id, shared);
    QCOMPARE(sessions[0].name, "for all");
    QCOMPARE((*read)->models().value().size(), size_t{1});
    const auto tasks = (*read)->tasks().value();
    QCOMPARE(tasks.size(), size_t{1});
    QCOMPARE(tasks[0].counts().best_s, 3e-3);  // not what the session that stayed at home found
    QCOMPARE((*read)->marks().value().size(), size_t{1});
    QCOMPARE((*read)->outcomes(shared, tasks[0].id, 0, -1).value().size(), size_t{2});
    QCOMPARE(w.db->sessions().value().size(), size_t{2});  // the workspace is as it was

    const std::string copy = dir.filePath("c.twdb").toStdString();
    QVERIFY(unpack_bundle(bundle, copy));
    QVERIFY(check_workspace(copy, {}).value().sound());
    QCOMPARE(unpack_bundle(bundle, copy).error().code, ErrorCode::invalid_argument);  // never in place of a file
    QVERIFY(Database::open(copy));
  }

  void paths_stay_at_home() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a.twdb").toStdString(), bundle = dir.filePath("b.twz").toStdString();
    Workspace w;
    w.db = Database::open(path).value();
    QVERIFY(w.fill());
    QVERIFY(w.db->put_model("net", "/home/someone/net.onnx", "key", Json{{"operators", 3}}));
    QVERIFY(pack_bundle(path, {}, bundle));
    QCOMPARE(Database::open(bundle, Mode::read_only).value()->models().value()[0].path, "net.onnx");
  }

  void what_cannot_be_done_is_said() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a.twdb").toStdString(), bundle = dir.filePath("b.twz").toStdString();
    {
      Workspace w;
      w.db = Database::open(path).value();
      QVERIFY(w.fill());
      QVERIFY(w.db->put_trials(w.session, w.task_id, {trial(w.task, 3)}));
    }
    QCOMPARE(pack_bundle(path, std::vector{SessionId{99}}, bundle).error().code, ErrorCode::not_found);
    QVERIFY(!QFile::exists(dir.filePath("b.twz")));
    QCOMPARE(pack_bundle(path, {}, path).error().code, ErrorCode::invalid_argument);  // a workspace is no bundle to replace
    QVERIFY(pack_bundle(path, {}, bundle));
    QCOMPARE(Database::open(bundle).error().code, ErrorCode::io_error);  // for reading only
    QVERIFY(check_workspace(bundle, {}).error().message.find("tw db unpack") != std::string::npos);
    QCOMPARE(unpack_bundle(path, dir.filePath("c.twdb").toStdString()).error().code, ErrorCode::parse_error);

    QFile file(dir.filePath("b.twz"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray whole = file.readAll();
    const auto opened = [&](const QByteArray& bytes) {
      QFile changed(dir.filePath("changed.twz"));
      if (!changed.open(QIODevice::WriteOnly | QIODevice::Truncate) || changed.write(bytes) != bytes.size()) return ErrorCode::no_space;
      changed.close();
      const auto db = Database::open(changed.fileName().toStdString(), Mode::read_only);
      if (!db && db.error().message.find("repair") != std::string::npos) return ErrorCode::internal;  // that is for workspaces
      return db ? ErrorCode::not_applicable : db.error().code;
    };
    QCOMPARE(opened(whole.first(whole.size() / 2)), ErrorCode::corrupt);
    QByteArray flipped = whole;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x10);
    QCOMPARE(opened(flipped), ErrorCode::corrupt);
    QCOMPARE(opened(whole + "more"), ErrorCode::parse_error);
    QCOMPARE(opened(whole.first(4)), ErrorCode::parse_error);
    QCOMPARE(opened(QByteArray::fromHex("28b52ffd2005290000") + "hello"), ErrorCode::parse_error);  // a frame of something else
  }
};

QTEST_APPLESS_MAIN(BundleTest)
#include "bundle_test.moc"
