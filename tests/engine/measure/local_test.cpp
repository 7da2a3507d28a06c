// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/measure/check.h"
#include "tests/engine/measure/fixtures.h"

using namespace tw;
using measure::BuildOutcome;
using records::Candidate;
using records::MeasureResult;
using records::Status;
using namespace schedule;

namespace {

/// y[n, m] = relu(sum over k of x[n, k] * w[m, k])
te::DagPtr dense(int64_t n, int64_t m, int64_t k, DType t = kFloat32) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {n, k}, t), w = b.placeholder("w", {m, k}, t, te::Role::constant);
  const te::Tensor y = b.reduce(
      "y", {n, m}, {k}, te::Reducer::sum, [&](const te::Indices& i, const te::Indices& r) { return x(i[0], r[0]) * w(i[1], r[0]); }, "dense");
  const te::Tensor z = b.compute("z", {n, m}, [&](const te::Indices& i) { return ir::max(y(i[0], i[1]), ir::zero(t)); });
  return std::move(b).finish({z});
}

Target here(int cores) {
  Target t = host_target();
  t.cores = cores;
  return t;
}

}  // namespace

/// Candidates through both kinds of worker: built from steps, run, compared with the interpreter.
class LocalTest : public QObject {
  Q_OBJECT
  std::unique_ptr<measure::Builder> builder_;
  std::unique_ptr<measure::Runner> runner_;

  std::vector<MeasureResult> measure(const records::Task& task, const std::vector<std::vector<Step>>& steps, const measure::RunOptions& options = {}) {
    std::vector<Candidate> candidates(steps.size());
    for (size_t i = 0; i < steps.size(); ++i) candidates[i].steps = steps[i];
    const std::vector<BuildOutcome> builds = builder_->build(task, candidates, {});
    return runner_->run(task, builds, options, {});
  }
  static void fine(const MeasureResult& r) {
    QVERIFY2(r.ok() && r.verified, (std::string(records::status_name(r.status)) + ": " + r.message).c_str());
    QVERIFY(r.seconds() > 0 && r.build_s > 0 && r.load_s > 0 && r.run_s >= r.seconds());
    QVERIFY(r.fill_s > 0 && r.verify_s > 0 && r.verify_s < r.run_s);
  }

 private Q_SLOTS:
  void init() {
    measure::WorkerOptions options;
    options.worker_path = TW_BIN_DIR "/tw-worker";
    options.jobs = 1;
    builder_ = std::move(*measure::local_builder(options));
    runner_ = std::move(*measure::local_runner(options));
  }

  /// Whatever this machine lets count, else a sentence.
  void events_are_counted_in_a_run_of_their_own() {
    const records::Task task = records::make_task("dense", dense(8, 32, 64), here(2));
    const std::vector<Candidate> candidates(1);
    const std::vector<BuildOutcome> builds = builder_->build(task, candidates, {});
    const auto reading = runner_->count(task, builds[0], {});
    QVERIFY2(reading, reading ? "" : reading.error().text().c_str());
    QVERIFY(!reading->counts.empty() || !reading->missing.empty());
    for (const measure::EventCount& e : reading->counts)
      if (e.event == measure::Event::task_clock) QVERIFY2(e.count > 100 && e.count < 1e9, qPrintable(QString::number(e.count)));
    QVERIFY(runner_->run(task, builds, {}, {})[0].ok());  // the worker goes on
  }

  void plain_and_tiled() {
    const records::Task task = records::make_task("dense", dense(30, 40, 50), here(1));
    const std::vector<Step> tiled{SplitStep{2, 0, 30, {8}}, SplitStep{2, 2, 40, {16}}, AnnotationStep{3, 0, Annotation::parallel}};
    for (const MeasureResult& r : measure(task, {{}, tiled})) fine(r);
  }

  void large_tasks_are_sampled() {
    const records::Task task = records::make_task("dense", dense(192, 200, 210), here(1));
    const auto results = measure(task, {{}});
    fine(results[0]);
    QVERIFY(results[0].max_rel_error < 1e-5);
  }

  void two_threads_and_layouts() {
    const records::Task task = records::make_task("dense", dense(64, 60, 32), here(2));
    // w packed as [4][32][16], z as [64/8][60][8]; rows of z in parallel.
    const std::vector<Step> steps{LayoutStep{1, {{0, 0}, {1, 0}, {0, 16}}}, LayoutStep{3, {{0, 0}, {1, 0}, {0, 8}}},
                                  AnnotationStep{3, 0, Annotation::parallel}};
    for (const MeasureResult& r : measure(task, {steps})) fine(r);
  }

  void other_types() {
    for (const DType t : {kFloat64, kInt32, kInt64}) {
      const records::Task task = records::make_task("dense", dense(9, 10, 11, t), here(1));
      const auto r = measure(task, {{}})[0];
      fine(r);
      if (t.is_int()) QCOMPARE(r.max_rel_error, 0.0);
    }
  }

  void seeds_change_inputs_not_verdicts() {
    const records::Task task = records::make_task("dense", dense(20, 20, 20), here(1));
    for (const uint64_t seed : {1, 2, 3}) {
      measure::RunOptions options;
      options.input_seed = seed;
      options.magnitudes = seed == 3 ? measure::Magnitudes::uneven : measure::Magnitudes::even;
      fine(measure(task, {{}}, options)[0]);
    }
  }

  void slow_candidates_are_censored() {
    const records::Task task = records::make_task("dense", dense(100, 100, 100), here(1));
    measure::RunOptions options;
    options.incumbent_s = 1e-7;
    // Only an undisturbed sample can call a candidate slow, and a busy machine may disturb all of one measurement.
    MeasureResult r;
    for (int attempt = 0; attempt < 20 && !r.censored; ++attempt) {
      r = measure(task, {{}}, options)[0];
      fine(r);
      QVERIFY(r.censored || r.flagged == static_cast<int>(r.samples_s.size()));
    }
    QVERIFY(r.censored);
    QCOMPARE(r.samples_s.size(), static_cast<size_t>(r.flagged) + 1);  // the first that nothing else disturbed
  }

  void unverified_runs_say_so() {
    const records::Task task = records::make_task("dense", dense(20, 20, 20), here(1));
    measure::RunOptions options;
    options.verify = false;
    const auto r = measure(task, {{}}, options)[0];
    QVERIFY2(r.ok(), r.message.c_str());
    QVERIFY(!r.verified);
  }

  /// Without a best so far everybody is compared, and then who is not slower than it allows.
  void only_those_that_may_be_best_are_compared() {
    const records::Task task = records::make_task("dense", dense(50, 50, 50), here(1));
    measure::RunOptions options;
    options.verify_within = 1.1;
    fine(measure(task, {{}}, options)[0]);
    options.incumbent_s = 10;
    fine(measure(task, {{}}, options)[0]);
    options.incumbent_s = 1e-9;
    const auto slow = measure(task, {{}}, options)[0];
    QVERIFY2(slow.ok() && !slow.verified, slow.message.c_str());
    QVERIFY(slow.fill_s > 0 && slow.run_s > 0);
  }

  void illegal_candidates_fail_alone() {
    const records::Task task = records::make_task("dense", dense(20, 20, 20), here(1));
    const auto results = measure(task, {{}, {SplitStep{9, 0, 20, {4}}}, {}});
    fine(results[0]);
    QVERIFY(results[1].status == Status::lower_fail);
    fine(results[2]);
  }
};

QTEST_APPLESS_MAIN(LocalTest)
#include "local_test.moc"
