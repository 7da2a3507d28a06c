// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/codegen/cuda/nvrtc.h"
#include "engine/measure/device.h"
#include "engine/measure/gpu_runner.h"
#include "engine/space/template.h"
#include "tests/engine/measure/gpu_fixture.h"

using namespace tw;
using namespace tw::test;
using measure::BuildOutcome;
using records::MeasureResult;
using records::Status;

/// The worker that owns a GPU, on a stand-in for the driver and on a GPU that is interpreted.
class GpuRunnerTest : public QObject {
  Q_OBJECT

  std::unique_ptr<measure::Runner> runner_;
  static measure::WorkerOptions options() {
    measure::WorkerOptions o;
    o.worker_path = TW_BIN_DIR "/tw-worker";
    o.jobs = 1;
    return o;
  }
  std::vector<MeasureResult> run(const std::vector<std::string>& actions, measure::RunOptions o = {}) {
    std::vector<BuildOutcome> builds;
    for (const std::string& a : actions) builds.push_back(fake_kernel(a));
    return runner_->run(gpu_doubling_task(), builds, o, {});
  }
  static void fine(const MeasureResult& r) {
    QVERIFY2(r.ok() && r.verified, (std::string(records::status_name(r.status)) + ": " + r.message).c_str());
    QVERIFY(r.seconds() > 0 && r.run_s > 0);
  }
  static void failed(const MeasureResult& r, Status status, const char* with) {
    QVERIFY2(r.status == status && r.message.find(with) != std::string::npos, (std::string(records::status_name(r.status)) + ": " + r.message).c_str());
  }

 private Q_SLOTS:
  void init() {
    qputenv("TW_CUDA_DRIVER", TW_FAKE_CUDA_LIBRARY);
    qputenv("TW_FAKE_CUDA", "");
    runner_ = measure::gpu_runner("cuda:0", options()).value();
  }

  void good_and_wrong_kernels() {
    const auto r = run({"double 1000", "nothing", "double 999", "wild 1000", "double 1000"});
    fine(r[0]);
    QVERIFY(qAbs(r[0].seconds() - 1e-7) < 1e-9);  // as the stand-in's clock goes
    QVERIFY(r[0].inner > 1);                      // a short kernel is timed in series
    failed(r[1], Status::wrong_output, "never wrote 1000 elements of output \"y\"");
    failed(r[2], Status::wrong_output, "never wrote 1 elements of output \"y\", first element 999");
    failed(r[3], Status::wrong_output, "wrote outside argument \"y\", 12 bytes past its end");
    fine(r[4]);
    const auto more = run({"early 1000", "spoil 1000"});
    failed(more[0], Status::wrong_output, "wrote outside argument \"y\", 8 bytes before its beginning");
    failed(more[1], Status::wrong_output, "changed its input \"x\"");
  }

  /// Samples of a GPU that is slowed or shared are flagged; where all are, they count all the same.
  void disturbed_gpus() {
    qputenv("TW_NVML", TW_FAKE_CUDA_LIBRARY);
    for (const char* machine : {"", "slowed=32", "strangers=1"}) {
      qputenv("TW_FAKE_CUDA", machine);
      runner_ = measure::gpu_runner("cuda:0", options()).value();
      const auto r = run({"double 1000"});
      fine(r[0]);
      QCOMPARE(r[0].flagged, *machine ? static_cast<int>(r[0].samples_s.size()) : 0);
      QVERIFY(r[0].samples_s.size() <= 40u && !r[0].censored);
    }
    qunsetenv("TW_NVML");
  }

