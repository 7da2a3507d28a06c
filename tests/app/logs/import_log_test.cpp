// SPDX-License-Identifier: Apache-2.0
#include "app/logs/import_log.h"

#include <QtTest>
#include <thread>

#include "engine/base/json.h"
#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::logs;

namespace {

QByteArray ansor(int step, double cost, int error = 0, const char* workload = "abc") {
  const Json line = {{"i", Json::array({Json::array({std::string("[\"") + workload + "\", 1, 28]", "llvm -keys=cpu"}),
                                        Json::array({Json::array(), Json::array({Json::array({"SP", step})})})})},
                     {"r", Json::array({Json::array({cost}), error, 0.5, 1.6e9 + step})},
                     {"v", "v0.6"}};
  return QByteArray::fromStdString(line.dump()) + "\n";
}

QByteArray autotvm(const char* name, int64_t index, double cost, int error = 0) {
  const Json line = {
      {"input", Json::array({"llvm -mcpu=core-avx2", name, Json::array({Json::array({"TENSOR", Json::array({4, 64}), "float32"})}), Json::object()})},
      {"config", {{"index", index}, {"code_hash", nullptr}, {"entity", Json::array({Json::array({"tile", "sp", Json::array({-1, index})})})}}},
      {"result", Json::array({Json::array({cost}), error, 0.5, 1.6e9})},
      {"version", 0.2},
      {"tvm_version", "0.9.0"}};
  return QByteArray::fromStdString(line.dump()) + "\n";
}

QByteArray meta_schedule(int workload, int tile, const char* seconds) {
  const Json line = Json::array({workload, Json::array({Json::array({Json::array({Json::array({"GetLoops", Json::array(), Json::array(), Json::array({"l0"})})}),
                                                                     Json::array({Json::array({0, Json::array({tile})})})}),
                                                        Json::parse(seconds), {{"kind", "llvm"}}, Json::array({Json::array({"TENSOR", "float32", Json::array({8, 16})})})})});
  return QByteArray::fromStdString(line.dump()) + "\n";
}

}  // namespace

class ImportLogTest : public QObject {
  Q_OBJECT
  QTemporaryDir dir_;
  std::shared_ptr<db::Database> db_;

  std::string file(const char* name, const QByteArray& bytes) {
    QFile f(dir_.filePath(QLatin1String(name)));
    if (!f.open(QIODevice::WriteOnly)) return {};
    f.write(bytes);
    return f.fileName().toStdString();
  }
  Expected<ImportedLog> imported(const std::string& path, const ImportOptions& options, ImportProgress& progress, const StopToken& stop = {}) {
    TW_TRY(Log log, read_log(*db_, path, options, stop));
    return store_log(*db_, std::move(log), options, stop, progress);
  }

 private Q_SLOTS:
  void init() {
    static int count = 0;
    auto db = db::Database::open(dir_.filePath(QString::number(++count) + ".twdb").toStdString());
    QVERIFY(db);
    db_ = *db;
  }

  void formatsAreToldApart() {
    QCOMPARE(sniff_log(("# a comment\n\n" + autotvm("dense.x86", 1, 1e-3)).toStdString()), LogFormat::autotvm);
    QCOMPARE(sniff_log(("garbage\n" + ansor(1, 1e-3)).toStdString()), LogFormat::ansor);
    QCOMPARE(sniff_log("garbage\n"), LogFormat::autotvm);
    QCOMPARE(read_log(*db_, "/nowhere/log.json", {}, {}).error().code, ErrorCode::not_found);
  }

  /// Its workloads stand in a file beside it; equal ones of several lines are one task, and without it each line's number is one.
  void metaScheduleIsForeign() {
    const QByteArray lines = meta_schedule(0, 4, "[1e-3]") + meta_schedule(0, 8, "[2e-3, 3e-3]") + meta_schedule(1, 4, "[5e-4]") + meta_schedule(0, 16, "[10000000000]") + "[1]\n";
    const std::string path = file("database_tuning_record.json", lines);
    QCOMPARE(sniff_log(lines.toStdString()), LogFormat::meta_schedule);
    const auto alone = read_log(*db_, path, {}, {});
    QVERIFY2(alone, alone ? "" : alone.error().text().c_str());
    QCOMPARE(alone->content.tasks.size(), size_t{2});
    QCOMPARE(alone->content.problems.size(), size_t{1});
    file("database_workload.json", "[\"111\",\"x\"]\n[\"222\",\"y\"]\n");
    ImportProgress progress;
    const auto stored = imported(path, {}, progress);
    QVERIFY2(stored, stored ? "" : stored.error().text().c_str());
    QCOMPARE(stored->content.tasks.size(), size_t{2});
    QCOMPARE(stored->content.tasks[0].name, std::string("meta_schedule 111 float32[8, 16]"));
    QCOMPARE(stored->content.tasks[0].records, int64_t{3});
    QCOMPARE(stored->content.tasks[0].failures, int64_t{1});
    QVERIFY(!stored->content.tasks[0].computable);
    QCOMPARE(stored->stored, int64_t{4});
    QCOMPARE(stored->failures, int64_t{1});
    QCOMPARE(imported(path, {}, progress)->there, int64_t{4});
  }

