// SPDX-License-Identifier: Apache-2.0
#include "engine/api/network_selection.h"

#include <QtTest>
#include <cmath>

using namespace tw;
using namespace tw::api;

namespace {

/// A kernel of a made-up network, in microseconds.
struct MadeUp {
  double default_us, tuned_us;  ///< in its place
  double elsewhere_us = 0;      ///< that the rest of the network loses by it
  bool wrong = false;
};

/// A network of kernels with known times: each process has an advantage of its own for each kernel, each round noise, and some samples are disturbed.
class MadeUpContest : public NetworkContest {
 public:
  std::vector<MadeUp> kernels;
  double rest_us = 50;
  double between = 0.003, within = 0.01, disturbed = 0.1;
  int launches = 0, fail_after = -1;
  std::vector<Variant> seen;

  Expected<std::vector<VariantRuns>> launch(const std::vector<Variant>& variants, uint64_t seed) override {
    if (fail_after >= 0 && launches >= fail_after) return Error(ErrorCode::infrastructure, "The machine is gone");
    ++launches;
    Rng rng(seed * 7919 + 17);
    std::vector<VariantRuns> out;
    for (const Variant& v : variants) {
      seen.push_back(v);
      VariantRuns runs;
      double rest = rest_us;
      for (size_t k = 0; k < kernels.size(); ++k) {
        const MadeUp& kernel = kernels[k];
        runs.kernels.push_back({samples(rng, v[k] ? kernel.tuned_us : kernel.default_us)});
        runs.network.push_back(runs.kernels.back()[0]);
        if (v[k]) rest += kernel.elsewhere_us;
        if (v[k] && kernel.wrong) runs.wrong = "made up";
      }
      runs.network.push_back(samples(rng, rest));
      out.push_back(std::move(runs));
    }
    return out;
  }

  double truth(const Variant& v) const {
    double total = rest_us;
    for (size_t k = 0; k < kernels.size(); ++k) total += v[k] ? kernels[k].tuned_us + kernels[k].elsewhere_us : kernels[k].default_us;
    return total;
  }

 private:
  std::vector<double> samples(Rng& rng, double us) const {
    const double own = 1 + between * rng.normal();
    std::vector<double> out;
    for (int round = 0; round < 8; ++round)
      out.push_back(1e-6 * us * own * (1 + within * std::abs(rng.normal())) * (rng.uniform_real() < disturbed ? 1 + 5 * rng.uniform_real() : 1));
    return out;
  }
};

Selection select(MadeUpContest& contest, uint64_t seed = 1, double time_s = 1e9) {
  SelectionOptions options;
  options.seed = seed * 1000;
  options.time_s = time_s;
  return select_in_network(contest.kernels.size(), contest, options, {}, {}).value();
}

int taken(const Selection& s) { return static_cast<int>(std::count(s.taken.begin(), s.taken.end(), true)); }

MadeUpContest with(std::vector<MadeUp> kernels) {
  MadeUpContest c;
  c.kernels = std::move(kernels);
  return c;
}

}  // namespace

class NetworkSelectionTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void what_gains_is_taken_and_the_gain_is_right() {
    MadeUpContest c = with({{100, 80}, {50, 40}, {30, 20}});
    const Selection s = select(c);
    QCOMPARE(taken(s), 3);
    for (const Standing standing : s.standings) QCOMPARE(standing, Standing::taken);
    const double truth = c.truth({true, true, true}) / c.truth({false, false, false});
    QVERIFY(s.network.low <= truth && truth <= s.network.high);
    QVERIFY(std::abs(s.network.ratio - truth) < 0.01);
    QVERIFY(std::abs(s.tuned_s / s.default_s - truth) < 0.01);
    QVERIFY(std::abs(s.kernels[2].ratio - 2.0 / 3) < 0.02);
    QCOMPARE(s.launches, c.launches);
  }
  void what_loses_in_its_place_is_refused() {
    MadeUpContest c = with({{100, 110}, {50, 60}});
    const Selection s = select(c);
    QCOMPARE(taken(s), 0);
    for (const Standing standing : s.standings) QCOMPARE(standing, Standing::slower_in_place);
    QCOMPARE(s.tuned_s, s.default_s);
    QVERIFY(s.network.surely_slower());
  }
  void losers_go_and_winners_stay() {
    MadeUpContest c = with({{100, 80}, {50, 70}, {30, 20}, {40, 40}});
    const Selection s = select(c);
    QVERIFY(s.taken[0] && !s.taken[1] && s.taken[2]);
    QCOMPARE(s.standings[1], Standing::slower_in_place);
    QVERIFY(s.network.surely_faster());
  }
  void a_gain_of_three_percent_is_found() {
    int found = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      MadeUpContest c = with({{200, 192.5}});  // of 250
      const Selection s = select(c, seed);
      found += taken(s) == 1 && s.network.low <= 0.97 && 0.97 <= s.network.high;
    }
    QVERIFY2(found >= 17, QByteArray::number(found));
  }
  void gains_too_small_for_each_count_together() {
    MadeUpContest c;
    c.between = 0.02;  // one kernel's gain is hidden by the luck of processes, those of all together are not
    for (int i = 0; i < 16; ++i) c.kernels.push_back({20, 19.4});
    const Selection s = select(c);
    QVERIFY2(taken(s) >= 10, QByteArray::number(taken(s)));
    QVERIFY(s.network.surely_faster());
    int sure_alone = 0;
    for (const PairedRatio& r : s.kernels) sure_alone += r.surely_faster();
    QVERIFY(sure_alone < 16);
  }
  void a_sure_gain_in_its_place_counts_where_the_network_does_not_show_it() {
    MadeUpContest c = with({{3, 1.5}, {100, 101}});
    c.rest_us = 2000;  // the gain is 0.07 % of it
    c.between = 0.01;
    const Selection s = select(c);
    QVERIFY(s.taken[0] && !s.taken[1]);
    QVERIFY(s.kernels[0].surely_faster() && !s.network.surely_slower());
    c.kernels[0].elsewhere_us = 200;  // unless the network denies it
    QCOMPARE(taken(select(c)), 0);
  }
  void what_the_rest_pays_for_is_refused() {
    // Looks twice as fast in its place; the network is slower with it. The halves find the others.
    MadeUpContest c = with({{60, 30, 80}, {40, 30}, {40, 31}, {40, 32}});
    const Selection s = select(c);
    QVERIFY(!s.taken[0] && s.taken[1] && s.taken[2] && s.taken[3]);
    QCOMPARE(s.standings[0], Standing::no_gain_together);
    QVERIFY(s.network.surely_faster());
  }
  void what_makes_its_neighbours_faster_stays() {
    // A layout that costs its kernel a little and saves the others more.
    MadeUpContest c = with({{40, 42, -20}, {40, 38}});
    const Selection s = select(c);
    QVERIFY(s.taken[0] && s.taken[1]);
  }
  void equal_kernels_are_hardly_ever_taken() {
    int sure = 0;
    for (uint64_t seed = 1; seed <= 30; ++seed) {
      MadeUpContest c = with({{100, 100}, {50, 50}, {30, 30}});
      c.between = 0.01;
      const Selection s = select(c, seed);
      sure += taken(s) > 0;
    }
    QVERIFY2(sure <= 1, QByteArray::number(sure));
  }
  void a_restless_machine_takes_nothing_wrongly() {
    int wrong = 0;
    for (uint64_t seed = 1; seed <= 30; ++seed) {
      MadeUpContest c = with({{100, 103}, {50, 51}});
      c.between = 0.05, c.within = 0.3, c.disturbed = 0.4;
      wrong += taken(select(c, seed)) > 0;
    }
    QVERIFY2(wrong <= 1, QByteArray::number(wrong));
  }
  void wrong_results_are_never_taken() {
    MadeUpContest c = with({{100, 50, 0, true}, {50, 30}, {30, 20}});
    const Selection s = select(c);
    QVERIFY(!s.taken[0] && s.taken[1] && s.taken[2]);
    QCOMPARE(s.standings[0], Standing::wrong_in_place);
    MadeUpContest alone = with({{100, 50, 0, true}});
    const Selection none = select(alone);
    QCOMPARE(taken(none), 0);
    QCOMPARE(none.standings[0], Standing::wrong_in_place);
    QVERIFY(none.default_s > 0);
    QCOMPARE(none.tuned_s, none.default_s);
  }
  void without_winners_the_network_is_measured() {
    MadeUpContest c;
    const Selection s = select(c);
    QVERIFY(s.taken.empty() && s.launches > 0);
    QVERIFY(std::abs(s.default_s / 50e-6 - 1) < 0.05);
  }
  void what_is_reported_was_not_what_was_chosen_by() {
    MadeUpContest c = with({{100, 90}});
    std::vector<std::string> said;
    SelectionOptions options;
    const Selection s = select_in_network(1, c, options, [&](const std::string& text) { said.push_back(text); }, {}).value();
    QCOMPARE(taken(s), 1);
    QCOMPARE(said.size(), size_t{2});
    QCOMPARE(c.launches, options.launches + options.confirming);
  }
  void doubt_asks_for_more_processes_and_time_ends_it() {
    MadeUpContest c = with({{100, 99.9}});
    c.between = 0.02;
    SelectionOptions options;
    select_in_network(1, c, options, {}, {}).value();
    QVERIFY(c.launches >= 3 * options.launches);
    MadeUpContest hurried = with({{100, 99.9}});
    hurried.between = 0.02;
    select(hurried, 1, 0);
    QVERIFY(hurried.launches <= options.launches + options.confirming);
  }
  void the_same_seed_decides_the_same() {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      MadeUpContest a = with({{100, 99}, {50, 49.8}, {30, 29.9}}), b = a;
      const Selection x = select(a, seed), y = select(b, seed);
      QCOMPARE(x.taken, y.taken);
      QCOMPARE(x.network.low, y.network.low);
      QCOMPARE(a.seen, b.seen);
    }
  }
  void stops_and_failures_come_through() {
    MadeUpContest c = with({{100, 90}});
    std::stop_source source;
    source.request_stop();
    const auto stopped = select_in_network(1, c, {}, {}, source.get_token());
    QVERIFY(!stopped && stopped.error().code == ErrorCode::cancelled);
    c.fail_after = 3;
    const auto failed = select_in_network(1, c, {}, {}, {});
    QVERIFY(!failed && failed.error().code == ErrorCode::infrastructure);
  }
};

QTEST_APPLESS_MAIN(NetworkSelectionTest)
#include "network_selection_test.moc"
