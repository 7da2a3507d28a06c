// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/finals.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <functional>
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

/// What happens on a machine while finals run. All times are in units of one process.
struct Weather {
  const char* name;
  double process = 0;    ///< standard deviation of where memory comes to lie, which stays for a process
  double sample = 0.03;  ///< of one-sided noise of each sample
  double trend = 0;      ///< from one process to the next, everything gets so much slower
  double burst = 0;      ///< the probability that one begins with a process; it lasts for some, and all are up to twice as slow
  double restless = 0;   ///< a random walk of the machine's speed
};
constexpr Weather kWeathers[] = {{"calm"},
                                 {"processes differ", 0.02, 0.003},
                                 {"it gets slower", 0.01, 0.02, 0.005},
                                 {"bursts", 0.01, 0.03, 0, 0.06},  // a fifth of the time
                                 {"restless", 0.01, 0.02, 0, 0, 0.03},
                                 {"all of it", 0.015, 0.03, 0.001, 0.04, 0.01}};

class Machine {
 public:
  Machine(const Weather& weather, uint64_t seed) : w_(weather), rng_(seed) {}

  records::MeasureResult run(double seconds) {
    speed_ *= std::exp(w_.restless * rng_.normal() + w_.trend);
    if (burst_ == 0 && rng_.uniform_real() < w_.burst) burst_ = 1 + static_cast<int>(rng_.uniform(6)), slow_ = 1 + rng_.uniform_real();
    const double here = seconds * speed_ * (burst_ > 0 ? slow_ : 1) * std::exp(w_.process * rng_.normal());
    burst_ = std::max(0, burst_ - 1);
    records::MeasureResult r;
    r.status = Status::ok;
    r.verified = true;
    for (int i = 0; i < FinalOptions().samples; ++i) {
      r.samples_s.push_back(here * (1 + w_.sample * std::abs(rng_.normal())));
      r.sample_flags.push_back(false);
    }
    return r;
  }
  /// A round of several, in an order that is drawn.
  void round(const std::vector<double>& seconds, std::vector<std::vector<records::MeasureResult>>& into) {
    std::vector<size_t> order(seconds.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i, std::swap(order[i], order[rng_.uniform(i + 1)]);
    for (const size_t i : order) into[i].push_back(run(seconds[i]));
  }

 private:
  const Weather& w_;
  Rng rng_;
  double speed_ = 1, slow_ = 1;
  int burst_ = 0;
};

/// How often one that takes `ratio` times as long as the incumbent replaces it.
int replaced(const Weather& weather, double ratio, int decisions) {
  const FinalOptions options;
  const std::vector<int> when = looks(1, options);
  int times = 0;
  for (int n = 0; n < decisions; ++n) {
    Machine machine(weather, static_cast<uint64_t>(n));
    std::vector<std::vector<records::MeasureResult>> results(2);
    FinalVerdict v;
    for (const int rounds : when) {
      while (results[0].size() < static_cast<size_t>(rounds)) machine.round({1, ratio}, results);
      v = final_verdict(results[0], results[1], 1, 1, options);
      if (v.settled) break;
    }
    times += v.verdict.seconds < 1;
  }
  return times;
}

/// Candidates by number, each with its time, on a machine with weather.
class StormyRunner : public measure::Runner {
 public:
  StormyRunner(const Weather& weather, uint64_t seed, std::function<double(size_t)> seconds) : machine_(weather, seed), seconds_(std::move(seconds)) {}
  std::vector<records::MeasureResult> run(const records::Task&, std::span<const measure::BuildOutcome> builds, const measure::RunOptions&, StopToken) override {
    const auto number = static_cast<size_t>(std::stoi(builds[0].message));
    if (runs.size() <= number) runs.resize(number + 1);
    ++runs[number];
    return {machine_.run(seconds_(number))};
  }
  std::vector<int> runs;

