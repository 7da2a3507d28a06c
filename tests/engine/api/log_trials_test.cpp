// SPDX-License-Identifier: Apache-2.0
#include "engine/api/log_trials.h"
#include "engine/base/text.h"

#include <fmt/format.h>

#include <QtTest>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/records/memory_store.h"
#include "engine/space/template.h"

using namespace tw;
using namespace tw::api;

namespace {

records::Task dense_task(int64_t n, bool relu) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {4, 64}, kFloat32), w = b.placeholder("w", {n, 64}, kFloat32, te::Role::constant);
  const te::Tensor d = b.reduce(
      "dense", {4, n}, {64}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  const te::Tensor y = relu ? b.compute("twice", d.shape(), [&](const te::Indices& i) { return d.at(i) + d.at(i); }) : d;
  return records::make_task(relu ? "dense_twice" : "dense", std::move(b).finish({y}), parse_target("llvm -mcpu=znver4 -num-cores=2").value());
}

/// A line as AutoTVM writes it.
std::string foreign(int64_t n, const std::string& entity, double cost, const std::string& name = "dense_nopack.x86", int error = 0) {
  return fmt::format(
      R"({{"input": ["llvm -keys=cpu", "{}", [["TENSOR", [4, 64], "float32"], ["TENSOR", [{}, 64], "float32"], null, "float32"], {{}}], "config": {{"index": 0, "code_hash": null, "entity": {}}}, "result": [[{}], {}, 1.0, 1.0], "version": 0.2, "tvm_version": "0.9.0"}})"
      "\n",
      name, n, entity, cost, error);
}
std::string nopack(int64_t y, int64_t x, int64_t k) {
  return fmt::format(R"([["tile_y", "sp", [-1, {}]], ["tile_x", "sp", [-1, {}]], ["tile_k", "sp", [-1, {}]]])", y, x, k);
}

records::Record ours(const records::Task& task, int64_t index, double seconds, bool verified = true) {
  const space::Template* t = space::find_template(*task.dag, task.target);
  const auto e = t->space(*task.dag, task.target).get(index).value();
  records::Record r{task.key, {t->name, index, e.json_text(), t->apply(task.dag, task.target, e).value().steps()}, {}, {}};
  r.result.status = records::Status::ok;
  r.result.samples_s = {seconds};
  r.result.verified = verified;
  return r;
}

std::string line_of(const records::Task& task, const records::Record& r) { return records::autotvm_line(records::to_autotvm(task, r)) + "\n"; }

}  // namespace

class LogTrialsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void a_line_of_another_program_counts_for_every_task_with_its_computation() {
    const std::vector<records::Task> tasks = {dense_task(32, false), dense_task(32, true), dense_task(48, false)};
    const LogTrials t = match_log(records::read_autotvm(foreign(32, nopack(2, 4, 16), 1e-3)), tasks, "log");
    QVERIFY(t.problems.empty());
    QCOMPARE(t.tasks.size(), size_t{2});
    for (size_t i = 0; i < 2; ++i) {
      QCOMPARE(t.tasks[i].task.key, tasks[i].key);
      const records::Record& r = t.tasks[i].records.at(0);
      QCOMPARE(r.candidate.space, std::string("dense_nopack.x86"));
      QCOMPARE(r.candidate.index, 1 + 3 * (2 + 6 * 4));
      QVERIFY(!r.candidate.steps.empty());
      QVERIFY(!r.result.verified);
      QCOMPARE(r.origin, std::string("log, line 1"));
    }
  }
  void lines_of_ours_bring_their_task() {
    const records::Task task = dense_task(32, true);
    const records::Record r = ours(task, 1, 1e-3);
    const LogTrials t = match_log(records::read_autotvm(line_of(task, r) + line_of(task, ours(task, 2, 2e-3))), {}, "log");
    QVERIFY(t.problems.empty());
    QCOMPARE(t.tasks.size(), size_t{1});
    QCOMPARE(t.tasks[0].task.key, task.key);
    QCOMPARE(t.tasks[0].task.name, std::string("dense_twice"));
    QCOMPARE(t.tasks[0].task.flops, task.flops);
    QCOMPARE(t.tasks[0].records.size(), size_t{2});
    QVERIFY(t.tasks[0].records[0].candidate.steps == r.candidate.steps);
  }
  void a_described_task_is_known_from_then_on() {
    const records::Task task = dense_task(32, true);
    const std::string theirs = foreign(32, nopack(2, 4, 16), 1e-3);
    const LogTrials t = match_log(records::read_autotvm(theirs + line_of(task, ours(task, 1, 1e-3)) + theirs), {}, "log");
    QCOMPARE(t.problems.size(), size_t{1});
    QCOMPARE(t.problems[0].line, 1);
    QCOMPARE(t.tasks.at(0).records.size(), size_t{2});
  }
  void lines_of_no_use_are_counted_by_reason() {
    const std::vector<records::Task> tasks = {dense_task(32, false)};
    std::string described = line_of(tasks[0], ours(tasks[0], 1, 1e-3));
    described.replace(described.find(tasks[0].key), tasks[0].key.size(), std::string(tasks[0].key.size(), '0'));
    const std::string text = foreign(32, nopack(2, 4, 16), 1e-3) + foreign(32, nopack(2, 4, 16), 5e-4) +  // the same point twice
                             foreign(32, nopack(2, 5, 16), 1e-3) +                                        // no divisor
                             foreign(32, R"([["tile_z", "sp", [-1, 1]]])", 1e-3) +                        // other knobs
                             foreign(33, nopack(1, 1, 1), 1e-3) +                                         // other shape
                             foreign(32, nopack(1, 1, 1), 1e-3, "dense_cblas.x86") +                      // a template that nobody here has
                             described +                                                                  // a task that is not the one described
                             foreign(32, nopack(1, 1, 1), 1e9) + foreign(32, nopack(4, 1, 1), 1e9, "dense_nopack.x86", 2) + "torn\n";
    const LogTrials t = match_log(records::read_autotvm(text), tasks, "log");
    const std::map<std::string, int64_t> expected = {{"duplicate", 1}, {"not_in_space", 2}, {"unknown_task", 3}, {"not_json", 1}};
    std::map<std::string, int64_t> by_kind;
    for (const records::LineProblem& p : t.problems) ++by_kind[p.kind];
    QCOMPARE(by_kind, expected);
    const std::vector<records::Record>& kept = t.tasks.at(0).records;
    QCOMPARE(kept.size(), size_t{3});
    QCOMPARE(kept[0].result.seconds(), 5e-4);  // the faster of the two
    QCOMPARE(kept[0].origin, std::string("log, line 2"));
    QVERIFY(kept[0].claimed && !kept[0].candidate.steps.empty());
    QVERIFY(kept[1].result.status == records::Status::bad_timing);
    QVERIFY(kept[2].result.status == records::Status::build_fail);
    QCOMPARE(t.problems.front().kind, std::string("not_json"));
  }
  void compiling_takes_measured_lines_then_what_autotvm_applies() {
    const std::vector<records::Task> tasks = {dense_task(32, false), dense_task(32, true), dense_task(48, false)};
    const std::string pack = R"([["tile_y", "sp", [-1, 1, 4]], ["tile_x", "sp", [-1, 1, 16]], ["tile_k", "sp", [-1, 1]], ["tile_inner", "sp", [-1, 1]]])";
    const std::string log = foreign(32, nopack(2, 4, 16), 3e-3) + foreign(32, pack, 1e-3, "dense_pack.x86") + foreign(32, nopack(1, 1, 1), 2e-3) +
                            line_of(tasks[1], ours(tasks[1], 2, 9e-3)) + line_of(tasks[1], ours(tasks[1], 3, 1e-9, false));
    LogRecords records(tasks, {{"a.json", records::read_autotvm(log)}}, false);
    const auto best = [&](size_t i) { return records.best(tasks[i].key, records::Weights::unknown).value(); };
    QCOMPARE(best(0)->candidate.space, std::string("dense_pack.x86"));  // the fastest of the templates'
    QCOMPARE(best(0)->origin, std::string("a.json, line 2"));
    QCOMPARE(best(1)->candidate.index, 2);  // of this very task
    QVERIFY(best(1)->claimed);
    QVERIFY(!best(2));
    QCOMPARE(records.problems().size(), size_t{1});  // a time that no machine reaches
    QVERIFY(records.problems()[0].starts_with("a.json, line 5: "));

    LogRecords nearest(tasks, {{"a.json", records::read_autotvm(log)}}, true);
    const auto near = nearest.best(tasks[2].key, records::Weights::unknown).value();
    QCOMPARE(near->candidate.space, std::string("dense_pack.x86"));
    QCOMPARE(near->candidate.config, dump_json(parse_json(pack).value()));
    QVERIFY(near->result.samples_s.empty());
  }
  void what_cannot_be_applied_is_said() {
    const std::vector<records::Task> tasks = {dense_task(32, false)};
    LogRecords records(tasks, {{"a.json", records::read_autotvm(foreign(32, nopack(3, 1, 1), 1e-3))}}, false);
    QVERIFY(!records.best(tasks[0].key, records::Weights::unknown).value());
    QCOMPARE(records.problems().size(), size_t{1});
    QVERIFY(records.problems()[0].find("a.json, line 1: ") == 0);
  }
  void sources_are_asked_in_order() {
    const records::Task task = dense_task(32, false);
    records::MemoryStore first, second;
    QVERIFY(second.store(task, {ours(task, 1, 1e-3)}));
    const auto both = first_of({&first, &second});
    QCOMPARE(both->best(task.key, records::Weights::unknown).value()->candidate.index, 1);
    QVERIFY(first.store(task, {ours(task, 2, 2e-3)}));
    QCOMPARE(both->best(task.key, records::Weights::unknown).value()->candidate.index, 2);
    QVERIFY(!both->best("none", records::Weights::unknown).value());
  }
};

QTEST_APPLESS_MAIN(LogTrialsTest)
#include "log_trials_test.moc"
