// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/finals.h"

#include <QtTest>
#include <cmath>
#include <set>

#include "engine/base/json.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::tune;
using namespace tw::tune::fixture;
using records::Status;

namespace {

/// True times without noise, except that one point looks faster than it is while it is searched, and may fail in the finals.
class LuckyRunner : public measure::Runner {
 public:
  std::vector<records::MeasureResult> run(const records::Task& task, std::span<const measure::BuildOutcome> builds, const measure::RunOptions& o,
                                          StopToken stop) override {
    auto results = exact_times(task, builds, o, stop);
    for (records::MeasureResult& r : results) {
      if (o.samples > 0) {
        seeds.insert(o.input_seed);
        uneven.insert(o.magnitudes == measure::Magnitudes::uneven ? o.input_seed : 0);
        if (r.samples_s[0] == spoilt_s) {
          r.status = Status::wrong_output;
          r.verified = false;
        }
      } else if (std::abs(r.samples_s[0] - lucky_s) < 1e-12) {
        for (double& s : r.samples_s) s *= 0.9;
      }
    }
    return results;
  }

  double lucky_s = 0, spoilt_s = 0;
  std::set<uint64_t> seeds, uneven;  ///< those of rounds with uneven magnitudes, and 0
};

/// Is stopped in the midst of a run of the finals, which then says `cancelled`.
class StoppedRunner : public measure::Runner {
 public:
  StoppedRunner(StopSource& stop, int run) : stop_(stop), run_(run) {}
  std::vector<records::MeasureResult> run(const records::Task& task, std::span<const measure::BuildOutcome> builds, const measure::RunOptions& o,
                                          StopToken stop) override {
    auto results = exact_times(task, builds, o, stop);
    if (o.samples > 0 && ++runs == run_) {
      stop_.request_stop();
      results[0] = {};
      results[0].status = Status::cancelled;
    }
    return results;
  }
  int runs = 0;  ///< of finals

 private:
  StopSource& stop_;
  int run_;
};

/// Times of points: 1 ms, 1.02 ms, 1.04 ms and so on in the order of their numbers.
double staircase(const records::Task&, const records::Candidate& c) { return 1e-3 * (1 + 0.02 * static_cast<double>(c.index + 1)); }

struct Lucky : Session {
  LuckyRunner* lucky;
  Lucky() {
    machine.seconds = staircase;
    auto made = std::make_unique<LuckyRunner>();
    lucky = made.get();
    runner = std::move(made);
  }
  const FinalsDone* finals() const {
    for (const Event& e : events)
      if (const auto* f = std::get_if<FinalsDone>(&e)) return f;
    return nullptr;
  }
};

SessionOptions grid(int64_t trials) {
  SessionOptions o = options(trials);
  o.tuner = "grid";
  return o;
}

}  // namespace

class FinalsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void a_lucky_time_does_not_win() {
    Lucky s;
    s.lucky->lucky_s = staircase({}, {"", 3, {}, {}});  // really 1.08 ms, seen as 0.972
    const auto report = s.run({{dense(32, 64, 64), 1, {}}}, grid(20));
    QVERIFY(report);
    const FinalsDone* f = s.finals();
    QVERIFY(f);
    QCOMPARE(f->finalists[0].candidate.index, 3);
    QCOMPARE(f->finalists[0].result.verdict->seconds, f->finalists[0].result.seconds());
    const auto best = s.store.best(dense(32, 64, 64).key);
    QVERIFY(best && *best);
    QCOMPARE((*best)->candidate.index, -1);  // 1 ms
    QVERIFY(std::abs((*best)->result.decided_s() - 0.972e-3 / 1.08) < 1e-9);
    QCOMPARE(report->tasks[0].best_s, (*best)->result.decided_s());
    QCOMPARE(s.lucky->seeds.size(), size_t{3});
    QCOMPARE(s.lucky->uneven.size(), size_t{2});
  }
  void a_wrong_incumbent_makes_way_for_the_next() {
    Lucky s;
    s.lucky->spoilt_s = 1e-3;  // of the default schedule, the fastest
    QVERIFY(s.run({{dense(32, 64, 64), 1, {}}}, grid(20)) && s.finals());
    const records::Record& first = s.finals()->finalists[0];
    QCOMPARE(first.candidate.index, -1);
    QVERIFY(std::isinf(first.result.verdict->seconds));
    const records::Record best = **s.store.best(dense(32, 64, 64).key);
    QCOMPARE(best.candidate.index, 0);
    QCOMPARE(best.result.decided_s(), best.result.seconds());
  }
  void who_is_wrong_with_other_inputs_is_never_best() {
    Lucky s;
    s.lucky->spoilt_s = 1e-3 * 1.02;
    s.machine.seconds = [](const records::Task& t, const records::Candidate& c) { return c.index < 0 ? 2e-3 : staircase(t, c); };
    s.lucky->lucky_s = staircase({}, {"", 2, {}, {}});
    const auto report = s.run({{dense(32, 64, 64), 1, {}}}, grid(20));
    QVERIFY(report && s.finals());
    // The default schedule is far from the leaders and takes part, so that all are compared with it in the same rounds.
    const records::Record& last = s.finals()->finalists.back();
    QCOMPARE(last.candidate.index, -1);
    QCOMPARE(report->tasks[0].default_s, last.result.verdict->seconds);
    for (const records::Record& r : s.finals()->finalists) QCOMPARE(std::isinf(r.result.verdict->seconds), r.candidate.index == 0);
    QCOMPARE((*s.store.best(dense(32, 64, 64).key))->candidate.index, 1);
  }
  void finals_that_were_stopped_blame_nobody() {
    int all = 0;
    for (int at = 0; at == 0 || at <= all; ++at) {  // 0: not at all
      Session s;
      s.machine.seconds = staircase;
      auto made = std::make_unique<StoppedRunner>(s.stop, at);
      StoppedRunner& runner = *made;
      s.runner = std::move(made);
      const auto report = s.run({{dense(32, 64, 64), 1, {}}}, grid(20));
      QVERIFY(report);
      QCOMPARE(report->tasks[0].without_finals, at > 0);
      for (const Event& e : s.events) QVERIFY(at == 0 || !std::holds_alternative<FinalsDone>(e));
      QCOMPARE((*s.store.best(dense(32, 64, 64).key))->candidate.index, -1);
      if (at == 0) all = runner.runs;
      QVERIFY(all >= 6);
    }
  }
  void without_a_rival_or_with_none_wanted_there_are_no_finals() {
    Lucky alone, off;
    alone.machine.seconds = [](const records::Task&, const records::Candidate& c) { return 1e-3 * std::pow(2.0, static_cast<double>(c.index + 1)); };
    QVERIFY(alone.run({{dense(32, 64, 64), 1, {}}}, grid(8)));
    QVERIFY(!alone.finals());
    SessionOptions o = grid(8);
    o.finalists = 0;
    QVERIFY(off.run({{dense(32, 64, 64), 1, {}}}, o));
    QVERIFY(!off.finals());
    QCOMPARE(off.lucky->seeds.size(), size_t{0});
  }
};

QTEST_APPLESS_MAIN(FinalsTest)
#include "finals_test.moc"
