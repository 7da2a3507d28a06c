// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>

#include <QtTest>

#include "tests/engine/measure/fixtures.h"
#include "tests/engine/process/processes.h"

using namespace tw;
using namespace tw::test;
using measure::BuildOutcome;
using records::MeasureResult;
using records::Status;

namespace {

measure::WorkerOptions worker_options() {
  measure::WorkerOptions options;
  options.worker_path = TW_BIN_DIR "/tw-worker";
  options.jobs = 1;
  return options;
}

/// Keeps a worker with a running candidate and a building worker busy until it is killed.
int helper() {
  auto builder = measure::local_builder(worker_options());
  auto runner = measure::local_runner(worker_options());
  if (!builder || !runner) return 1;
  const records::Task task = doubling_task();
  std::thread building([&] {
    const std::vector<records::Candidate> none(50);
    for (;;) (*builder)->build(task, none, {});
  });
  const std::vector<BuildOutcome> endless{endless_kernel()};
  measure::RunOptions options;
  options.timeout_s = 100;
  (*runner)->run(task, endless, options, {});
  building.join();
  return 0;
}

}  // namespace

/// Every way a candidate can misbehave gives its own status, costs nothing but its own trial, and leaves no process behind.
class FaultsTest : public QObject {
  Q_OBJECT
  std::string mark_ = mark_processes();
  records::Task task_ = doubling_task();
  std::unique_ptr<measure::Runner> runner_;

  MeasureResult run_one(const BuildOutcome& build, double timeout_s = 5) {
    measure::RunOptions options;
    options.timeout_s = timeout_s;
    return runner_->run(task_, std::vector<BuildOutcome>{build}, options, {})[0];
  }
  /// The bad one ends with `want`, and a good one after it is fine.
  void expect(const BuildOutcome& bad, Status want, const char* word, double timeout_s = 5) {
    QVERIFY2(bad.status == Status::ok, bad.message.c_str());
    const MeasureResult r = run_one(bad, timeout_s);
    const QString found = QString("%1: %2").arg(records::status_name(r.status), QString::fromStdString(r.message));
    QVERIFY2(r.status == want, qPrintable(found));
    QVERIFY2(r.message.find(word) != std::string::npos, qPrintable(found));
    QVERIFY(!r.verified);
    const MeasureResult good = run_one(good_kernel());
    QVERIFY2(good.ok() && good.verified, good.message.c_str());
    QVERIFY2(wait_for_count(mark_, 1, 1, 2), "only the worker itself is left");
  }

 private Q_SLOTS:
  void init() {
    auto made = measure::local_runner(worker_options());
    QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
    runner_ = std::move(*made);
  }
  void cleanup() {
    runner_.reset();
    QVERIFY(wait_for_count(mark_, 0, 0, 2));
  }

  void good_one() {
    const MeasureResult r = run_one(good_kernel());
    QVERIFY2(r.ok(), r.message.c_str());
    QVERIFY(r.verified);
    QVERIFY(r.max_rel_error < 1e-6);
    QVERIFY(r.seconds() > 1e-9 && r.seconds() < 1e-3);
    QVERIFY(r.samples_s.size() >= 5 && r.samples_s.size() == r.sample_flags.size());
    QVERIFY(r.timestamp_s > 1e9);
  }

