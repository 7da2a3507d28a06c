// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <QtTest>

#include "engine/base/json.h"
#include "engine/measure/worker.h"
#include "engine/process/frame.h"
#include "tests/engine/measure/fixtures.h"
#include "tests/engine/process/processes.h"

using namespace tw;
using namespace tw::test;
using measure::BuildOutcome;
using records::Candidate;
using records::Status;

namespace {

constexpr int kChannel = process::kChannelFd;

/// A build worker that misbehaves as the environment says; this program itself when started as a worker.
int fake_worker() {
  const std::string mode = getenv("TW_TEST_MODE");
  if (mode == "never") return 3;
  const int protocol = mode == "old" ? 0 : measure::kProtocolVersion;
  (void)process::write_frame(kChannel, Json{{"hello", "build"}, {"protocol", protocol}});
  for (;;) {
    const auto request = process::read_frame(kChannel);
    if (!request || !*request) return 0;
    const Json& h = (**request).header;
    if (h["command"] != "build") continue;
    const int id = h["id"].get<int>();
    const bool bad = id == 1;
    if (bad && mode == "segv") raise(SIGSEGV);
    if (bad && mode == "abort") {
      fprintf(stderr, "LLVM ERROR: out of memory\n");
      abort();
    }
    if (bad && mode == "oom") return process::kExitOutOfMemory;
    if (bad && mode == "exit") return 5;
    if (bad && mode == "hang") pause();
    if (bad && mode == "close") {
      close(kChannel);
      pause();
    }
    if (bad && mode == "rubbish" && write(kChannel, "rubbish rubbish rubbish", 23) < 0) return 1;
    if (bad && mode == "liar") {
      (void)process::write_frame(kChannel, Json{{"id", 99}, {"status", "ok"}, {"message", ""}, {"seconds", 0}});
      continue;
    }
    if (bad && mode == "once") {
      const char* flag = getenv("TW_TEST_FLAG");
      const int fd = open(flag, O_CREAT | O_EXCL | O_WRONLY, 0600);
      if (fd >= 0) raise(SIGILL);
    }
    if (bad && mode == "flood") {
      const std::string line(1000, 'x');
      for (int i = 0; i < 20000; ++i) puts(line.c_str());
      fflush(stdout);
    }
    (void)process::write_frame(kChannel, Json{{"id", id}, {"status", "lower_fail"}, {"message", "as asked"}, {"seconds", 0.001}});
  }
}

}  // namespace

class BuilderTest : public QObject {
  Q_OBJECT
  std::string mark_ = mark_processes();
  records::Task task_ = doubling_task();

  std::unique_ptr<measure::Builder> real(double timeout_s = 10, int jobs = 2) {
    measure::WorkerOptions options;
    options.worker_path = TW_BIN_DIR "/tw-worker";
    options.jobs = jobs;
    options.build_timeout_s = timeout_s;
    auto made = measure::local_builder(options);
    return made ? std::move(*made) : nullptr;
  }
  /// Three candidates; the fake worker misbehaves over the middle one.
  std::vector<BuildOutcome> fake(const char* mode, double timeout_s = 5, int jobs = 1) {
    qputenv("TW_TEST_MODE", mode);
    measure::WorkerOptions options;
    options.worker_path = QFileInfo("/proc/self/exe").symLinkTarget().toStdString();
    options.jobs = jobs;
    options.build_timeout_s = timeout_s;
    auto made = measure::local_builder(options);
    return (*made)->build(task_, std::vector<Candidate>(3), {});
  }
  void expect_middle(const char* mode, Status want, const char* word) {
    const std::vector<BuildOutcome> out = fake(mode, 1.5);
    QCOMPARE(out.size(), size_t{3});
    const QString found = QString("%1: %2: %3").arg(mode, records::status_name(out[1].status), QString::fromStdString(out[1].message));
    QVERIFY2(out[1].status == want, qPrintable(found));
    QVERIFY2(out[1].message.find(word) != std::string::npos, qPrintable(found));
    for (const int i : {0, 2}) QVERIFY2(out[static_cast<size_t>(i)].message == "as asked", out[static_cast<size_t>(i)].message.c_str());
    QVERIFY(wait_for_count(mark_, 0, 0, 2));
  }

 private Q_SLOTS:
  void cleanup() { QVERIFY(wait_for_count(mark_, 0, 0, 2)); }