  void aPreviewStoresNothing() {
    const std::string path = file("p.json", ansor(1, 1e-3) + ansor(2, 2e-3) + ansor(3, 1e10, 6) + ansor(1, 5e-4, 0, "other") + "broken\n");
    const auto log = read_log(*db_, path, {}, {});
    QVERIFY2(log, log ? "" : log.error().text().c_str());
    const LogContent* content = &log->content;
    QCOMPARE(content->format, LogFormat::ansor);
    QCOMPARE(content->lines, int64_t{5});
    QCOMPARE(content->tasks.size(), size_t{2});
    QCOMPARE(content->tasks[0].records, int64_t{3});
    QCOMPARE(content->tasks[0].failures, int64_t{1});
    QVERIFY(!content->tasks[0].computable);
    QCOMPARE(content->problems.size(), size_t{1});
    QCOMPARE(content->problems[0].line, int64_t{5});
    QVERIFY(db_->tasks()->empty() && db_->sessions()->empty());
  }

  void trialsOfAnsorAreStored() {
    const std::string path = file("s.json", ansor(1, 1e-3) + ansor(2, 2e-3) + ansor(3, 1e10, 6) + ansor(2, 1.5e-3) + ansor(1, 5e-4, 0, "other"));
    ImportProgress progress;
    const auto done = imported(path, {}, progress);
    QVERIFY2(done, done ? "" : done.error().text().c_str());
    QCOMPARE(done->stored, int64_t{4});
    QCOMPARE(done->failures, int64_t{1});
    QCOMPARE(progress.stored.load(), int64_t{4});
    QCOMPARE(progress.records.load(), int64_t{4});
    QCOMPARE(done->sessions.size(), size_t{1});
    const auto tasks = *db_->tasks_of(done->model);
    QCOMPARE(tasks.size(), size_t{2});
    QVERIFY(tasks[0].task.dag_text.empty());
    QCOMPARE(tasks[0].task.target, std::string("llvm -keys=cpu"));
    QCOMPARE(tasks[0].task.counts().best_s, 1e-3);  // though nothing was compared with a reference
    const auto outcomes = *db_->outcomes(done->sessions[0], tasks[0].task.id, 0, -1);
    QCOMPARE(outcomes.size(), size_t{3});
    QCOMPARE(outcomes[1].seconds, 1.5e-3);  // the faster of two trials of a point
    QCOMPARE(outcomes[2].status, records::Status::build_timeout);
  }

  /// Lines of one computation for a processor and for a GPU: the ones are trials of the processor's task, the others are foreign, in any order.
  void linesForAnotherKindOfTargetAreForeign() {
    const auto line = [](const char* target, double cost) {
      const std::string key = "[\"f4380bb1dc62422a69ad4a1a9771f927\", 1, 28, 28, 512, 1, 1, 512, 1024, 1, 14, 14, 1024]";
      const Json json = {{"i", Json::array({Json::array({key, target}), Json::array({Json::array(), Json::array()})})},
                         {"r", Json::array({Json::array({cost}), 0, 0.5, 1.6e9})},
                         {"v", "v0.6"}};
      return QByteArray::fromStdString(json.dump()) + "\n";
    };
    const QByteArray ours = line("llvm -mcpu=core-avx2", 1e-3), theirs = line("cuda -arch=sm_80", 1e-6);
    ImportOptions options;
    const Target here;
    options.target = &here;
    for (const QByteArray& text : {ours + theirs, theirs + ours}) {
      ImportProgress progress;
      const auto done = imported(file("kinds.json", text), options, progress);
      QVERIFY2(done, done ? "" : done.error().text().c_str());
      int known = 0;
      for (const auto& t : *db_->tasks_of(done->model)) {
        if (t.task.dag_text.empty()) continue;
        ++known;
        QCOMPARE(t.task.counts().best_s, 1e-3);
      }
      QCOMPARE(known, 1);
    }
  }

