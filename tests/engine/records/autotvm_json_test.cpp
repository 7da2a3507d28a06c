// SPDX-License-Identifier: Apache-2.0
#include "engine/records/autotvm_json.h"

#include <QtTest>

#include "engine/base/json.h"
#include "engine/records/best.h"

using namespace tw;
using namespace tw::records;

namespace {

// Lines as TVM 0.8 and 0.9 wrote them.
const char* const kDense =
    R"({"input": ["llvm -keys=cpu -link-params=0", "dense_pack.x86", [["TENSOR", [1, 768], "float32"], ["TENSOR", [768, 768], "float32"], null, "float32"], {}], "config": {"index": 481, "code_hash": null, "entity": [["tile_y", "sp", [-1, 1, 1]], ["tile_x", "sp", [-1, 96, 8]], ["tile_k", "sp", [-1, 4]], ["tile_inner", "sp", [-1, 1]]]}, "result": [[0.0003250793], 0, 0.20707058906555176, 1655872996.1723332], "version": 0.2, "tvm_version": "0.8.0"})";
const char* const kConv =
    R"({"input": ["llvm -keys=cpu -link-params=0", "conv2d_NCHWc.x86", [["TENSOR", [1, 2048, 8, 8], "float32"], ["TENSOR", [192, 2048, 1, 1], "float32"], [1, 1], [0, 0, 0, 0], [1, 1], "NCHW", "NCHW", "float32"], {}], "config": {"index": 909, "code_hash": null, "entity": [["tile_ic", "sp", [-1, 512]], ["tile_oc", "sp", [-1, 8]], ["tile_ow", "sp", [-1, 2]], ["tile_oh", "ot", 2]]}, "result": [[0.0002455258], 0, 0.436016321182251, 1657185426.3121867], "version": 0.2, "tvm_version": "0.8.0"})";
const char* const kDepthwise =
    R"({"input": ["cuda -keys=cuda,gpu -max_num_threads=1024 -thread_warp_size=32", "depthwise_conv2d_nchw.cuda", [["TENSOR", [1, 1024, 7, 7], "float32"], ["TENSOR", [1024, 1, 3, 3], "float32"], [1, 1], [1, 1, 1, 1], [1, 1], "float32"], {}], "config": {"index": 21230, "code_hash": null, "entity": [["tile_f", "sp", [-1, 1, 1, 2]], ["tile_y", "sp", [-1, 1, 7, 1]], ["tile_x", "sp", [-1, 1, 7, 1]], ["auto_unroll_max_step", "ot", 256], ["unroll_explicit", "ot", 1]]}, "result": [[4.15678960273747e-06], 0, 1.5117993354797363, 1657616355.6824133], "version": 0.2, "tvm_version": "0.8.0"})";
const char* const kFailure =
    R"({"input": ["llvm -keys=cpu", "dense_pack.x86", [["TENSOR", [1, 768], "float32"], ["TENSOR", [768, 768], "float32"], null, "float32"], {}], "config": {"index": 3, "code_hash": null, "entity": []}, "result": [[1000000000.0], 1, 0.41, 1655872996.2], "version": 0.2, "tvm_version": "0.9.0", "host": {"cores": 2}})";

Task dense_task(const std::string& key = "k1") {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {1, 768}, kFloat32), w = b.placeholder("w", {768, 768}, kFloat32, te::Role::constant);
  const te::Tensor d = b.reduce(
      "dense", {1, 768}, {768}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  Task task;
  task.key = key;
  task.name = "dense";
  task.dag = std::move(b).finish({b.compute("relu", {1, 768}, [&](const te::Indices& i) { return d.at(i) + d.at(i); })});
  task.target.cpu = "znver4";
  return task;
}

Record trial(Status status = Status::ok) {
  Record r;
  r.task_key = "k1";
  r.candidate.space = "dense_pack.cpu";
  r.candidate.index = 481;
  r.candidate.config = R"([["tile_y","sp",[-1,1,1]]])";
  r.candidate.steps = {schedule::SplitStep{1, 0, 64, {8, 4}}};
  r.result.status = status;
  r.result.verified = status == Status::ok;
  if (status == Status::ok) {
    r.result.samples_s = {2e-4, 1e-4, 5e-3};
    r.result.sample_flags = {false, false, true};
    r.result.flagged = 1;
  } else {
    r.result.message = "It broke";
  }
  r.result.build_s = 0.25;
  r.result.run_s = 0.5;
  r.result.timestamp_s = 1700000000.5;
  return r;
}

}  // namespace

class AutotvmJsonTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void tvm_lines_round_trip_byte_for_byte_data() {
    QTest::addColumn<QString>("line");
    QTest::newRow("dense") << kDense;
    QTest::newRow("conv2d") << kConv;
    QTest::newRow("depthwise cuda") << kDepthwise;
    QTest::newRow("failure with an unknown key") << kFailure;
  }
  void tvm_lines_round_trip_byte_for_byte() {
    QFETCH(QString, line);
    const auto record = parse_autotvm_line(line.toStdString());
    QVERIFY2(record, record ? "" : record.error().message.c_str());
    QCOMPARE(QString::fromStdString(autotvm_line(*record)), line);
  }
  void fields_of_a_tvm_line() {
    const auto r = parse_autotvm_line(kDense);
    QVERIFY(r);
    QCOMPARE(r->name, std::string("dense_pack.x86"));
    QCOMPARE(r->record.candidate.index, 481);
    QVERIFY(r->record.task_key.empty());
    QVERIFY(r->record.candidate.steps.empty());
    QVERIFY(r->record.result.ok());
    QVERIFY(!r->record.result.verified);
    QCOMPARE(r->record.result.seconds(), 0.0003250793);
    const auto failure = parse_autotvm_line(kFailure);
    QVERIFY(failure);
    QVERIFY(failure->record.result.status == Status::lower_fail);
    QVERIFY(failure->record.result.samples_s.empty());
    QCOMPARE(failure->extra["host"]["cores"], Json(2));
  }
  void our_lines_round_trip_exactly() {
    const Task task = dense_task();
    for (const Status s : {Status::ok, Status::build_crash, Status::infra, Status::bad_timing, Status::wrong_output}) {
      const AutotvmRecord out = to_autotvm(task, trial(s));
      const auto back = parse_autotvm_line(autotvm_line(out));
      QVERIFY2(back, back ? "" : back.error().message.c_str());
      QCOMPARE(back->record.task_key, std::string("k1"));
      QCOMPARE(back->task_name, std::string("dense"));
      QCOMPARE(dump_json(to_json(back->record.result)), dump_json(to_json(out.record.result)));
      QCOMPARE(back->record.candidate.space, out.record.candidate.space);
      QVERIFY(back->record.candidate.steps == out.record.candidate.steps);
      QCOMPARE(autotvm_line(*back), autotvm_line(out));
    }
  }
  void our_lines_hold_what_tvm_reads() {
    Record theirs = trial();
    QCOMPARE(to_autotvm(dense_task(), theirs).name, std::string("tilewright.dense_pack.cpu"));
    theirs.candidate.space = "dense_pack.x86";
    const Json line = Json::parse(autotvm_line(to_autotvm(dense_task(), theirs)));
    const Json tvm = Json::parse(kDense);
    QCOMPARE(line["input"][1], tvm["input"][1]);
    QCOMPARE(line["input"][2], tvm["input"][2]);
    QCOMPARE(line["input"][0], Json("llvm -mcpu=znver4 -num-cores=1"));
    QCOMPARE(dump_json(line["result"]), std::string("[[0.0002,0.0001],0,0.75,1700000000.5]"));
    QCOMPARE(dump_json(line["config"]), std::string(R"({"index":481,"code_hash":null,"entity":[["tile_y","sp",[-1,1,1]]]})"));
    const Json failed = Json::parse(autotvm_line(to_autotvm(dense_task(), trial(Status::run_timeout))));
    QCOMPARE(dump_json(failed["result"]), std::string("[[1000000000.0],7,0.75,1700000000.5]"));
  }
  void default_schedules_are_no_points_of_tvms() {
    Record r = trial();
    r.candidate.space = "default";
    r.candidate.index = -1;
    r.candidate.config.clear();
    const AutotvmRecord out = to_autotvm(dense_task(), r);
    QCOMPARE(out.name, std::string("tilewright.default"));
    const auto back = parse_autotvm_line(autotvm_line(out));
    QVERIFY(back);
    QCOMPARE(back->record.candidate.index, -1);
    QVERIFY(back->record.candidate.config.empty());
  }
  void error_numbers() {
    const std::vector<std::pair<Status, int>> expected = {
        {Status::ok, 0},         {Status::lower_fail, 1},    {Status::build_fail, 2},   {Status::build_crash, 4},   {Status::load_fail, 4},
        {Status::run_crash, 4},  {Status::out_of_memory, 4}, {Status::wrong_output, 5}, {Status::build_timeout, 6}, {Status::run_timeout, 7},
        {Status::bad_timing, 8}, {Status::infra, 8},         {Status::cancelled, 8}};
    for (const auto& [status, number] : expected) QCOMPARE(static_cast<int>(autotvm_error(status)), number);
    QVERIFY(status_from_autotvm(3) == Status::build_fail);
    QVERIFY(status_from_autotvm(4) == Status::run_crash);
    QVERIFY(status_from_autotvm(8) == Status::infra);
  }
  void bad_lines_are_refused_with_a_reason_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("word");
    QTest::newRow("not an object") << kDense << "[1]"
                                   << "as an object, found array";
    QTest::newRow("no input") << "\"input\""
                              << "\"inputs\""
                              << "with the key 'input'";
    QTest::newRow("input") << ", {}]"
                           << "]"
                           << "Expected 'input' as [target, name, args, kwargs]";
    QTest::newRow("entity") << R"(["tile_k", "sp", [-1, 4]])"
                            << "7"
                            << "Expected 'entity' as a list";
    QTest::newRow("result") << "[0.0003250793]"
                            << "[]"
                            << "Expected 'result' as [costs, error, seconds, time]";
    QTest::newRow("cost") << "[0.0003250793]"
                          << "[\"fast\"]"
                          << "Expected 'result' as";
    QTest::newRow("error number") << "], 0, "
                                  << "], 9, "
                                  << "from 0 to 8, found 9";
    QTest::newRow("index") << "481"
                           << "\"481\""
                           << "'index' has another type";
    QTest::newRow("version missing") << "\"version\""
                                     << "\"vers\""
                                     << "the number 'version'";
    QTest::newRow("version later") << "\"version\": 0.2"
                                   << "\"version\": 0.3"
                                   << "protocol 0.2, found 0.3";
    QTest::newRow("our key") << "\"tvm_version\""
                             << "\"tilewright\": {\"task\": 3}, \"tvm_version\""
                             << "'task' has another type";
    QTest::newRow("infinity") << "[0.0003250793]"
                              << "[Infinity]"
                              << "found an error at byte";
    QTest::newRow("deep") << kDense << QString(100, '[') << "nested at most 64";
    QTest::newRow("protocol 0.1") << kDense << R"({"i": ["llvm", "n", [], {}, [], {}], "r": [[1], 0, 1, 1], "v": 0.1})"
                                  << "protocol 0.2, found 0.1";
    QTest::newRow("Ansor") << kDense << R"({"i": [["[]", "llvm"], [[], []]], "r": [[1], 0, 1, 1], "v": "v0.6"})"
                           << "found one of Ansor";
    QTest::newRow("pickle") << kDense << "llvm\tgASV\tgASV\tgASV\t0.2\t0.9.0"
                            << "runs code when it is read";
    QTest::newRow("old pickle") << kDense << "llvm\tgASV\tgASV\tgASV"
                                << "runs code when it is read";
  }
  void bad_lines_are_refused_with_a_reason() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QString, word);
    QString line = kDense;
    QVERIFY(line.contains(from));
    line.replace(from, to);
    const auto r = parse_autotvm_line(line.toStdString());
    QVERIFY(!r);
    QVERIFY2(r.error().message.find(word.toStdString()) != std::string::npos, r.error().message.c_str());
  }
  void impossible_costs_are_no_times() {
    for (const char* cost : {"0.0", "-1.0", "1000000000.0", "10000000000.0"}) {
      const auto r = parse_autotvm_line(QString(kDense).replace("0.0003250793", cost).toStdString());
      QVERIFY(r);
      QVERIFY(r->record.result.status == Status::bad_timing);
      QVERIFY(autotvm_line(*r).find("[[1000000000.0], 8,") != std::string::npos);
    }
  }
  void lines_find_their_task() {
    const std::vector<Task> tasks = {dense_task("k0"), dense_task("k1")};
    using Found = std::vector<const Task*>;
    QCOMPARE(find_tasks(tasks, to_autotvm(tasks[1], trial())), Found{&tasks[1]});
    QCOMPARE(find_tasks(tasks, *parse_autotvm_line(kDense)), (Found{&tasks[0], &tasks[1]}));
    QCOMPARE(find_tasks(tasks, *parse_autotvm_line(QString(kDense).replace("dense_pack", "dense_nopack").toStdString())).size(), size_t{2});
    QCOMPARE(find_tasks(tasks, *parse_autotvm_line(kConv)), Found{});
    QCOMPARE(find_tasks(tasks, *parse_autotvm_line(kDepthwise)), Found{});
    Record other = trial();
    other.task_key = "k9";
    QCOMPARE(find_tasks(tasks, to_autotvm(tasks[1], other)), Found{});
  }
  void best_is_the_fastest_verified() {
    std::vector<Record> records = {trial(), trial(), trial(Status::run_crash), trial()};
    records[1].result.samples_s = {1e-6, 1e-6, 1e-6};
    records[1].result.verified = false;
    records[3].result.samples_s = {5e-5, 1, 1};
    QCOMPARE(best_of(records, "k1"), &records[3]);
    QVERIFY(!best_of(records, "other"));
    records[3].result.censored = true;
    QCOMPARE(best_of(records, "k1"), &records[0]);
    for (Record& r : records) r.result.verified = false;
    QCOMPARE(best_of(records, "k1"), &records[1]);  // logs of others
  }
  void pick_best_keeps_one_line_for_each_workload() {
    std::vector<AutotvmRecord> log;
    for (const char* line : {kFailure, kDense, kConv, kDense}) log.push_back(*parse_autotvm_line(line));
    log[3].record.result.samples_s = {1e-5};
    const auto best = pick_best(log);
    QCOMPARE(best.size(), size_t{2});
    QCOMPARE(best[0].record.result.seconds(), 1e-5);
    QCOMPARE(best[1].name, std::string("conv2d_NCHWc.x86"));
    log[3].record.result.samples_s = {1e-9, 1e-3};  // on average slower
    QVERIFY(pick_best(log)[0].record.result.seconds() > 1e-9);
    // Of our lines the task counts, whatever space the point is of.
    const Task task = dense_task();
    Record faster = trial();
    faster.candidate.space = "dense_pack.x86";
    faster.result.samples_s = {1e-6};
    faster.result.sample_flags = {false};
    const auto ours = pick_best(std::vector{to_autotvm(task, trial()), to_autotvm(task, faster)});
    QCOMPARE(ours.size(), size_t{1});
    QCOMPARE(ours[0].name, std::string("dense_pack.x86"));
  }
};

QTEST_APPLESS_MAIN(AutotvmJsonTest)
#include "autotvm_json_test.moc"
