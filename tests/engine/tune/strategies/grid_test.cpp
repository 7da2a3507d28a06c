// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/json.h"
#include "engine/tune/strategy.h"

using namespace tw;
using namespace tw::tune;

namespace {

space::ConfigSpace plane() {
  space::ConfigSpace s;
  s.define_knob("a", {0, 1, 2});
  s.define_knob("b", {0, 1});
  return s;
}

using Points = std::vector<int64_t>;

}  // namespace

class GridTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void walks_by_index() {
    const auto space = plane();
    const auto s = find_strategy("grid")->make_points({space, Json{{"offset", 0}}, Rng(1)});
    QCOMPARE(s->propose(4), (Points{0, 1, 2, 3}));
    QCOMPARE(s->propose(4), (Points{4, 5}));
    QVERIFY(s->propose(4).empty());
  }
  void starts_at_its_offset() {
    const auto space = plane();
    const auto s = find_strategy("grid")->make_points({space, Json{{"offset", 4}}, Rng(1)});
    QCOMPARE(s->propose(9), (Points{4, 5}));
  }
  void skips_what_was_observed_or_rejected() {
    auto space = plane();
    space.add_filter([](const space::ConfigEntity& e) { return e.integer("a") != 1; }, "a is not 1");
    const auto s = find_strategy("grid")->make_points({space, Json{{"offset", 0}}, Rng(1)});
    const std::vector<Observation> known = {{3, {}}};
    s->observe(known);
    QCOMPARE(s->propose(9), (Points{0, 2, 5}));
  }
  void the_table_describes_every_strategy() {
    for (const StrategyDef& def : strategies()) {
      QCOMPARE(find_strategy(def.name), &def);
      QVERIFY(std::string(def.summary).size() > 40);
      QVERIFY(std::string(def.source).size() > 10);
      QVERIFY(resolve_params(def.params, Json::object()));
    }
    QVERIFY(!find_strategy("magic"));
    QVERIFY(!resolve_params(find_strategy("grid")->params, Json{{"offset", -1}}));
    QVERIFY(!resolve_params(find_strategy("random")->params, Json{{"offset", 1}}));
  }
};

QTEST_APPLESS_MAIN(GridTest)
#include "grid_test.moc"
