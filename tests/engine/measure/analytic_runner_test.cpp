// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/analytic_runner.h"

#include <QtTest>

#include "engine/base/json.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::measure;

namespace {

std::vector<records::MeasureResult> results_of(const AnalyticOptions& machine, const std::vector<records::Candidate>& candidates, StopToken stop = {}) {
  const records::Task task = tune::fixture::dense(16, 64, 64);
  const auto builds = analytic_builder(machine)->build(task, candidates, stop);
  return analytic_runner(machine)->run(task, builds, {}, stop);
}

std::vector<records::Candidate> points(int count) {
  std::vector<records::Candidate> result;
  for (int i = 0; i < count; ++i) result.push_back({"space", i, "[]", {schedule::SplitStep{0, 0, 64, {int64_t{1} << (i % 6)}}}});
  return result;
}

}  // namespace

class AnalyticRunnerTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void the_seed_decides_the_times() {
    AnalyticOptions a, b;
    b.seed = 2;
    const auto first = results_of(a, points(4)), again = results_of(a, points(4)), other = results_of(b, points(4));
    for (size_t i = 0; i < 4; ++i) {
      QCOMPARE(first[i].samples_s, again[i].samples_s);
      QVERIFY(first[i].samples_s != other[i].samples_s);
      QVERIFY(first[i].ok() && first[i].verified);
    }
  }
  void the_formula_prefers_splits_of_16() {
    AnalyticOptions quiet;
    quiet.noise = 0;
    const auto r = results_of(quiet, points(6));
    for (size_t i = 0; i < 6; ++i) QVERIFY(r[4].seconds() <= r[i].seconds());
  }
  void failures_come_at_their_rate_and_stay() {
    AnalyticOptions machine;
    machine.failure_rate = 0.3;
    const auto r = results_of(machine, points(1000)), again = results_of(machine, points(1000));
    int64_t failures = 0;
    for (size_t i = 0; i < r.size(); ++i) {
      QVERIFY(r[i].status == again[i].status);
      if (!r[i].ok()) ++failures;
    }
    QVERIFY(failures > 240 && failures < 360);
  }
  void a_stop_cancels() {
    StopSource stop;
    stop.request_stop();
    for (const auto& r : results_of({}, points(2), stop.get_token())) QVERIFY(r.status == records::Status::cancelled);
  }
  void foreign_artifacts_are_our_failure() {
    const records::Task task = tune::fixture::dense(16, 64, 64);
    BuildOutcome foreign{records::Status::ok, {}, std::make_shared<runtime::Artifact>(), 0};
    const auto r = analytic_runner({})->run(task, std::vector{foreign}, {}, {});
    QVERIFY(r[0].status == records::Status::infra);
  }
};

QTEST_APPLESS_MAIN(AnalyticRunnerTest)
#include "analytic_runner_test.moc"