  void hangs() {
    const auto start = std::chrono::steady_clock::now();
    expect(endless_kernel(), Status::run_timeout, "more than 0.5 s", 0.5);
    QVERIFY(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  }
  /// Whose first call is far behind the best so far is not waited for: that it took so long is what is known of it.
  void is_not_waited_for_once_it_is_far_off() {
    measure::RunOptions options;
    options.incumbent_s = 0.02;
    const MeasureResult r = runner_->run(task_, std::vector<BuildOutcome>{endless_kernel()}, options, {})[0];
    QVERIFY2(r.ok() && r.censored && !r.verified, r.message.c_str());
    QCOMPARE(r.seconds(), 0.2);
    QVERIFY2(r.run_s < 1, qPrintable(QString::number(r.run_s)));
    const MeasureResult good = run_one(good_kernel());
    QVERIFY2(good.ok() && good.verified && !good.censored, good.message.c_str());
  }
  void writes_far_outside() {
    const Parts p;
    expect(compiled(p, tir::seq({p.right(), p.set_y(ir::index(int64_t{1} << 36), Parts::number(1))})), Status::run_crash, "SIGSEGV");
  }
  void writes_just_past_the_end() {
    const Parts p;
    expect(compiled(p, tir::seq({p.right(), p.set_y(ir::index(kSize), Parts::number(1))})), Status::wrong_output, "\"y\", 0 bytes past its end");
  }
  void writes_just_before_the_start() {
    const Parts p;
    expect(compiled(p, tir::seq({p.right(), p.set_y(ir::index(-1), Parts::number(1))})), Status::wrong_output, "before its start");
  }
  void changes_its_input() {
    const Parts p;
    expect(compiled(p, tir::seq({p.right(), tir::store(p.x, {ir::index(3)}, Parts::number(9))})), Status::wrong_output, "changed its input \"x\"");
  }
  void computes_something_else() {
    const Parts p;
    expect(compiled(p, tir::seq({p.right(), p.set_y(ir::index(777), Parts::number(0.5))})), Status::wrong_output, "Element [777] of output \"y\" is 0.5");
  }
  void forgets_an_element() {
    const Parts p;
    const auto all_but_one = Parts::loop(kSize - 1, [&](const ir::Expr& i) { return p.set_y(i, p.x_at(i) * Parts::number(2)); });
    expect(compiled(p, all_but_one), Status::wrong_output, "never wrote 1 elements of output \"y\", first element 999");
  }
  void accumulates_without_a_start() {
    const Parts p;
    const auto body = Parts::loop(kSize, [&](const ir::Expr& i) { return p.set_y(i, p.y_at(i) + p.x_at(i)); });
    expect(compiled(p, body), Status::wrong_output, "output \"y\"");
  }
  void writes_not_a_number() {
    const Parts p;
    const ir::Expr nan = ir::call(ir::Intrinsic::sqrt, {p.x_at(ir::index(0)) - Parts::number(10)});
    expect(compiled(p, tir::seq({p.right(), p.set_y(ir::index(5), nan)})), Status::wrong_output, "Element [5]");
  }
  void wants_too_much_memory() {
    const Parts p;
    const ir::Buffer huge = ir::make_buffer("huge", kFloat32, {int64_t{16} << 30}, ir::Scope::global);
    const ir::Expr zero = ir::index(0);
    const auto use = tir::seq({tir::store(huge, {zero}, p.x_at(zero)), p.right(), p.set_y(zero, ir::load(huge, {zero}) * Parts::number(2))});
    expect(compiled(p, tir::alloc(huge, use)), Status::out_of_memory, "memory");
  }
  void is_no_object() {
    BuildOutcome bad = good_kernel();
    auto artifact = std::make_shared<runtime::Artifact>(*bad.artifact);
    artifact->object.resize(artifact->object.size() / 2);
    bad.artifact = artifact;
    expect(bad, Status::load_fail, "");
  }
  void has_another_name() {
    BuildOutcome bad = good_kernel();
    auto artifact = std::make_shared<runtime::Artifact>(*bad.artifact);
    artifact->kernels[0].name = "missing";
    bad.artifact = artifact;
    expect(bad, Status::load_fail, "missing");
  }
  void has_other_arguments() {
    BuildOutcome bad = good_kernel();
    auto artifact = std::make_shared<runtime::Artifact>(*bad.artifact);
    artifact->kernels[0].args.push_back(artifact->kernels[0].args[0]);
    bad.artifact = artifact;
    expect(bad, Status::infra, "arguments");
  }

  void failed_builds_pass_through() {
    const MeasureResult r = run_one({Status::build_timeout, "Too long", nullptr, 3});
    QVERIFY(r.status == Status::build_timeout);
    QCOMPARE(r.message, std::string("Too long"));
    QCOMPARE(r.build_s, 3.0);
  }

  void stops_in_the_middle() {
    StopSource stop;
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      stop.request_stop();
    });
    const auto start = std::chrono::steady_clock::now();
    measure::RunOptions options;
    options.timeout_s = 60;
    const auto results = runner_->run(task_, std::vector<BuildOutcome>{endless_kernel(), good_kernel()}, options, stop.get_token());
    stopper.join();
    QVERIFY(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
    QVERIFY(results[0].status == Status::cancelled && results[1].status == Status::cancelled);
    QVERIFY(wait_for_count(mark_, 0, 0, 2));
    QVERIFY(run_one(good_kernel()).ok());
  }

  void two_programs_take_turns() {
    auto other = std::move(*measure::local_runner(worker_options()));
    measure::RunOptions options;
    options.timeout_s = 0.5;
    const std::vector<BuildOutcome> endless{endless_kernel()};
    const auto start = std::chrono::steady_clock::now();
    std::thread second([&] { QVERIFY(other->run(task_, endless, options, {})[0].status == Status::run_timeout); });
    QVERIFY(runner_->run(task_, endless, options, {})[0].status == Status::run_timeout);
    second.join();
    QVERIFY(std::chrono::steady_clock::now() - start >= std::chrono::seconds(1));
    // One that waits for its turn can be stopped.
    StopSource stop;
    std::thread long_one([&] {
      measure::RunOptions patient;
      patient.timeout_s = 1.5;
      QVERIFY(other->run(task_, endless, patient, {})[0].status == Status::run_timeout);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      stop.request_stop();
    });
    const auto results = runner_->run(task_, std::vector<BuildOutcome>{good_kernel()}, options, stop.get_token());
    stopper.join();
    long_one.join();
    QVERIFY2(results[0].status == Status::cancelled, results[0].message.c_str());
  }

