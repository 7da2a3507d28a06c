// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/recorded_device.h"

#include <QtTest>
#include <set>

#include "engine/measure/analytic_runner.h"
#include "engine/schedule/fingerprint.h"

using namespace tw;
using records::Status;

namespace {

records::Record recorded_trial(int64_t index, Status status, std::vector<double> samples) {
  records::Record r;
  r.task_key = "task";
  r.candidate = {"space", index, {}, {schedule::SplitStep{0, 0, 64, {index + 1}}}};
  r.result.status = status;
  r.result.samples_s = std::move(samples);
  r.result.sample_flags.assign(r.result.samples_s.size(), false);
  r.result.verified = status == Status::ok;
  r.result.build_s = 0.5;
  r.result.timestamp_s = 1e9;
  r.result.message = status == Status::ok ? "" : "It failed";
  return r;
}

}  // namespace

/// A device that answers from recorded trials.
class RecordedDeviceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void candidatesEndAsTheyDid() {
    auto trials = std::make_shared<records::RecordedTrials>();
    trials->add(recorded_trial(0, Status::ok, {9e-3}));
    trials->add(recorded_trial(0, Status::ok, {3e-3, 2e-3}));  // measured again
    trials->add(recorded_trial(1, Status::run_crash, {}));
    trials->add(recorded_trial(2, Status::infra, {}));  // says nothing of the candidate
    records::Record by_steps = recorded_trial(3, Status::ok, {1e-3});
    by_steps.candidate.index = -1, by_steps.candidate.space = "default";
    trials->add(by_steps);
    QCOMPARE(trials->size(), size_t{3});
    QCOMPARE(trials->size("task"), size_t{3});
    QCOMPARE(trials->size("other"), size_t{0});

    const measure::Device device = measure::recorded_device("recorded:file", trials);
    records::Task task;
    task.key = "task";
    std::vector<records::Candidate> candidates;
    for (int64_t i = 0; i < 3; ++i) candidates.push_back(recorded_trial(i, Status::ok, {}).candidate);
    candidates.push_back(by_steps.candidate);
    const auto built = device.builder->build(task, candidates, {});
    QCOMPARE(built[0].status, Status::ok);
    QCOMPARE(built[0].seconds, 0.5);
    QCOMPARE(built[2].status, Status::not_recorded);
    QVERIFY(!records::blames_candidate(built[2].status));
    const std::vector<measure::BuildOutcome> runnable{built[0], built[1], built[3]};
    const auto results = device.runner->run(task, runnable, {}, {});
    QCOMPARE(results[0].samples_s, (std::vector<double>{3e-3, 2e-3}));
    QCOMPARE(results[0].seconds(), 2e-3);
    QVERIFY(results[0].verified);
    QCOMPARE(results[0].timestamp_s, 0.0);
    QCOMPARE(results[1].status, Status::run_crash);
    QCOMPARE(results[1].message, std::string("It failed"));
    QCOMPARE(results[2].seconds(), 1e-3);

    QVERIFY(device.builder->points(task, "space") == (std::vector<int64_t>{0, 1}));
    QVERIFY(device.builder->points(task, "another") == std::vector<int64_t>{});
  }

  /// A sketch has no number; where it comes to the same schedule as a recorded point, that point's trial answers.
  void sketchesEndAsThePointThatTheyAre() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {64}, kFloat32);
    const records::Task task = records::make_task("t", std::move(b).finish({b.compute("y", {64}, [&](const te::Indices& i) { return x.at(i) + x.at(i); })}),
                                                  parse_target("llvm -mcpu=x86-64 -num-cores=1").value());
    auto trials = std::make_shared<records::RecordedTrials>();
    records::Record point = recorded_trial(5, Status::ok, {4e-3});
    point.task_key = task.key;
    point.candidate.steps = {schedule::SplitStep{1, 0, 64, {8}}, schedule::SplitStep{1, 1, 8, {4}}};
    trials->add(point);
    QCOMPARE(trials->all(task.key).size(), size_t{1});
    QVERIFY(trials->all("other").empty());
    const auto sketch = [&](const std::vector<schedule::Step>& steps) {
      records::Candidate c;
      c.space = "sketch";
      c.steps = steps;
      c.fingerprint = schedule::fingerprint(schedule::Schedule::replay(task.dag, steps).value());
      return c;
    };
    const std::vector<records::Candidate> candidates{sketch({schedule::SplitStep{1, 0, 64, {2, 4}}}), sketch({schedule::SplitStep{1, 0, 64, {16}}})};
    const measure::Device device = measure::recorded_device("recorded:file", trials);
    const auto built = device.builder->build(task, candidates, {});
    QCOMPARE(built[0].status, Status::ok);  // 8 x 2 x 4 loops, split once or twice
    QCOMPARE(device.runner->run(task, {&built[0], 1}, {}, {})[0].seconds(), 4e-3);
    QCOMPARE(built[1].status, Status::not_recorded);
  }

  /// Finals ask for more samples than a trial has.
  void samplesAreDrawnFromTheRecordedOnes() {
    auto trials = std::make_shared<records::RecordedTrials>();
    trials->add(recorded_trial(0, Status::ok, {1e-3, 2e-3, 3e-3}));
    const measure::Device device = measure::recorded_device("recorded:file", trials);
    records::Task task;
    task.key = "task";
    const std::vector<records::Candidate> candidates{recorded_trial(0, Status::ok, {}).candidate};
    const auto built = device.builder->build(task, candidates, {});
    measure::RunOptions options;
    options.samples = 60;
    const auto first = device.runner->run(task, built, options, {})[0], same = device.runner->run(task, built, options, {})[0];
    options.input_seed = 2;
    const auto other = device.runner->run(task, built, options, {})[0];
    QCOMPARE(first.samples_s.size(), size_t{60});
    QCOMPARE(std::set(first.samples_s.begin(), first.samples_s.end()), (std::set<double>{1e-3, 2e-3, 3e-3}));
    QCOMPARE(first.samples_s, same.samples_s);
    QVERIFY(first.samples_s != other.samples_s);
  }

  void stopsAndForeignArtifacts() {
    auto trials = std::make_shared<records::RecordedTrials>();
    trials->add(recorded_trial(0, Status::ok, {1e-3}));
    const measure::Device device = measure::recorded_device("recorded:file", trials);
    records::Task task;
    task.key = "task";
    const std::vector<records::Candidate> candidates{recorded_trial(0, Status::ok, {}).candidate};
    StopSource stop;
    stop.request_stop();
    QCOMPARE(device.builder->build(task, candidates, stop.get_token())[0].status, Status::cancelled);
    const auto built = device.builder->build(task, candidates, {});
    QCOMPARE(device.runner->run(task, built, {}, stop.get_token())[0].status, Status::cancelled);
    const auto foreign = measure::analytic_builder({})->build(task, candidates, {});
    QCOMPARE(device.runner->run(task, foreign, {}, {})[0].status, Status::infra);
    QCOMPARE(measure::analytic_runner({})->run(task, built, {}, {})[0].status, Status::infra);
  }
};

QTEST_APPLESS_MAIN(RecordedDeviceTest)
#include "recorded_device_test.moc"