 private:
  Machine machine_;
  std::function<double(size_t)> seconds_;
};
class NumberingBuilder : public measure::Builder {
 public:
  std::vector<measure::BuildOutcome> build(const records::Task&, std::span<const records::Candidate> candidates, StopToken) override {
    std::vector<measure::BuildOutcome> out;
    for (size_t i = 0; i < candidates.size(); ++i) out.push_back({Status::ok, std::to_string(i), nullptr, 0});
    return out;
  }
};

/// Finals of so many, whose trials all took 1 s.
std::vector<records::Record> finals_of(size_t count, StormyRunner& runner, uint64_t seed) {
  static const records::Task task = elementwise();
  NumberingBuilder builder;
  PhaseTimes times;
  BatchMeasurer measurer(builder, runner, {}, times);
  std::vector<records::Record> finalists(count);
  for (size_t i = 0; i < count; ++i) finalists[i].candidate.index = static_cast<int64_t>(i);
  return run_finals(task, std::move(finalists), 1, {}, measurer, seed, [](const char*) {});
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
    const auto best = s.store.best(dense(32, 64, 64).key, records::Weights::unknown);
    QVERIFY(best && *best);
    QCOMPARE((*best)->candidate.index, -1);  // 1 ms
    QVERIFY(std::abs((*best)->result.decided_s() - 0.972e-3 / 1.08) < 1e-9);
    QCOMPARE(report->tasks[0].best_s, (*best)->result.decided_s());
    QCOMPARE(s.lucky->seeds.size(), size_t{3});
    QCOMPARE(s.lucky->uneven.size(), size_t{2});
  }
  void weathers() {
    QTest::addColumn<int>("weather");
    int k = 0;
    for (const Weather& w : kWeathers) QTest::newRow(w.name) << k++;
  }
  void equals_hardly_ever_replace_each_other_data() { weathers(); }
  void equals_hardly_ever_replace_each_other() {
    QFETCH(int, weather);
    constexpr int kDecisions = 2000;
    const int times = replaced(kWeathers[weather], 1, kDecisions);
    QVERIFY2(times <= kDecisions / 100, QByteArray::number(times));
  }
  void at_the_border_chance_has_its_share_and_no_more_data() { weathers(); }
  void at_the_border_chance_has_its_share_and_no_more() {
    QFETCH(int, weather);
    constexpr int kDecisions = 2000;
    const int times = replaced(kWeathers[weather], FinalOptions().certain, kDecisions);
    const double share = kDecisions * FinalOptions().error;
    QVERIFY2(times <= share + 3 * std::sqrt(share), QByteArray::number(times));
  }
  void three_percent_are_found_data() { weathers(); }
  void three_percent_are_found() {
    QFETCH(int, weather);
    constexpr int kDecisions = 500;
    const int times = replaced(kWeathers[weather], 0.97, kDecisions);
    QVERIFY2(times >= kDecisions * 95 / 100, QByteArray::number(times));
  }
  void many_equals_do_not_make_it_likelier() {
    constexpr int kFinals = 300;
    int replaced = 0;
    for (uint64_t seed = 0; seed < kFinals; ++seed) {
      StormyRunner runner(kWeathers[std::size(kWeathers) - 1], seed, [](size_t) { return 1.0; });
      const auto finalists = finals_of(8, runner, seed);
      QCOMPARE(finalists.size(), size_t{8});
      for (const records::Record& r : finalists) {
        QVERIFY(r.result.verdict && r.result.verdict->low > 0 && r.result.verdict->low <= r.result.verdict->high && std::isfinite(r.result.verdict->high));
        if (r.result.verdict->seconds < 1) {
          ++replaced;
          break;
        }
      }
    }
    QVERIFY2(replaced <= kFinals / 100, QByteArray::number(replaced));
  }
  void who_is_settled_runs_no_longer() {
    // One is far slower, one surely faster; one is as much faster as is asked for, and runs to the end.
    const auto seconds = [](size_t i) { return i == 1 ? 1.08 : i == 2 ? 0.9 : i == 3 ? 0.99 : 1.0; };
    const Weather weather{"", 0.003, 0.01};
    StormyRunner runner(weather, 1, seconds);
    const auto finalists = finals_of(4, runner, 1);
    const std::vector<int> when = looks(3, {});
    QCOMPARE(runner.runs[1], when.front());
    QVERIFY(runner.runs[2] < when.back());
    QCOMPARE(runner.runs[0], runner.runs[3]);
    QVERIFY(runner.runs[3] > runner.runs[2]);
    QVERIFY(std::abs(finalists[2].result.verdict->seconds - 0.9) < 0.02 && finalists[2].result.verdict->high < 0.99);
    QVERIFY(std::abs(finalists[1].result.verdict->seconds - 1.08) < 0.03);
    QCOMPARE(finalists[0].result.verdict->seconds, 1.0);
  }
  void looks_begin_where_something_can_be_sure() {
    for (const int rivals : {1, 3, 8, 20}) {
      const std::vector<int> when = looks(rivals, {});
      QCOMPARE(when.back(), FinalOptions().rounds);
      QVERIFY(std::adjacent_find(when.begin(), when.end(), std::greater_equal<>()) == when.end());
      // A gain that is the same in every round is seen at the first look.
      std::vector<records::MeasureResult> incumbent, other;
      for (int k = 0; k < when.front(); ++k)
        for (auto* results : {&incumbent, &other}) {
          results->emplace_back().status = Status::ok;
          results->back().verified = true;
          results->back().samples_s = {results == &incumbent ? 1.0 : 0.97};
        }
      const FinalVerdict v = final_verdict(incumbent, other, 2, rivals, {});
      QVERIFY(v.settled && std::abs(v.verdict.seconds - 1.94) < 1e-12 && std::abs(v.verdict.low - 0.97) < 1e-12 && std::abs(v.verdict.high - 0.97) < 1e-12);
    }
  }
  void a_wrong_incumbent_makes_way_for_the_next() {
    Lucky s;
    s.lucky->spoilt_s = 1e-3;  // of the default schedule, the fastest
    QVERIFY(s.run({{dense(32, 64, 64), 1, {}}}, grid(20)) && s.finals());
    const records::Record& first = s.finals()->finalists[0];
    QCOMPARE(first.candidate.index, -1);
    QVERIFY(std::isinf(first.result.verdict->seconds));
    const records::Record best = **s.store.best(dense(32, 64, 64).key, records::Weights::unknown);
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
    QCOMPARE((*s.store.best(dense(32, 64, 64).key, records::Weights::unknown))->candidate.index, 1);
  }
  void finals_that_were_stopped_blame_nobody() {
    int all = 0;
    for (int at = 0; at == 0 || at <= all; at += at < 10 ? 1 : 17) {  // 0: not at all
      Session s;
      s.machine.seconds = staircase;
      auto made = std::make_unique<StoppedRunner>(s.stop, at);
      StoppedRunner& runner = *made;
      s.runner = std::move(made);
      const auto report = s.run({{dense(32, 64, 64), 1, {}}}, grid(20));
      QVERIFY(report);
      QCOMPARE(report->tasks[0].without_finals, at > 0);
      for (const Event& e : s.events) QVERIFY(at == 0 || !std::holds_alternative<FinalsDone>(e));
      QCOMPARE((*s.store.best(dense(32, 64, 64).key, records::Weights::unknown))->candidate.index, -1);
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
