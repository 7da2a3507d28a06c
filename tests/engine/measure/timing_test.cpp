// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/timing.h"

#include <QtTest>
#include <algorithm>
#include <functional>

#include "engine/base/rng.h"

using namespace tw;
using namespace tw::measure;

namespace {

/// A machine whose every call takes what `cost` says.
class Simulated final : public Probe {
 public:
  explicit Simulated(std::function<double(int64_t call)> cost) : cost_(std::move(cost)) {}
  void call() override { now_ += cost_(calls++); }
  double now_s() override { return now_ += clock_cost; }
  int64_t disturbances() override { return switched ? ++switches_ : 0; }

  int64_t calls = 0;
  bool prepares() const override { return preparing > 0; }
  void prepare() override {
    now_ += preparing;
    ++prepared;
  }

  double clock_cost = 2e-8;
  bool switched = false;
  double preparing = 0;  ///< time that it takes
  int64_t prepared = 0;

 private:
  std::function<double(int64_t)> cost_;
  double now_ = 0;
  int64_t switches_ = 0;
};

double best(const Timing& t) { return *std::min_element(t.samples_s.begin(), t.samples_s.end()); }

}  // namespace

class TimingTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void who_is_far_off_is_not_called_again() {
    Simulated machine([](int64_t) { return 0.1; });
    const Timing t = time_kernel(machine, {.incumbent_s = 0.012, .last_call_s = 0.1});
    QVERIFY(t.censored);
    QCOMPARE(t.samples_s, std::vector<double>{0.1});
    QCOMPARE(t.flags.size(), t.samples_s.size());
    QCOMPARE(machine.calls, int64_t{0});
    time_kernel(machine, {.incumbent_s = 0.013, .last_call_s = 0.1});  // not so far
    QVERIFY(machine.calls > 0);
    Simulated small([](int64_t) { return 1e-3; });  // a disturbance could be 19 ms
    QVERIFY(!time_kernel(small, {.incumbent_s = 1e-3, .last_call_s = 0.019}).censored);
  }

  void steady_kernels_need_five_samples() {
    for (const double cost : {1e-7, 3e-6, 1e-4, 1e-3, 9e-3}) {
      Simulated machine([&](int64_t) { return cost; });
      const Timing t = time_kernel(machine, {});
      QCOMPARE(t.samples_s.size(), size_t{5});
      QVERIFY(std::abs(best(t) - cost) < 0.01 * cost);
      QVERIFY(t.inner * cost >= 190e-6);
      QVERIFY(t.inner == 1 || t.inner * cost < 2.5e-3);
      QVERIFY(!t.censored);
    }
  }

  void preparing_is_no_part_of_a_call() {
    Simulated machine([](int64_t) { return 3e-6; });
    machine.preparing = 5e-6;
    const Timing t = time_kernel(machine, {});
    QVERIFY(t.inner > 1);
    QVERIFY(std::abs(best(t) - 3e-6) < 0.01 * 3e-6);
    QCOMPARE(machine.prepared, machine.calls);
  }

  void cold_calls_do_not_count() {
    Simulated machine([](int64_t call) { return call < 4 ? 1e-2 / static_cast<double>(1 << call) : 1e-3; });
    const Timing t = time_kernel(machine, {});
    for (const double s : t.samples_s) QVERIFY(std::abs(s - 1e-3) < 2e-5);
  }

  void calls_of_a_sample_are_chosen_anew_after_disturbed_ones() {
    Simulated machine([&](int64_t call) {
      machine.switched = call < 12;
      return machine.switched ? 4e-3 : 3e-6;
    });
    const Timing t = time_kernel(machine, {});
    QVERIFY(t.inner * 3e-6 >= 190e-6);
    QVERIFY(std::abs(best(t) - 3e-6) < 0.01 * 3e-6);
    for (const double s : t.samples_s) QVERIFY(s < 4e-6);
  }

  void a_disturbed_sample_makes_no_candidate_hopeless() {
    Simulated machine([](int64_t) { return 1e-3; });
    machine.switched = true;
    TimingOptions options;
    options.incumbent_s = 1e-5;
    QVERIFY(!time_kernel(machine, options).censored);
    machine.switched = false;
    QVERIFY(time_kernel(machine, options).censored);
  }

  void a_clock_that_stands_still_ends() {
    Simulated machine([](int64_t) { return 0.0; });
    machine.clock_cost = 0;
    const Timing t = time_kernel(machine, {});
    QVERIFY(machine.calls < 50'000'000);
    QVERIFY(t.inner <= 1'000'000);
    QVERIFY(!t.samples_s.empty());
  }

  void noise_is_bounded_by_count_and_budget() {
    Rng rng(1);
    Simulated fast([&](int64_t) { return 1e-3 * (1 + 3 * rng.uniform_real()); });
    const Timing many = time_kernel(fast, {});
    QVERIFY(many.samples_s.size() <= 40);
    Simulated slow([&](int64_t) { return 0.04 * (1 + 3 * rng.uniform_real()); });
    QVERIFY(time_kernel(slow, {}).samples_s.size() <= 5);
    Simulated endless([](int64_t) { return 3.0; });
    QCOMPARE(time_kernel(endless, {}).samples_s.size(), size_t{2});
  }

  void hopeless_candidates_stop_at_once() {
    Simulated machine([](int64_t) { return 5e-3; });
    const Timing t = time_kernel(machine, {.incumbent_s = 1e-3});
    QVERIFY(t.censored);
    QCOMPARE(t.samples_s.size(), size_t{1});
  }

  void slow_candidates_stop_after_three() {
    Simulated machine([](int64_t) { return 1.5e-3; });
    const Timing t = time_kernel(machine, {.incumbent_s = 1e-3});
    QVERIFY(t.censored);
    QCOMPARE(t.samples_s.size(), size_t{3});
    Simulated close([](int64_t) { return 1.2e-3; });
    QVERIFY(!time_kernel(close, {.incumbent_s = 1e-3}).censored);
  }

  void switched_samples_are_flagged_and_decide_nothing() {
    Simulated machine([](int64_t) { return 1.5e-3; });
    machine.switched = true;
    const Timing t = time_kernel(machine, {.incumbent_s = 1e-3});
    QVERIFY(!t.censored);
    QCOMPARE(t.samples_s.size(), size_t{40});
    QVERIFY(std::all_of(t.flags.begin(), t.flags.end(), [](bool f) { return f; }));
  }

  void orders_a_gap_of_three_percent_under_noise() {
    // Skewed noise: mostly small, sometimes large, never negative, as preemption and cache misses are.
    Rng rng(11);
    const auto noisy = [&](double base) {
      return [&rng, base](int64_t) { return base * (1 + 0.01 * rng.uniform_real() + (rng.uniform(8) == 0 ? rng.uniform_real() : 0)); };
    };
    int right = 0;
    for (int i = 0; i < 200; ++i) {
      Simulated a(noisy(1e-3)), b(noisy(1.03e-3));
      right += best(time_kernel(a, {})) < best(time_kernel(b, {}));
    }
    QVERIFY2(right >= 190, qPrintable(QString::number(right)));
  }
};

QTEST_APPLESS_MAIN(TimingTest)
#include "timing_test.moc"
