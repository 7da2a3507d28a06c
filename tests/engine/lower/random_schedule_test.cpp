// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/text.h"
#include "engine/lower/lower.h"
#include "tests/engine/lower/lowered_check.h"
#include "tests/engine/lower/round_trip.h"

using namespace tw;

class RandomScheduleTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void keepsResults_data();
  void keepsResults();
  void textsRoundTrip_data() { keepsResults_data(); }
  void textsRoundTrip();
};

void RandomScheduleTest::keepsResults_data() {
  QTest::addColumn<int>("dag");
  int k = 0;
  for (const auto& d : testing::sample_dags()) QTest::newRow(d.name) << k++;
}

/// The interpreter's result of a scheduled function, before and after the passes, equals that of the bare expressions.
void RandomScheduleTest::keepsResults() {
  QFETCH(int, dag);
  constexpr int kCases = 200;
  const testing::NamedDag sample = testing::sample_dags()[static_cast<size_t>(dag)];
  int lowered = 0, refused = 0;
  for (int seed = 0; seed < kCases; ++seed) {
    Rng rng(static_cast<uint64_t>(seed) * 7919 + static_cast<uint64_t>(dag));
    const std::vector<HostArray> inputs = testing::random_inputs(*sample.dag, rng);
    const auto want = te::interpret(*sample.dag, inputs);
    QVERIFY2(want, qPrintable(QString::fromStdString(want ? "" : want.error().text())));
    const schedule::Schedule s = testing::random_schedule(sample.dag, rng, 4 + seed % 24);
    const auto wrong = testing::wrong_when_lowered(s, inputs, *want);
    ++(wrong ? lowered : refused);
    QVERIFY2(!wrong || wrong->empty(), qPrintable(QString::fromStdString(fmt::format("seed {}: {}\n{}", seed, wrong.value_or(""), schedule::print_steps(s)))));
  }
  QVERIFY2(lowered > kCases * 9 / 10, qPrintable(QString("only %1 of %2 schedules were lowered").arg(lowered).arg(kCases)));
  QVERIFY(refused < kCases / 10);
}

/// The stages as a dag, the function as lowered, and the function after every pass.
void RandomScheduleTest::textsRoundTrip() {
  QFETCH(int, dag);
  const testing::NamedDag sample = testing::sample_dags()[static_cast<size_t>(dag)];
  int changes = 0;
  for (int seed = 0; seed < 100; ++seed) {
    Rng rng(static_cast<uint64_t>(seed) * 104729 + static_cast<uint64_t>(dag));
    const schedule::Schedule s = testing::random_schedule(sample.dag, rng, 4 + seed % 24);
    te::Dag stages;  // placeholders first, as everywhere
    for (const bool placeholder : {true, false})
      for (const schedule::Stage& st : s.stages())
        if (st.op.is_placeholder() == placeholder) stages.ops.push_back(st.op);
    for (const int o : s.outputs()) stages.outputs.push_back(stages.op_of(s.stages()[static_cast<size_t>(o)].op.output.get()));
    const auto valid = te::verify(stages);
    QVERIFY2(valid, valid ? "" : (valid.error().text() + "\n" + te::print(stages)).c_str());
    QCOMPARE(testing::round_trip_problem(stages), std::string());
    const auto f = lower::lower(s, "f");
    if (!f) continue;
    QCOMPARE(testing::round_trip_problem(*f), std::string());
    tir::PassHooks hooks;
    hooks.verify = true;
    std::string problem;
    hooks.after = [&](const tir::Pass& pass, const tir::Func&, const tir::Func& after, double, bool changed) {
      changes += changed;
      if (const std::string p = changed ? testing::round_trip_problem(after) : ""; !p.empty()) problem = std::string("after ") + pass.name + ": " + p;
    };
    QVERIFY(tir::run_passes(*f, Target(), hooks));
    QCOMPARE(problem, std::string());
  }
  QVERIFY(changes > 100);
}

QTEST_APPLESS_MAIN(RandomScheduleTest)
#include "random_schedule_test.moc"
