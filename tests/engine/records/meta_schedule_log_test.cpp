// SPDX-License-Identifier: Apache-2.0
#include "engine/records/meta_schedule_log.h"

#include <QtTest>

using namespace tw;
using namespace tw::records;

namespace {

/// A line as TVM 0.27 writes it, its trace made short.
std::string theirs(const std::string& seconds, int64_t workload = 0) {
  return "[" + std::to_string(workload) +
         R"(,[[[["GetSBlock",[],["dense","main"],["b0"]],["GetLoops",["b0"],[],["l2","l3","l4"]],["SamplePerfectTile",["l2"],[4,64],["v5","v6","v7","v8"]]],)"
         R"([[2,[1,1,4,2]]]],)" +
         seconds +
         R"(,{"keys":["cpu"],"kind":"llvm","mcpu":"skylake-avx512","num-cores":1,"tag":""},)"
         R"([["TENSOR","float32",[8,16]],["TENSOR","float32",[12,16]],["TENSOR","float32",[8,12]]]]])";
}

}  // namespace

class MetaScheduleLogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aLineIsRead() {
    const auto r = parse_meta_schedule_line(theirs("[2.5e-06,2.0e-06]", 3));
    QVERIFY2(r, r ? "" : r.error().text().c_str());
    QCOMPARE(r->workload, int64_t{3});
    QCOMPARE(r->arguments, std::string("float32[8, 16] float32[12, 16] float32[8, 12]"));
    QVERIFY(r->target.find("skylake-avx512") != std::string::npos);
    QVERIFY(r->record.result.ok());
    QCOMPARE(r->record.result.seconds(), 2.0e-6);
    QVERIFY(r->record.candidate.config.starts_with(R"([[["GetSBlock",[],["dense","main"],["b0"]])"));
    QVERIFY(r->record.candidate.config.ends_with("[[2,[1,1,4,2]]]]"));
    QVERIFY(r->record.candidate.steps.empty());
    QCOMPARE(meta_schedule_task_name(*r, "12017062776990909660"), std::string("meta_schedule 1201706277 float32[8, 16] float32[12, 16] float32[8, 12]"));
    QVERIFY(meta_schedule_task_name(*r, "").starts_with("meta_schedule workload 3 "));
  }
  /// Its failures are long times, or none.
  void failures() {
    for (const char* seconds : {"[10000000000]", "[]", "null"}) {
      const auto r = parse_meta_schedule_line(theirs(seconds));
      QVERIFY2(r && !r->record.result.ok() && r->record.result.samples_s.empty() && !r->record.result.message.empty(), seconds);
    }
    const auto impossible = parse_meta_schedule_line(theirs("[0.0]"));
    QVERIFY(impossible && impossible->record.result.status == Status::bad_timing);
  }
  void otherLinesAreProblems() {
    const MetaScheduleLog log = read_meta_schedule(theirs("[1e-3]") + "\n\n[0,[1]]\n{\"i\": 1}\n" + theirs("[\"fast\"]") + "\n" + theirs("[1e-3]").substr(0, 40));
    QCOMPARE(log.lines, int64_t{6});
    QCOMPARE(log.records.size(), size_t{1});
    QCOMPARE(log.records[0].line, int64_t{1});
    std::vector<std::string> kinds;
    for (const LineProblem& p : log.problems) kinds.push_back(std::to_string(p.line) + " " + p.kind);
    QCOMPARE(kinds, (std::vector<std::string>{"3 malformed", "4 other_format", "5 malformed", "6 cut_off"}));
    QVERIFY(!parse_meta_schedule_line(theirs("[1e-3]", -1)));
  }
  void workloadsHaveHashes() {
    QCOMPARE(meta_schedule_workloads("[\"12017062776990909660\",\"EEcAAA==\"]\n[\"77\", \"x\"]\nnothing\n[\"abc\",\"x\"]\n"),
             (std::vector<std::string>{"12017062776990909660", "77", "", ""}));
  }
};

QTEST_APPLESS_MAIN(MetaScheduleLogTest)
#include "meta_schedule_log_test.moc"