  /// An error that corrupts the context costs the candidate, not the next one.
  void sticky_errors_end_the_worker() {
    const auto r = run({"double 1000", "fail 700", "double 1000"});
    fine(r[0]);
    failed(r[1], Status::run_crash, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    fine(r[2]);
  }

  void kernels_that_never_end() {
    measure::RunOptions o;
    o.timeout_s = 0.5;
    const auto r = run({"hang", "double 1000"}, o);
    failed(r[0], Status::run_timeout, "The run took more than 0.5 s");
    fine(r[1]);
  }

  void refused_launches_and_images() {
    qputenv("TW_FAKE_CUDA", "launch=701");
    failed(run({"double 1000"})[0], Status::load_fail, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
    runner_ = measure::gpu_runner("cuda:0", options()).value();
    qputenv("TW_FAKE_CUDA", "memory=4096");
    failed(run({"double 1000"})[0], Status::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY");
  }

  /// Not the candidate's fault.
  void machines_without_a_usable_gpu() {
    const std::pair<const char*, const char*> machines[] = {{"devices=0", "Expected a GPU that NVIDIA's driver shows to this process, found none"},
                                                            {"init=999", "Expected NVIDIA's driver to start, found CUDA_ERROR_UNKNOWN (999)"}};
    for (const auto& [machine, words] : machines) {
      qputenv("TW_FAKE_CUDA", machine);
      runner_ = measure::gpu_runner("cuda:0", options()).value();
      failed(run({"double 1000"})[0], Status::infra, words);
    }
    qputenv("TW_CUDA_DRIVER", "/nonexistent/libcuda.so.1");
    runner_ = measure::gpu_runner("cuda:0", options()).value();
    failed(run({"double 1000"})[0], Status::infra, "Expected NVIDIA's driver (/nonexistent/libcuda.so.1) on this machine, found none");
  }

  /// The same way through the worker, where the kernel is what the schedule says.
  void interpreted() {
    const records::Task task = gpu_doubling_task();
    records::Candidate c;
    c.steps = space::default_schedule(task.dag, task.target).steps();
    const auto builds = measure::local_builder(options()).value()->build(task, std::vector<records::Candidate>{c}, {});
    if (builds[0].message.find("NVRTC") != std::string::npos) QSKIP("without NVRTC nothing is built for a GPU");
    QVERIFY2(builds[0].status == Status::ok, builds[0].message.c_str());
    QCOMPARE(builds[0].artifact->gpu.at(0).images.size(), size_t{1});
    runner_ = measure::gpu_runner("sim:h200", options()).value();
    fine(runner_->run(task, builds, {}, {})[0]);
  }

  /// Nor is a machine without the compiler.
  void builds_without_nvrtc() {
    qputenv("TW_NVRTC", "/nonexistent/libnvrtc.so");
    const records::Task task = gpu_doubling_task();
    records::Candidate c;
    c.steps = space::default_schedule(task.dag, task.target).steps();
    const auto builds = measure::local_builder(options()).value()->build(task, std::vector<records::Candidate>{c}, {});
    qunsetenv("TW_NVRTC");
    QCOMPARE(builds[0].status, Status::infra);
    QVERIFY2(builds[0].message.find("NVRTC") != std::string::npos, builds[0].message.c_str());
  }

  void devices_by_name() {
    const Target h200 = gpu_target(*target::find_gpu("h200")), a100 = gpu_target(*target::find_gpu("a100"));
    QCOMPARE(measure::cuda_ordinal("cuda:3").value_or(-1), 3);
    QVERIFY(!measure::cuda_ordinal("cuda:x") && !measure::cuda_ordinal("cuda:") && !measure::cuda_ordinal("cuda:-1") && !measure::cuda_ordinal("sim:a100"));
    const auto wrong = measure::open_device("cuda:0", a100, options());
    QVERIFY2(!wrong && wrong.error().message.find("sm_80") != std::string::npos, wrong ? "opened" : wrong.error().message.c_str());
    QVERIFY(!measure::open_device("cuda:0", host_target(), options()));
    QVERIFY(!measure::open_device("cuda:7", h200, options()));
    if (!codegen::nvrtc_version()) return;
    qputenv("TW_FAKE_CUDA", "version=11080");
    const auto old = measure::open_device("cuda:0", h200, options());
    QVERIFY2(!old && old.error().message.find("found one of CUDA 11.8") != std::string::npos, old ? "opened" : old.error().message.c_str());
    qputenv("TW_FAKE_CUDA", "");
    QCOMPARE(measure::open_device("cuda:0", h200, options()).value().name, std::string("cuda:0"));
  }
};

QTEST_APPLESS_MAIN(GpuRunnerTest)
#include "gpu_runner_test.moc"
