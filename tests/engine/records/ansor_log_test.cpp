// SPDX-License-Identifier: Apache-2.0
#include "engine/records/ansor_log.h"

#include <QtTest>

#include "engine/base/json.h"
#include "engine/records/ansor_steps.h"

using namespace tw;
using namespace tw::records;

namespace {

// Two lines as TVM's auto_scheduler writes them: a convolution under protocol v0.5, and a failed dense layer with nested shapes (v0.6).
std::string theirs(const std::string& workload, const std::string& target, const std::string& steps, const std::string& result,
                       const std::string& version) {
  return "{\"i\": [[" + dump_json(Json(workload)) + ", \"" + target + "\", [8, 64, 64, 0, 0, 0, 0, 0], \"\", 2], [[], " + steps + "]], \"r\": " + result +
         ", \"v\": \"" + version + "\"}";
}
const std::string kAnsorConv = theirs("[\"f4380bb1dc62422a69ad4a1a9771f927\", 1, 28, 28, 512, 1, 1, 512, 1024, 1, 14, 14, 1024]",
                                          "llvm -keys=cpu -mcpu=core-avx2", "[[\"CHW\", 3, \"local\"], [\"SP\", 3, 0, 1, [1, 1, 1], 1], [\"AN\", 3, 21, 2]]",
                                          "[[0.000238006, 0.000235502], 0, 0.219506, 1606961782]", "v0.5");
const std::string kAnsorFailed = theirs("[\"9847f8cc0b305137f49f2c5c0c8ab25d\", [1, 512], [1000, 512], [1, 1000]]", "cuda",
                                            "[[\"SP\", 2, 0, 1, [1, 1, 1, 1], 1]]", "[[1e+10], 4, 1.5, 1606984719]", "v0.6");

}  // namespace

class AnsorLogTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void aLineIsRead() {
    const auto r = parse_ansor_line(kAnsorConv);
    QVERIFY2(r, r ? "" : r.error().text().c_str());
    QCOMPARE(r->target, std::string("llvm -keys=cpu -mcpu=core-avx2"));
    QCOMPARE(r->version, std::string("v0.5"));
    QVERIFY(r->record.result.ok());
    QCOMPARE(r->record.result.seconds(), 0.000235502);
    QCOMPARE(r->record.result.run_s, 0.219506);
    QCOMPARE(r->record.result.timestamp_s, 1606961782.0);
    QCOMPARE(r->record.candidate.config, std::string(R"([["CHW",3,"local"],["SP",3,0,1,[1,1,1],1],["AN",3,21,2]])"));
    QCOMPARE(r->record.candidate.index, -1);
    QCOMPARE(ansor_task_name(r->workload_key), std::string("ansor f4380bb1 1 28 28 512 1 1 512 1024 1 14 14 1024"));
  }

  void failuresKeepTheirKind() {
    const auto r = parse_ansor_line(kAnsorFailed);
    QVERIFY(r);
    QCOMPARE(r->record.result.status, Status::run_crash);
    QVERIFY(r->record.result.samples_s.empty());
    QVERIFY(!r->record.result.message.empty());
  }

  /// What is written is read back: key, target, steps with TVM's numbers, times.
  void ourTrialsAreWritten() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {64, 32}, kFloat32), w = b.placeholder("w", {48, 32}, kFloat32, te::Role::constant), bias = b.placeholder("bias", {48}, kFloat32);
    const te::Tensor y = b.reduce("T_dense", {64, 48}, {32}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); });
    const te::Tensor z = b.compute("T_add", {64, 48}, [&](const te::Indices& i) { return y.at(i) + bias(i[1]); });
    const Task task = make_task("dense", std::move(b).finish({z}), parse_target("cuda:a100").value());
    Record record;
    record.candidate.steps = {schedule::SplitStep{3, 0, 64, {8}}, schedule::FuseStep{4, {0, 1}}};
    record.result.status = Status::ok;
    record.result.samples_s = {0.0025, 0.002};
    record.result.sample_flags = {false, false};
    record.result.timestamp_s = 1606961782;
    const auto line = tw::records::ansor_line(task, record);
    QVERIFY2(line, line ? "" : line.error().text().c_str());
    const auto back = parse_ansor_line(*line);
    QVERIFY2(back, back ? "" : back.error().text().c_str());
    QCOMPARE(back->version, std::string("v0.6"));
    QCOMPARE(back->target, task.target.str());
    // TVM's bias stands behind the product that it is added to: 0 x, 1 w, 2 product, 3 bias, 4 sum.
    QCOMPARE(back->record.candidate.config, std::string(R"([["SP",2,0,64,[8],1],["FU",4,[0,1]]])"));
    QCOMPARE(back->record.result.samples_s, record.result.samples_s);
    QVERIFY2(line->find("[-1, 16, 64, 49152, 2147483647, 1024, 8, 32], \"\", 0, []]") != std::string::npos, line->c_str());
    const auto steps = steps_from_ansor(task.dag, schedule::steps_from_json(*parse_json(back->record.candidate.config)).value());
    QVERIFY(steps && *steps == record.candidate.steps);

    record.result.status = Status::run_crash;
    QVERIFY(!parse_ansor_line(tw::records::ansor_line(task, record).value())->record.result.ok());
    record.candidate.steps.push_back(schedule::LayoutStep{1, {{0, 0}, {1, 0}}});
    QCOMPARE(tw::records::ansor_line(task, record).error().code, ErrorCode::unsupported);
  }

  void stepsTellPointsApart() {
    const auto a = parse_ansor_line(kAnsorConv), b = parse_ansor_line(kAnsorConv);
    std::string other = kAnsorConv;
    other.replace(other.find("[1, 1, 1]"), 9, "[2, 1, 1]");
    const auto c = parse_ansor_line(other);
    QCOMPARE(identity(a->record.candidate), identity(b->record.candidate));
    QVERIFY(identity(a->record.candidate) != identity(c->record.candidate));
  }

  void nestedAndFlatShapesAreOneTask() {
    AnsorRecord nested = *parse_ansor_line(kAnsorFailed), flat = nested;
    flat.workload_key = "[\"9847f8cc0b305137f49f2c5c0c8ab25d\", 1, 512, 1000, 512, 1, 1000]";
    QCOMPARE(ansor_task_key(nested), ansor_task_key(flat));
    flat.target = "llvm";
    QVERIFY(ansor_task_key(nested) != ansor_task_key(flat));
  }

  void badLinesAreNamed() {
    const std::string text = "# a comment\n" + kAnsorConv + "\n\nnot json\n{\"i\": 3, \"r\": [[1], 0, 1, 1]}\n" +
                             "{\"input\": [], \"config\": {}, \"result\": [], \"version\": 0.2}" + "\n" +
                             "{\"i\": [[\"k\", \"llvm\"], [[], []]], \"r\": [[1], 99, 1, 1]}" + "\n" + kAnsorFailed.substr(0, 100);
    const AnsorLog log = read_ansor(text);
    QCOMPARE(log.lines, int64_t{8});
    QCOMPARE(log.comments, int64_t{1});
    QCOMPARE(log.records.size(), size_t{1});
    QCOMPARE(log.records[0].line, int64_t{2});
    QCOMPARE(log.problems.size(), size_t{5});
    const char* kinds[] = {"not_json", "malformed", "other_format", "malformed", "cut_off"};
    const int64_t lines[] = {4, 5, 6, 7, 8};
    for (size_t i = 0; i < 5; ++i) {
      QCOMPARE(log.problems[i].kind, std::string(kinds[i]));
      QCOMPARE(log.problems[i].line, lines[i]);
    }
  }

  void impossibleTimesAreFailures() {
    std::string zero = kAnsorConv;
    zero.replace(zero.find("0.000238006"), 11, "0.0");
    QCOMPARE(parse_ansor_line(zero)->record.result.status, Status::bad_timing);
  }
};

QTEST_APPLESS_MAIN(AnsorLogTest)
#include "ansor_log_test.moc"
