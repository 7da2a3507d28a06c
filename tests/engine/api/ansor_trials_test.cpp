// SPDX-License-Identifier: Apache-2.0
#include "engine/api/ansor_trials.h"

#include <QtTest>

#include "engine/base/file.h"
#include "engine/measure/check.h"
#include "engine/measure/inputs.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;

class AnsorTrialsTest : public QObject {
  Q_OBJECT

  static std::vector<records::AnsorRecord> published(const char* file) {
    return records::read_ansor(read_file(std::string(TW_TESTS_DIR) + "/engine/records/ansor/" + file).value()).records;
  }

 private Q_SLOTS:
  /// Records of TVM for processors, compiled here: what they compute is right.
  void publishedRecordsComputeTheirTasks() {
    const Target target = host_target();
    api::ClaimChecker claims;
    int checked = 0;
    std::map<std::string, std::unique_ptr<space::testing::WithReference>> expected;
    for (const records::AnsorRecord& r : published("resnet-50-NHWC-B1-llvm.json")) {
      const auto task = api::ansor_task(r, target);
      if (!task) continue;
      if (checked >= 12 && expected.contains(r.workload_key)) continue;  // each computation once, some twice
      const auto trial = api::ansor_trial(*task, r, claims);
      QVERIFY2(trial, trial ? "" : trial.error().text().c_str());
      QVERIFY(trial->claimed && !trial->result.verified && trial->candidate.index < 0 && trial->candidate.fingerprint != 0);
      QVERIFY(trial->candidate.config.starts_with(R"([["sketch","ot","ansor"])"));
      QCOMPARE(trial->result.samples_s.size(), r.record.result.samples_s.size());
      const auto s = schedule::Schedule::replay(task->dag, trial->candidate.steps).value();
      const auto func = lower::lower_and_optimize(s, "kernel", target);
      QVERIFY2(func, func ? "" : func.error().text().c_str());
      const std::vector<HostArray> inputs = measure::make_inputs(*task->dag, 3);
      const auto want = measure::make_reference(*task->dag, 3).value();
      const std::vector<runtime::ArgSpec> specs = measure::signature_of(s, "kernel").args;
      std::vector<HostArray> args;
      for (const runtime::ArgSpec& spec : specs) {
        args.push_back(HostArray::make(spec.dtype, spec.physical_shape()));
        if (!spec.output) runtime::pack_layout(spec, inputs[args.size() - 1].data.data(), args.back().data.data());
      }
      const auto ran = codegen::testing::run(*func, args, target);
      QVERIFY2(ran, ran ? "" : ran.error().text().c_str());
      const measure::ReferenceOutput& output = want.outputs[0];
      std::vector<double> got;
      for (int64_t i = 0; i < (output.all ? args.back().num_elements() : static_cast<int64_t>(output.positions.size())); ++i)
        got.push_back(args.back().get(output.all ? i : output.positions[static_cast<size_t>(i)]));
      const measure::Comparison c = measure::compare(output, got);
      QVERIFY2(c.equal, (r.workload_key + ": " + std::to_string(c.max_rel_error) + "\n" + schedule::print_steps(s)).c_str());
      expected.try_emplace(r.workload_key);
      ++checked;
    }
    QVERIFY2(checked >= 12, qPrintable(QString::number(checked)));
  }
  /// A task's own line comes back by TVM's key, the fastest that replays, with its constant laid out as it is read.
  void logsAreASourceForCompiling() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {64, 32}, kFloat32), w = b.placeholder("w", {48, 32}, kFloat32, te::Role::constant);
    const te::Tensor y = b.reduce("T_dense", {64, 48}, {32}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
    const records::Task task = records::make_task("dense", std::move(b).finish({y}), Target());
    const auto line = [&](double seconds, std::vector<schedule::Step> steps) {
      records::Record record;
      record.candidate.steps = std::move(steps);
      record.result.status = records::Status::ok;
      record.result.samples_s = {seconds};
      record.result.sample_flags = {false};
      return records::ansor_line(task, record).value();
    };
    const schedule::Step split = schedule::SplitStep{2, 1, 48, {16}}, order = schedule::ReorderStep{2, {0, 1, 3, 2}};
    std::string broken = line(1e-4, {split});
    broken.replace(broken.find("[16]"), 4, "[-3]");
    const std::string text = line(3e-4, {split}) + "\n" + line(2e-4, {split, order}) + "\n" + broken + "\n";
    api::AnsorRecords source(std::vector{task}, {{"their.json", records::read_ansor(text)}});
    const auto best = source.best(task.key).value();
    QVERIFY(best && best->claimed);
    QCOMPARE(best->result.seconds(), 2e-4);
    const auto s = schedule::Schedule::replay(task.dag, best->candidate.steps).value();
    QCOMPARE(s.steps().size(), size_t{3});
    QVERIFY(s.stages()[1].layout == (std::vector<schedule::LayoutStep::Piece>{{0, 0}, {1, 0}, {0, 16}}));
    QCOMPARE(source.problems().size(), size_t{1});
    QVERIFY(source.problems()[0].starts_with("their.json, line 3: "));
    QVERIFY(!source.best("another").value());
  }
  void targetsAreTold() {
    const auto cuda = published("resnet-18-NHWC-B1-cuda.json");
    QCOMPARE(api::ansor_task(cuda.front(), Target()).error().code, ErrorCode::unsupported);
    QVERIFY(api::ansor_task(cuda.front(), parse_target("cuda:a100").value()));
    const auto unknown = api::ansor_task(published("matmul.json").front(), Target());
    QVERIFY(unknown.error().message.find("matmul_add") != std::string::npos);
  }
};

QTEST_APPLESS_MAIN(AnsorTrialsTest)
#include "ansor_trials_test.moc"
