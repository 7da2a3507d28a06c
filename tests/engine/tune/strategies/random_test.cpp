// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <set>

#include "engine/base/json.h"
#include "engine/tune/strategy.h"

using namespace tw;
using namespace tw::tune;

namespace {

const Json kNone = Json::object();

space::ConfigSpace numbers(int count) {
  space::ConfigSpace s;
  std::vector<Json> values;
  for (int i = 0; i < count; ++i) values.push_back(i);
  s.define_knob("a", values);
  return s;
}

std::unique_ptr<PointSearch> make(const space::ConfigSpace& s, uint64_t seed = 1) { return find_strategy("random")->make_points({s, kNone, Rng(seed)}); }

std::vector<int64_t> drain(PointSearch& s, int batch) {
  std::vector<int64_t> all;
  while (true) {
    const auto points = s.propose(batch);
    if (points.empty()) return all;
    all.insert(all.end(), points.begin(), points.end());
  }
}

}  // namespace

class RandomTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void covers_the_space_without_repetition() {
    const auto space = numbers(1000);
    const auto points = drain(*make(space), 16);
    QCOMPARE(points.size(), size_t{1000});
    QCOMPARE(std::set<int64_t>(points.begin(), points.end()).size(), size_t{1000});
    QVERIFY(!std::is_sorted(points.begin(), points.end()));
  }
  void the_seed_decides_and_the_batch_does_not() {
    const auto space = numbers(500);
    QCOMPARE(drain(*make(space), 7), drain(*make(space), 64));
    QVERIFY(drain(*make(space, 2), 7) != drain(*make(space, 3), 7));
  }
  void is_uniform() {
    // Chi-square of the first draw over 10 values: 9 degrees of freedom, 99.9 % below 27.9.
    const auto space = numbers(10);
    std::vector<int> counts(10, 0);
    for (uint64_t seed = 0; seed < 2000; ++seed) ++counts[static_cast<size_t>(make(space, seed)->propose(1)[0])];
    double chi = 0;
    for (const int c : counts) chi += (c - 200.0) * (c - 200.0) / 200.0;
    QVERIFY2(chi < 27.9, qPrintable(QString::number(chi)));
  }
  void observed_points_are_not_proposed() {
    const auto space = numbers(20);
    const auto s = make(space);
    std::vector<Observation> known;
    for (int64_t i = 0; i < 15; ++i) known.push_back({i, {}});
    s->observe(known);
    auto points = drain(*s, 4);
    std::sort(points.begin(), points.end());
    QCOMPARE(points, (std::vector<int64_t>{15, 16, 17, 18, 19}));
  }
  void resumed_runs_go_on_in_the_same_order() {
    const auto space = numbers(100);
    const auto whole = drain(*make(space), 10);
    const auto resumed = make(space);
    std::vector<Observation> known;
    for (int i = 0; i < 40; ++i) known.push_back({whole[static_cast<size_t>(i)], {}});
    resumed->observe(known);
    QCOMPARE(drain(*resumed, 9), (std::vector<int64_t>(whole.begin() + 40, whole.end())));
  }
  void rejected_points_are_skipped() {
    auto space = numbers(100);
    space.add_filter([](const space::ConfigEntity& e) { return e.integer("a") % 10 == 3; }, "ends in 3");
    auto points = drain(*make(space), 4);
    std::sort(points.begin(), points.end());
    QCOMPARE(points, (std::vector<int64_t>{3, 13, 23, 33, 43, 53, 63, 73, 83, 93}));
  }
  void huge_spaces_cost_nothing() {
    space::ConfigSpace s;
    space::SplitOptions o;
    o.num_outputs = 4;
    for (const char* name : {"a", "b", "c", "d"}) s.define_split(name, 2048, o);
    const auto strategy = make(s);
    QCOMPARE(strategy->propose(1000).size(), size_t{1000});
  }
};

QTEST_APPLESS_MAIN(RandomTest)
#include "random_test.moc"
