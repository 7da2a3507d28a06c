// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <set>

#include "engine/base/json.h"
#include "engine/tune/strategy.h"
#include "tests/engine/tune/cube.h"

using namespace tw;
using namespace tw::tune;
using tw::tune::fixture::cube;

namespace {

/// A bowl with its least time at (3, 3, ...).
double seconds(const space::ConfigSpace& s, int64_t index) {
  double distance = 0;
  for (const int p : s.knob_positions(index)) distance += std::abs(p - 3);
  return 1e-3 * std::exp(0.2 * distance);
}

Observation answer(const space::ConfigSpace& s, int64_t index) {
  Observation o;
  o.index = index;
  o.result.status = records::Status::ok;
  o.result.samples_s = {seconds(s, index)};
  return o;
}

/// Points in the order in which the strategy asks for them, answered after each batch.
std::vector<int64_t> search(const char* name, const space::ConfigSpace& s, uint64_t seed, size_t trials, int batch = 8) {
  const StrategyDef* def = find_strategy(name);
  const Json params = *resolve_params(def->params, Json::object());
  const auto strategy = def->make_points({s, params, Rng(seed)});
  std::vector<int64_t> asked;
  while (asked.size() < trials) {
    const auto points = strategy->propose(batch);
    if (points.empty()) break;
    std::vector<Observation> answers;
    for (const int64_t p : points) answers.push_back(answer(s, p));
    strategy->observe(answers);
    asked.insert(asked.end(), points.begin(), points.end());
  }
  return asked;
}

double best(const space::ConfigSpace& s, const std::vector<int64_t>& points) {
  double least = INFINITY;
  for (const int64_t p : points) least = std::min(least, seconds(s, p));
  return least;
}

}  // namespace

class GeneticTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void covers_a_small_space_without_repetition() {
    const auto space = cube(5, 3);
    const auto points = search("genetic", space, 1, 1000);
    QCOMPARE(points.size(), size_t{125});
    QCOMPARE(std::set<int64_t>(points.begin(), points.end()).size(), size_t{125});
  }
  void the_seed_decides() {
    const auto space = cube(12, 4);
    QCOMPARE(search("genetic", space, 1, 200), search("genetic", space, 1, 200));
    QVERIFY(search("genetic", space, 1, 200) != search("genetic", space, 2, 200));
  }
  void beats_random_search_on_a_bowl() {
    const auto space = cube(12, 5);
    double genetic = 0, random = 0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      genetic += std::log(best(space, search("genetic", space, seed, 250)));
      random += std::log(best(space, search("random", space, seed, 250)));
    }
    QVERIFY2(genetic / 10 < random / 10 - 0.3, qPrintable(QString("%1 %2").arg(genetic / 10).arg(random / 10)));
  }
  void observed_and_rejected_points_are_not_proposed() {
    auto space = cube(6, 2);
    space.add_filter([](const space::ConfigEntity& e) { return e.integer("k0") != 2; }, "k0 is not 2");
    const auto s = find_strategy("genetic")->make_points({space, Json{{"population", 4}, {"mutation", 0.1}}, Rng(3)});
    std::vector<Observation> known;
    for (int64_t i = 0; i < 12; ++i) known.push_back(answer(space, i));
    s->observe(known);
    std::set<int64_t> seen;
    while (true) {
      const auto points = s->propose(5);
      if (points.empty()) break;
      for (const int64_t p : points) {
        QVERIFY(p >= 12);
        QVERIFY(space.knob_positions(p)[0] != 2);
        QVERIFY(seen.insert(p).second);
      }
    }
    QCOMPARE(seen.size(), size_t{20});
  }
  void failures_are_no_parents() {
    const auto space = cube(6, 2);
    const auto s = find_strategy("genetic")->make_points({space, Json{{"population", 2}, {"mutation", 0.0}}, Rng(3)});
    std::vector<Observation> known = {answer(space, 0), answer(space, 7)};
    for (int64_t i = 30; i < 36; ++i) {
      known.push_back(answer(space, i));
      known.back().result.status = records::Status::run_crash;
    }
    s->observe(known);
    // Children of (0, 0) and (1, 1) without mutation: (0, 1) and (1, 0).
    auto points = s->propose(2);
    std::sort(points.begin(), points.end());
    QCOMPARE(points, (std::vector<int64_t>{1, 6}));
  }
};

QTEST_APPLESS_MAIN(GeneticTest)
#include "genetic_test.moc"
