// SPDX-License-Identifier: Apache-2.0
#include "engine/records/autotvm_log.h"

#include <QtTest>

#include "engine/base/json.h"
#include "engine/records/memory_store.h"

using namespace tw;
using namespace tw::records;

namespace {

const std::string kLine =
    R"({"input": ["llvm", "n", [], {}], "config": {"index": 0, "code_hash": null, "entity": []}, "result": [[0.5], 0, 1.0, 1.0], "version": 0.2, "tvm_version": "0.9.0"})";

Task tiny_task() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {4}, kFloat32);
  Task task;
  task.key = "k";
  task.name = "tiny";
  task.dag = std::move(b).finish({b.compute("y", {4}, [&](const te::Indices& i) { return x.at(i) + x.at(i); })});
  return task;
}

Record trial(int64_t index) {
  Record r;
  r.task_key = "k";
  r.candidate = {"s", index, "[]", {}};
  r.result.status = Status::ok;
  r.result.samples_s = {1.0 + static_cast<double>(index)};
  r.result.verified = true;
  return r;
}

class FullSink : public RecordSink {
 public:
  Expected<void> store(const Task&, const std::vector<Record>&) override { return Error(ErrorCode::no_space, "Full"); }
};

}  // namespace

class AutotvmLogTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void every_bad_line_is_listed_and_every_good_one_kept() {
    const std::string text =
        "\xEF\xBB\xBF" + kLine + "\r\n# comment\n\n" + kLine + kLine + "\nnonsense\n" + kLine + "\n{\"input\": 3, \"version\": 0.2}\n" + kLine.substr(0, 40);
    const AutotvmLog log = read_autotvm(text);
    QCOMPARE(log.records.size(), size_t{4});
    QCOMPARE(log.lines, 8);
    QCOMPARE(log.comments, 1);
    QCOMPARE(log.problems.size(), size_t{3});
    QCOMPARE(log.problems[0].line, 5);
    QCOMPARE(text.substr(static_cast<size_t>(log.problems[0].offset), 8), std::string("nonsense"));
    QCOMPARE(log.problems[1].line, 7);
    QCOMPARE(log.problems[2].line, 8);
    QVERIFY(log.problems[2].reason.find("cut off") != std::string::npos);
    QCOMPARE(log.records[1].line, 4);
    QCOMPARE(log.records[2].line, 4);
  }
  void problems_have_a_kind() {
    const std::vector<std::pair<std::string, std::string>> kinds = {
        {"nonsense", "not_json"},
        {"{\"version\": 0.3}", "protocol"},
        {R"({"i": ["llvm", "n", [], {}, [], {}], "r": [[1], 0, 1, 1], "v": 0.1})", "protocol"},
        {R"({"i": [["[]", "llvm"], [[], []]], "r": [[1], 0, 1, 1], "v": "v0.6"})", "other_format"},
        {"llvm\tgASV\tgASV\tgASV\t0.2\t0.9.0", "pickled"},
        {"{\"version\": 0.2}", "malformed"},
        {std::string(kMaxLineBytes + 1, 'x'), "too_long"},
        {kLine.substr(0, 50), "cut_off"},
    };
    std::string text;
    for (const auto& [line, kind] : kinds) text += (text.empty() ? "" : "\n") + line;
    const AutotvmLog log = read_autotvm(text);
    QCOMPARE(log.problems.size(), kinds.size());
    for (size_t i = 0; i < kinds.size(); ++i) QCOMPARE(log.problems[i].kind, kinds[i].second);
  }
  void a_whole_last_line_needs_no_newline() {
    const AutotvmLog log = read_autotvm(kLine);
    QCOMPARE(log.records.size(), size_t{1});
    QVERIFY(log.problems.empty());
  }
  void one_bad_object_on_a_shared_line_costs_only_itself() {
    const AutotvmLog log = read_autotvm(kLine + "{\"version\": 0.2}" + kLine + "\n");
    QCOMPARE(log.records.size(), size_t{2});
    QCOMPARE(log.problems.size(), size_t{1});
  }
  void any_bytes_are_survived() {
    uint64_t state = 1;
    for (int round = 0; round < 300; ++round) {
      std::string text = kLine + "\n" + kLine;
      for (int i = 0; i < 8; ++i) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        text[(state >> 33) % text.size()] = static_cast<char>(state >> 25);
      }
      const AutotvmLog log = read_autotvm(text);
      QVERIFY(log.lines >= 1);
      for (const LineProblem& p : log.problems) QVERIFY(!p.reason.empty());
    }
  }
  void the_sink_writes_what_the_reader_reads() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("log.json").toStdString();
    const Task task = tiny_task();
    {
      auto sink = autotvm_log_sink(path);
      QVERIFY(sink);
      MemoryStore memory;
      const auto both = tee_sink(memory, **sink);
      QVERIFY(both->store(task, {trial(0), trial(1)}));
      QVERIFY(both->store(task, {trial(2)}));
      QCOMPARE(memory.records().size(), size_t{3});
      QCOMPARE((*memory.best("k", records::Weights::unknown))->candidate.index, 0);
    }
    const auto log = read_autotvm_file(path);
    QVERIFY(log);
    QCOMPARE(log->records.size(), size_t{3});
    QCOMPARE(log->records[2].record.candidate.index, 2);
    QCOMPARE(log->records[2].record.task_key, std::string("k"));
  }
  /// A comment, once for each task, which reading skips.
  void simulated_times_are_called_so() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("gpu.json").toStdString();
    Task task = tiny_task();
    task.target = parse_target("cuda:a100").value();
    {
      auto sink = autotvm_log_sink(path, true);
      QVERIFY(sink);
      QVERIFY((*sink)->store(task, {trial(0)}));
      QVERIFY((*sink)->store(task, {trial(1)}));
    }
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QVERIFY(text.startsWith("# tiny for NVIDIA A100"));
    QCOMPARE(text.count("simulated"), 1);
    const auto log = read_autotvm_file(path);
    QVERIFY(log);
    QCOMPARE(log->records.size(), size_t{2});
    QCOMPARE(log->comments, 1);
  }
  void the_winner_of_the_finals_comes_again() {
    const std::string path = QTemporaryDir().path().toStdString() + ".json";
    std::vector<Record> finalists = {trial(0), trial(1)};
    finalists[0].result.verdict = Verdict{finalists[0].result.seconds(), 1, 1};
    finalists[1].result.verdict = Verdict{finalists[0].result.seconds() * 0.9, 0.88, 0.92};
    {
      auto sink = autotvm_log_sink(path);
      QVERIFY(sink);
      QVERIFY((*sink)->settle(tiny_task(), {finalists[0]}));
      QVERIFY((*sink)->settle(tiny_task(), finalists));
    }
    const auto log = read_autotvm_file(path);
    QVERIFY(log);
    QCOMPARE(log->records.size(), size_t{1});
    QCOMPARE(log->records[0].record.result.seconds(), finalists[1].result.decided_s());
    QFile::remove(QString::fromStdString(path));
  }
  void the_first_sinks_error_keeps_records_from_the_second() {
    FullSink full;
    MemoryStore memory;
    const auto result = tee_sink(full, memory)->store(tiny_task(), {trial(0)});
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::no_space);
    QVERIFY(memory.records().empty());
  }
  void what_goes_beside_may_fail_and_says_so_once() {
    FullSink full;
    MemoryStore memory;
    std::vector<Error> told;
    const auto lenient = lenient_sink(full, [&](const Error& e) { told.push_back(e); });
    const auto both = tee_sink(*lenient, memory);
    for (int i = 0; i < 3; ++i) QVERIFY(both->store(tiny_task(), {trial(i)}));
    QVERIFY(both->settle(tiny_task(), {trial(0)}));
    QCOMPARE(told.size(), size_t{1});
    QCOMPARE(told[0].code, ErrorCode::no_space);
    QCOMPARE(memory.records().size(), size_t{3});
  }
  void a_missing_file_is_not_found() {
    const auto log = read_autotvm_file("/nonexistent/log");
    QVERIFY(!log);
    QCOMPARE(log.error().code, ErrorCode::not_found);
  }
};

QTEST_APPLESS_MAIN(AutotvmLogTest)
#include "autotvm_log_test.moc"
