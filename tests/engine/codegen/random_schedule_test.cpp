// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/text.h"
#include "engine/lower/lower.h"
#include "engine/tir/print.h"
#include "tests/engine/codegen/kernel_runner.h"
#include "tests/engine/lower/random_schedules.h"

using namespace tw;

class CompiledScheduleTest : public QObject {
  Q_OBJECT

  static bool binds_threads(const schedule::Schedule& s) {
    for (const schedule::Stage& st : s.stages())
      for (const schedule::Iter& it : st.iters)
        if (schedule::is_binding(it.annotation)) return true;
    return false;
  }

 private Q_SLOTS:
  void equalsTheInterpreter_data() {
    QTest::addColumn<int>("dag");
    int k = 0;
    for (const auto& d : tw::testing::sample_dags()) QTest::newRow(d.name) << k++;
  }
  /// Machine code of random schedules against the bare expressions.
  void equalsTheInterpreter() {
    QFETCH(int, dag);
    const tw::testing::NamedDag sample = tw::testing::sample_dags()[static_cast<size_t>(dag)];
    const Target target = host_target();
    int compiled = 0;
    for (int seed = 0; compiled < 60 && seed < 400; ++seed) {
      Rng rng(static_cast<uint64_t>(seed) * 31337 + static_cast<uint64_t>(dag));
      const std::vector<HostArray> inputs = tw::testing::random_inputs(*sample.dag, rng);
      const schedule::Schedule s = tw::testing::random_schedule(sample.dag, rng, 4 + seed % 20);
      if (binds_threads(s)) continue;
      const auto f = lower::lower_and_optimize(s, "kernel", target);
      if (!f) continue;
      const auto want = te::interpret(*sample.dag, inputs).value();
      const auto got = tw::testing::run_scheduled(s, inputs, [&](std::vector<HostArray>& args) { return codegen::testing::run(*f, args, target); });
      const auto context = [&](const std::string& text) { return fmt::format("seed {}: {}\n{}{}", seed, text, schedule::print_steps(s), tir::print(*f)); };
      QVERIFY2(got, got ? "" : context(got.error().text()).c_str());
      const double d = tw::testing::largest_difference(*got, want);
      QVERIFY2(d < 1e-4, context(fmt::format("differs by {}", d)).c_str());
      ++compiled;
    }
    QCOMPARE(compiled, 60);
  }
};

QTEST_APPLESS_MAIN(CompiledScheduleTest)
#include "random_schedule_test.moc"
