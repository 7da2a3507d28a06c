// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/candidate.h"

#include <QtTest>

#include "engine/base/json.h"
#include "engine/tune/valid_points.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::tune;
using namespace tw::tune::fixture;

class CandidateTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void the_default_has_steps_and_no_point() {
    const auto c = default_candidate(dense(16, 64, 64));
    QCOMPARE(c.space, std::string("default"));
    QCOMPARE(c.index, -1);
    QVERIFY(c.config.empty());
    QVERIFY(!c.steps.empty());
  }
  void points_carry_what_replays_them() {
    const records::Task task = dense(16, 64, 64);
    const space::Template* t = space::find_template(*task.dag, task.target);
    QVERIFY(t);
    const auto space = t->space(*task.dag, task.target);
    int applied = 0;
    for (int64_t i = 0; i < std::min<int64_t>(space.size(), 200); ++i) {
      const auto point = space.get(i);
      const auto c = point_candidate(task, *t, *point);
      QCOMPARE(c.candidate.index, i);
      QCOMPARE(space.from_json(c.candidate.config)->index(), i);
      QCOMPARE(c.candidate.steps.empty(), !c.refused.empty());
      if (!c.refused.empty()) continue;
      ++applied;
      QVERIFY(schedule::Schedule::replay(task.dag, c.candidate.steps));
    }
    QVERIFY(applied > 0);
  }
  void refused_points_say_why() {
    const records::Task task = dense(16, 64, 64);
    space::Template refusing = *space::find_template(*task.dag, task.target);
    refusing.apply = [](const te::DagPtr&, const Target&, const space::ConfigEntity&) -> Expected<schedule::Schedule> {
      return Error(ErrorCode::resource_limit, "Expected at most 32 registers, found 40");
    };
    const auto c = point_candidate(task, refusing, *refusing.space(*task.dag, task.target).get(0));
    QVERIFY(c.candidate.steps.empty());
    QCOMPARE(c.refused, std::string("Expected at most 32 registers, found 40"));
  }
  void usable_points_are_counted_in_small_spaces_only() {
    space::ConfigSpace small, large;
    std::vector<Json> values;
    for (int i = 0; i < 200; ++i) values.push_back(i);
    for (space::ConfigSpace* s : {&small, &large}) {
      s->define_knob("a", values);
      s->add_filter([](const space::ConfigEntity& e) { return e.integer("a") % 2 == 0; }, "even");
    }
    large.define_knob("b", values);
    QCOMPARE(usable_points(small), 100);
    QCOMPARE(usable_points(large), 40000);
    QVERIFY(is_valid_point(small, 4));
    QVERIFY(!is_valid_point(small, 5));
  }
};

QTEST_APPLESS_MAIN(CandidateTest)
#include "candidate_test.moc"
