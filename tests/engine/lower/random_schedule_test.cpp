// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/text.h"
#include "engine/lower/lower.h"
#include "engine/tir/interp.h"
#include "engine/tir/passes/insert_barriers.h"
#include "engine/tir/print.h"
#include "engine/tir/verify.h"
#include "tests/engine/lower/random_schedules.h"
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
  Target target;
  int lowered = 0, refused = 0;
  for (int seed = 0; seed < kCases; ++seed) {
    Rng rng(static_cast<uint64_t>(seed) * 7919 + static_cast<uint64_t>(dag));
    const std::vector<HostArray> inputs = testing::random_inputs(*sample.dag, rng);
    const auto want = te::interpret(*sample.dag, inputs);
    QVERIFY2(want, qPrintable(QString::fromStdString(want ? "" : want.error().text())));
    const schedule::Schedule s = testing::random_schedule(sample.dag, rng, 4 + seed % 24);
    const auto context = [&](const std::string& text) { return QString::fromStdString(fmt::format("seed {}: {}\n{}", seed, text, schedule::print_steps(s))); };

    auto f = lower::lower(s, "f");
    if (!f) {
      QVERIFY2(f.error().code == ErrorCode::illegal_schedule, qPrintable(context(f.error().text())));
      ++refused;
      continue;
    }
    ++lowered;
    const auto check = [&](const tir::Func& func, const char* when) -> QString {
      if (auto ok = tir::verify(func); !ok) return context(std::string(when) + ": " + ok.error().text() + "\n" + tir::print(func));
      const auto got = testing::run_scheduled(s, inputs, [&](std::vector<HostArray>& args) { return tir::interpret(func, args); });
      if (!got) return context(std::string(when) + ": " + got.error().text() + "\n" + tir::print(func));
      const double d = testing::largest_difference(*got, *want);
      return d < 1e-4 ? QString() : context(fmt::format("{}: differs by {}\n{}", when, d, tir::print(func)));
    };
    const QString before = check(tir::insert_barriers(*f, target), "as lowered, with the barriers that threads need");
    QVERIFY2(before.isEmpty(), qPrintable(before));
    tir::PassHooks hooks;
    hooks.verify = true;
    auto optimized = tir::run_passes(*f, target, hooks);
    QVERIFY2(optimized, qPrintable(context((optimized ? "" : optimized.error().text()) + "\n" + tir::print(*f))));
    const QString after = check(*optimized, "after the passes");
    QVERIFY2(after.isEmpty(), qPrintable(after));
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