  void whatIsThereIsCountedAndNotStoredAgain() {
    const QByteArray lines = ansor(1, 1e-3) + ansor(2, 2e-3) + ansor(3, 1e10, 6) + ansor(1, 5e-4, 0, "other");
    const std::string path = file("again.json", lines);
    ImportProgress progress;
    const auto done = imported(path, {}, progress);
    QCOMPARE(done->stored, int64_t{4});
    for (int time = 0; time < 2; ++time) {
      const auto again = imported(path, {}, progress);
      QVERIFY2(again, again ? "" : again.error().text().c_str());
      QCOMPARE(again->model, done->model);
      QCOMPARE(again->stored, int64_t{0});
      QCOMPARE(again->there, int64_t{4});
      QVERIFY(again->sessions.empty());
    }
    QCOMPARE(db_->sessions()->size(), size_t{1});
    // The log went on, and a point was measured again.
    const auto longer = imported(file("again.json", lines + ansor(4, 3e-3) + ansor(2, 1e-3)), {}, progress);
    QCOMPARE(longer->stored, int64_t{2});
    QCOMPARE(longer->there, int64_t{3});
    QCOMPARE(db_->sessions()->size(), size_t{2});
  }

  void anImportThatWasCutOffGivesWhatIsMissing() {
    QByteArray text;
    for (int i = 0; i < 5000; ++i) text += ansor(i, 1e-3);
    const std::string path = file("cut.json", text);
    StopSource stop;
    ImportProgress progress;
    std::jthread watcher([&](const StopToken& over) {
      while (progress.stored == 0 && !over.stop_requested()) std::this_thread::yield();
      stop.request_stop();
    });
    const auto cut = imported(path, {}, progress, stop.get_token());
    const auto rest = imported(path, {}, progress);
    QVERIFY(cut && rest);
    QCOMPARE(rest->there, cut->stored);
    QCOMPARE(rest->stored + cut->stored, int64_t{5000});
    QCOMPARE(db_->trials(std::nullopt, std::nullopt)->size(), size_t{5000});
  }

  void linesOfAutotvmWithoutAComputationAreForeign() {
    const std::string path = file("t.json", autotvm("strange.x86", 1, 1e-3) + autotvm("strange.x86", 2, 1e9, 4));
    ImportProgress progress;
    const auto done = imported(path, {}, progress);
    QVERIFY2(done, done ? "" : done.error().text().c_str());
    QCOMPARE(done->stored, int64_t{2});
    QCOMPARE(done->content.tasks.size(), size_t{1});
    QVERIFY(!done->content.tasks[0].computable);
    ImportOptions strict;
    strict.foreign = false;
    const auto none = imported(path, strict, progress);
    QCOMPARE(none->stored, int64_t{0});
    QCOMPARE(none->content.problems.size(), size_t{2});
    QCOMPARE(none->content.problems[0].kind, std::string("unknown_task"));
  }

  void aStopKeepsWhatWasStored() {
    QByteArray text;
    for (int i = 0; i < 5000; ++i) text += ansor(i, 1e-3);
    const std::string path = file("u.json", text);
    StopSource stop;
    stop.request_stop();
    ImportProgress progress;
    const auto early = read_log(*db_, path, {}, stop.get_token());
    QCOMPARE(early.error().code, ErrorCode::cancelled);
    QVERIFY(db_->sessions()->empty());
    // While it stores.
    StopSource later;
    std::jthread watcher([&](const StopToken& over) {
      while (progress.stored == 0 && !over.stop_requested()) std::this_thread::yield();
      later.request_stop();
    });
    const auto done = imported(path, {}, progress, later.get_token());
    QVERIFY(done);
    const auto sessions = *db_->sessions();
    QCOMPARE(sessions.size(), size_t{1});
    QCOMPARE(sessions[0].trials, done->stored);
    QCOMPARE(sessions[0].state, std::string(done->stored < 5000 ? "cancelled" : "done"));
  }

  void manyLinesASecond() {
    QByteArray text;
    for (int i = 0; i < 20'000; ++i) text += ansor(i, 1e-3);
    QElapsedTimer timer;
    timer.start();
    const auto log = read_log(*db_, file("v.json", text), {}, {});
    QCOMPARE(log->content.tasks[0].records, int64_t{20'000});
    qInfo("20000 lines: %lld ms", timer.elapsed());
  }
};

QTEST_APPLESS_MAIN(ImportLogTest)
#include "import_log_test.moc"
