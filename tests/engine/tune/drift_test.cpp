// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/drift.h"

#include <QtTest>

#include "engine/base/json.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::tune;
using namespace tw::tune::fixture;
using measure::References;

namespace {

constexpr auto kSteady = DriftGate::State::steady, kDoubtful = DriftGate::State::doubtful, kNew = DriftGate::State::new_epoch;

/// A machine that becomes half as fast at its `slow_from`-th candidate. The best point is only measured after that.
class SlowingRunner : public measure::Runner {
 public:
  std::vector<records::MeasureResult> run(const records::Task& task, std::span<const measure::BuildOutcome> builds, const measure::RunOptions& o,
                                          StopToken stop) override {
    auto results = exact_times(task, builds, o, stop);
    for (records::MeasureResult& r : results) {
      for (double& s : r.samples_s) s *= slow() ? 2 : 1;
      if (o.samples == 0) ++candidates;
      if (o.samples == 5) ++anchors;
    }
    incumbents.push_back(o.incumbent_s);
    return results;
  }
  Expected<References> references(StopToken) override { return References{slow() ? 50.0 : 100.0, 20}; }
  bool slow() const { return candidates >= slow_from; }

  int64_t slow_from = 15, candidates = 0, anchors = 0;
  std::vector<double> incumbents;
};

}  // namespace

class DriftTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void small_changes_are_no_change() {
    DriftGate gate;
    QCOMPARE(gate.observe({100, 20}, 0), kSteady);
    for (int i = 1; i < 10; ++i) QCOMPARE(gate.observe({i % 2 == 0 ? 102.5 : 97.5, i % 2 == 0 ? 22.5 : 17.5}, i), kSteady);
  }
  void the_fifth_doubt_in_a_row_is_certain() {
    DriftGate gate;
    gate.observe({100, 20}, 0);
    QCOMPARE(gate.observe({96, 20}, 1), kDoubtful);
    QCOMPARE(gate.observe({96, 20}, 2), kDoubtful);
    QCOMPARE(gate.observe({99, 20}, 3), kSteady);
    for (int i = 0; i < 4; ++i) QCOMPARE(gate.observe({100, 16}, 4), kDoubtful);
    QCOMPARE(gate.observe({100, 16}, 6), kNew);
    QCOMPARE(gate.change(), std::string("arithmetic +0 %, memory -20 %"));
    QCOMPARE(gate.observe({100, 16}, 7), kSteady);
  }
  void faster_is_a_change_too_and_the_unknown_is_none() {
    DriftGate gate, blind;
    gate.observe({100, 20}, 0);
    QCOMPARE(gate.observe({110, 20}, 1), kDoubtful);
    for (int i = 0; i < 5; ++i) QCOMPARE(blind.observe({}, i), kSteady);
  }
  void it_is_due_at_first_and_after_20_trials_or_10_seconds_and_after_8_in_doubt() {
    DriftGate gate;
    QVERIFY(gate.due(1, 0));
    gate.observe({100, 20}, 0);
    QVERIFY(!gate.due(12, 1));
    QVERIFY(gate.due(8, 1));
    gate.observe({100, 20}, 1);
    QVERIFY(!gate.due(1, 10.5));
    QVERIFY(gate.due(1, 11));
    gate.observe({50, 20}, 11);
    QVERIFY(!gate.due(7, 12));
    QVERIFY(gate.due(1, 12));
  }
  void a_session_compares_across_a_change() {
    Session s;
    // Points 64 to 67 are better than all before by less than the machine slows down, which is noticed at the next look.
    s.machine.seconds = [](const records::Task&, const records::Candidate& c) {
      return c.index >= 64 && c.index < 68 ? 0.7e-3 : 1e-3 + 1e-5 * static_cast<double>(c.index);
    };
    auto made = std::make_unique<SlowingRunner>();
    const SlowingRunner& seen = *made;
    s.runner = std::move(made);
    SessionOptions o = options(90);
    o.tuner = "grid";
    const records::Task task = dense(32, 64, 64);
    QVERIFY(s.run({{task, 1, {}}}, o));
    QVERIFY(seen.slow() && seen.anchors > 0);
    const auto best = s.store.best(task.key, records::Weights::unknown);
    QVERIFY(best && *best);
    QVERIFY2((*best)->candidate.index >= 64 && (*best)->candidate.index < 68, qPrintable(QString::number((*best)->candidate.index)));
    QVERIFY(std::any_of(s.events.begin(), s.events.end(), [](const Event& e) { return std::holds_alternative<Note>(e); }));
    QVERIFY(*std::max_element(seen.incumbents.begin(), seen.incumbents.end()) > 1.3e-3);  // of the slow epoch: 0.7 ms or 1 ms, times two
  }
};

QTEST_APPLESS_MAIN(DriftTest)
#include "drift_test.moc"
