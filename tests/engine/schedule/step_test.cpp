// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <set>

#include "engine/base/json.h"
#include "tests/engine/lower/gpu_schedules.h"
#include "tests/engine/lower/random_schedules.h"

using namespace tw;

class StepTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void jsonRoundTrip();
  void refusesMalformedSteps_data();
  void refusesMalformedSteps();
  void replayGivesTheSameStages();
  void errorsNameTheStep();
};

void StepTest::jsonRoundTrip() {
  std::set<size_t> kinds;
  for (const auto& sample : testing::sample_dags())
    for (int seed = 0; seed < 200; ++seed) {
      Rng rng(static_cast<uint64_t>(seed));
      const schedule::Schedule s = testing::random_schedule(sample.dag, rng, 20);
      const auto back = schedule::steps_from_json(*parse_json(dump_json(schedule::to_json(s.steps()))));
      QVERIFY(back);
      QVERIFY(*back == s.steps());
      for (const schedule::Step& step : s.steps()) kinds.insert(step.index());
    }
  for (const testing::GpuSchedule& g : testing::gpu_schedules()) {
    QVERIFY(*schedule::steps_from_json(*parse_json(dump_json(schedule::to_json(g.schedule.steps())))) == g.schedule.steps());
    for (const schedule::Step& step : g.schedule.steps()) kinds.insert(step.index());
  }
  QCOMPARE(kinds.size(), std::variant_size_v<schedule::Step> - 1);  // nothing here undoes a compute_at
}

void StepTest::refusesMalformedSteps_data() {
  QTest::addColumn<QString>("text");
  for (const char* t : {"3", "{}", "[]", "[\"SP\"]", "[\"SP\", 0, 0, 8, [2], 0]", "[\"XX\", 0]", "[\"AN\", 0, 0, 11]", "[\"RF\", 0]", "[\"SA\", 0, 0, 4]",
                        "[\"SP\", \"a\", 0, 8, [2], 1]", "[\"LT\", 0, [[0]]]", "[\"RE\", 0, 7]", "[\"PL\", 0]", "[\"TS\", 0]", "[\"IM\"]"})
    QTest::newRow(t) << t;
}
void StepTest::refusesMalformedSteps() {
  QFETCH(QString, text);
  const auto step = schedule::step_from_json(*parse_json(text.toStdString()));
  QVERIFY(!step);
  QVERIFY(step.error().message.starts_with("Expected"));
}

void StepTest::replayGivesTheSameStages() {
  for (const auto& sample : testing::sample_dags()) {
    Rng rng(7);
    const schedule::Schedule s = testing::random_schedule(sample.dag, rng, 30);
    const auto again = schedule::Schedule::replay(sample.dag, s.steps());
    QVERIFY(again);
    QCOMPARE(schedule::print_loops(*again), schedule::print_loops(s));
    QCOMPARE(QString::fromStdString(schedule::print_steps(s)).count('\n'), static_cast<int>(s.steps().size()));
  }
}

void StepTest::errorsNameTheStep() {
  const auto dag = testing::sample_dags().front().dag;
  const auto r = schedule::Schedule::replay(
      dag, {schedule::AnnotationStep{2, 0, schedule::Annotation::parallel}, schedule::AnnotationStep{2, 2, schedule::Annotation::parallel}});
  QVERIFY(!r);
  QCOMPARE(r.error().code, ErrorCode::illegal_schedule);
  QVERIFY(r.error().text().find("schedule step 1") != std::string::npos);
  QVERIFY(r.error().text().find("reduction loop") != std::string::npos);
}

QTEST_APPLESS_MAIN(StepTest)
#include "step_test.moc"