  void worker_killed_in_the_middle() {
    QVERIFY(run_one(good_kernel()).ok());
    const std::vector<pid_t> workers = marked_processes(mark_);
    QCOMPARE(workers.size(), size_t{1});
    ::kill(workers[0], SIGKILL);
    const MeasureResult r = run_one(good_kernel());
    QVERIFY2(r.ok() && r.verified, r.message.c_str());
  }

  /// Whoever kills or stops a candidate is not the candidate.
  void killed_and_stopped_from_outside() {
    for (const int signal : {SIGKILL, SIGSTOP}) {
      for (const int times : {1, 3}) {
        QVERIFY(run_one(good_kernel()).ok());
        std::vector<pid_t> known = marked_processes(mark_);
        QCOMPARE(known.size(), size_t{1});  // the worker
        int done = 0;
        std::jthread outside([&](const StopToken& over) {
          while (done < times && !over.stop_requested()) {
            for (const pid_t p : marked_processes(mark_)) {
              if (std::find(known.begin(), known.end(), p) != known.end() || done == times) continue;
              known.push_back(p);
              ::kill(p, signal);
              ++done;
            }
          }
        });
        // Killed, a candidate ends at once; once alone it runs until its time is over. Stopped, it waits for that.
        const MeasureResult r = run_one(endless_kernel(), signal == SIGKILL && times == 3 ? 60 : 3);
        outside.request_stop();
        outside.join();
        QCOMPARE(done, times);
        const QString found = QString("%1 %2 times: %3: %4").arg(signal).arg(times).arg(records::status_name(r.status), QString::fromStdString(r.message));
        QVERIFY2(r.status == (times == 1 ? Status::run_timeout : Status::infra), qPrintable(found));
        if (times == 3) QVERIFY2(r.message.find("from outside") != std::string::npos, qPrintable(found));
      }
    }
  }

  void a_worker_that_died_at_a_drift_check_is_replaced() {
    QVERIFY(runner_->references({}).has_value());
    const std::vector<pid_t> workers = marked_processes(mark_);
    QCOMPARE(workers.size(), size_t{1});
    ::kill(workers[0], SIGKILL);
    const auto references = runner_->references({});
    QVERIFY2(references.has_value(), references ? "" : references.error().text().c_str());
    QVERIFY(references->flop_per_s > 0);
  }

  void a_frozen_worker_is_named_and_replaced() {
    QVERIFY(run_one(good_kernel()).ok());
    const std::vector<pid_t> workers = marked_processes(mark_);
    QCOMPARE(workers.size(), size_t{1});
    std::vector<std::string> said;
    runner_->tell([&](const std::string& text) { said.push_back(text); });
    ::kill(workers[0], SIGSTOP);
    const MeasureResult r = run_one(good_kernel());
    QVERIFY2(r.ok() && r.verified, r.message.c_str());
    QVERIFY(marked_processes(mark_) != workers);
    QCOMPARE(said.size(), size_t{2});
    const std::string name = "process " + std::to_string(workers[0]) + " (tw-worker), which is stopped";
    QVERIFY2(said[0] == "Waiting for the measuring worker, " + name, said[0].c_str());
    QVERIFY2(said[1].starts_with("The measuring worker is replaced: " + name), said[1].c_str());
  }

  void whoever_holds_the_machine_is_named() {
    QVERIFY(run_one(good_kernel()).ok());  // its worker is there: starting one can take most of the time that the other has
    auto other = std::move(*measure::local_runner(worker_options()));
    measure::RunOptions options;
    options.timeout_s = 8;
    const std::vector<BuildOutcome> endless{endless_kernel()};
    std::thread second([&] { QVERIFY(other->run(task_, endless, options, {})[0].status == Status::run_timeout); });
    QVERIFY(wait_for_count(mark_, 3, 3, 20));
    std::vector<std::string> said;
    runner_->tell([&](const std::string& text) { said.push_back(text); });
    const MeasureResult r = run_one(good_kernel());
    second.join();
    QVERIFY2(r.ok(), r.message.c_str());
    QVERIFY(!said.empty());
    QVERIFY2(said[0].starts_with("Waiting for this machine's processors, held by process "), said[0].c_str());
    QVERIFY2(said[0].find("(tw-worker)") != std::string::npos, said[0].c_str());
  }

  void nothing_survives_the_program() {
    runner_.reset();
    for (const int delay_ms : {0, 40, 250}) {
      const pid_t child = ::fork();
      QVERIFY(child >= 0);
      if (child == 0) {
        ::execl("/proc/self/exe", "faults_test", "--helper", nullptr);
        ::_exit(1);
      }
      QVERIFY2(wait_for_count(mark_, 4, 100, 20), "the program, its two workers and a candidate are running");
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
      ::kill(child, SIGKILL);
      QCOMPARE(::waitpid(child, nullptr, 0), child);
      QVERIFY2(wait_for_count(mark_, 0, 0, 3), "nothing is left");
    }
  }
};

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--helper") return helper();
  FaultsTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "faults_test.moc"
