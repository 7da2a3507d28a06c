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
