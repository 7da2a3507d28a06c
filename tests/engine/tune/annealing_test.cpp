// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/annealing.h"

#include <QtTest>
#include <cmath>

#include "engine/base/json.h"
#include "tests/engine/tune/cube.h"

using namespace tw;
using namespace tw::tune;
using tw::tune::fixture::cube;

namespace {

/// Highest, 0, where every knob is at 7.
std::vector<float> height(const space::ConfigSpace& s, std::span<const int64_t> points) {
  std::vector<float> out;
  for (const int64_t p : points) {
    float h = 0;
    for (const int position : s.knob_positions(p)) h -= static_cast<float>(std::abs(position - 7));
    out.push_back(h);
  }
  return out;
}

}  // namespace

class AnnealingTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void finds_the_top_of_a_large_space() {
    const auto space = cube(20, 6);  // 64 million points
    Annealing annealing(space, {}, Rng(1));
    const auto found = annealing.maximise(8, [&](std::span<const int64_t> p) { return height(space, p); }, {});
    QCOMPARE(found.size(), size_t{8});
    QCOMPARE(found[0].score, 0.0F);
    for (size_t i = 1; i < found.size(); ++i) QVERIFY(found[i].score <= found[i - 1].score);
  }
  void taken_and_rejected_points_are_left_out() {
    auto space = cube(10, 2);
    space.add_filter([](const space::ConfigEntity& e) { return e.integer("k0") != 7; }, "no seven");
    const int64_t second = space.index_of({6, 7});
    Annealing annealing(space, {}, Rng(2));
    const auto found = annealing.maximise(5, [&](std::span<const int64_t> p) { return height(space, p); }, {second});
    QVERIFY(!found.empty());
    for (const ScoredPoint& p : found) {
      QVERIFY(p.point != second);
      QVERIFY(space.knob_positions(p.point)[0] != 7);
    }
    QCOMPARE(found[0].point, space.index_of({8, 7}));
  }
  void the_seed_decides() {
    const auto space = cube(20, 4);
    const auto run = [&](uint64_t seed) {
      AnnealingOptions o;
      o.iterations = 10;
      Annealing annealing(space, o, Rng(seed));
      std::vector<int64_t> points;
      for (const ScoredPoint& p : annealing.maximise(16, [&](std::span<const int64_t> q) { return height(space, q); }, {})) points.push_back(p.point);
      return points;
    };
    QCOMPARE(run(3), run(3));
    QVERIFY(run(3) != run(4));
  }
  void each_point_is_scored_once_and_a_stop_ends_it() {
    const auto space = cube(6, 3);
    std::unordered_set<int64_t> asked;
    StopSource stop;
    int calls = 0;
    Annealing annealing(space, {}, Rng(5));
    annealing.maximise(
        4,
        [&](std::span<const int64_t> p) {
          for (const int64_t point : p) {
            if (!asked.insert(point).second) qFatal("a point was scored twice");
          }
          if (++calls == 3) stop.request_stop();
          return height(space, p);
        },
        {}, stop.get_token());
    QCOMPARE(calls, 3);
  }
};

QTEST_APPLESS_MAIN(AnnealingTest)
#include "annealing_test.moc"