  void crashes_are_told_apart() {
    expect_middle("segv", Status::build_crash, "SIGSEGV");
    expect_middle("abort", Status::out_of_memory, "needed more than");
    expect_middle("oom", Status::out_of_memory, "needed more than");
    expect_middle("exit", Status::build_crash, "exit code 5");
  }
  void hangs_are_cut() {
    expect_middle("hang", Status::build_timeout, "more than 1.5 s");
    expect_middle("close", Status::infra, "closed its channel");
  }
  void protocol_errors_are_ours() {
    expect_middle("rubbish", Status::infra, "protocol");
    expect_middle("liar", Status::infra, "outcome of build 1");
  }
  void a_crash_that_does_not_repeat_is_forgiven() {
    QTemporaryDir dir;
    qputenv("TW_TEST_FLAG", dir.filePath("flag").toUtf8());
    expect_middle("once", Status::lower_fail, "as asked");
  }
  void floods_of_output_do_no_harm() { expect_middle("flood", Status::lower_fail, "as asked"); }

  void workers_that_do_not_start() {
    for (const BuildOutcome& o : fake("never")) {
      QVERIFY(o.status == Status::infra);
      QVERIFY2(o.message.find("exit code 3") != std::string::npos, o.message.c_str());
    }
    for (const BuildOutcome& o : fake("old")) {
      QVERIFY(o.status == Status::infra);
      const std::string told = "protocol " + std::to_string(measure::kProtocolVersion) + ", found 0";
      QVERIFY2(o.message.find(told) != std::string::npos, o.message.c_str());
    }
    measure::WorkerOptions missing;
    missing.worker_path = "/nonexistent/tw-worker";
    QVERIFY(measure::local_builder(missing).error().code == ErrorCode::not_found);
    QVERIFY(measure::local_runner(missing).error().code == ErrorCode::not_found);
  }

  void stops_within_a_moment() {
    qputenv("TW_TEST_MODE", "hang");
    measure::WorkerOptions options;
    options.worker_path = QFileInfo("/proc/self/exe").symLinkTarget().toStdString();
    options.jobs = 1;
    options.build_timeout_s = 60;
    auto made = measure::local_builder(options);
    StopSource stop;
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      stop.request_stop();
    });
    const auto start = std::chrono::steady_clock::now();
    const auto out = (*made)->build(task_, std::vector<Candidate>(3), stop.get_token());
    stopper.join();
    QVERIFY(std::chrono::steady_clock::now() - start < std::chrono::seconds(3));
    QVERIFY(out[1].status == Status::cancelled && out[2].status == Status::cancelled);
  }

  void compiles_for_real() {
    const auto builder = real();
    QVERIFY(builder != nullptr);
    std::vector<Candidate> candidates(6);
    for (size_t i = 1; i < candidates.size(); ++i) candidates[i].steps = {schedule::SplitStep{1, 0, kSize, {int64_t{1} << i}}};
    candidates[3].steps = {schedule::SplitStep{1, 7, kSize, {4}}};  // there is no loop 7
    const auto out = builder->build(task_, candidates, {});
    for (size_t i = 0; i < out.size(); ++i) {
      if (i == 3) {
        QVERIFY2(out[i].status == Status::lower_fail, out[i].message.c_str());
        QVERIFY(!out[i].message.empty());
        continue;
      }
      QVERIFY2(out[i].status == Status::ok, out[i].message.c_str());
      QVERIFY(out[i].seconds > 0);
      QVERIFY(out[i].artifact && !out[i].artifact->object.empty());
      QVERIFY(out[i].artifact->kernels[0].args == doubling_signature().args);
    }
    // Another task on the same workers.
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {8, 32}, kFloat32, te::Role::constant);
    const te::Tensor y = b.compute("y", {8, 32}, [&](const te::Indices& i) { return x(i[0], i[1]) + ir::fimm(kFloat32, 1); });
    const records::Task other = records::make_task("plus", std::move(b).finish({y}), host_target());
    std::vector<Candidate> packed(1);
    packed[0].steps = {schedule::LayoutStep{0, {{0, 0}, {1, 0}, {0, 4}}}};
    const auto again = builder->build(other, packed, {});
    QVERIFY2(again[0].status == Status::ok, again[0].message.c_str());
    const runtime::ArgSpec& arg = again[0].artifact->kernels[0].args[0];
    QVERIFY(arg.constant);
    QVERIFY(arg.physical_shape() == (std::vector<int64_t>{2, 32, 4}));
  }

  void impossible_deadlines_are_timeouts() {
    const auto builder = real(1e-5, 1);
    const auto out = builder->build(task_, std::vector<Candidate>(2), {});
    for (const BuildOutcome& o : out) QVERIFY2(o.status == Status::build_timeout, o.message.c_str());
  }
};

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[2]) == "--memory-bytes") return fake_worker();
  BuilderTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "builder_test.moc"
