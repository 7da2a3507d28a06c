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
    compare(dag, 60, {});
  }

  /// The same, each time without one of the passes that may be left out.
  void equalsTheInterpreterWithoutAnyPass_data() { equalsTheInterpreter_data(); }
  void equalsTheInterpreterWithoutAnyPass() {
    QFETCH(int, dag);
    std::vector<std::string> optional;
    for (const tir::Pass& p : tir::passes())
      if (!*p.needed && p.on != tir::Pass::On::launches && std::find(optional.begin(), optional.end(), p.name) == optional.end()) optional.push_back(p.name);
    QVERIFY(optional.size() >= 10);
    compare(dag, static_cast<int>(4 * optional.size()), optional);
  }

 private:
  /// `leftOut`: one after the other, in turns.
  static void compare(int dag, int count, const std::vector<std::string>& leftOut) {
    const tw::testing::NamedDag sample = tw::testing::sample_dags()[static_cast<size_t>(dag)];
    const Target target = host_target();
    int compiled = 0;
    for (int seed = 0; compiled < count && seed < 400; ++seed) {
      Rng rng(static_cast<uint64_t>(seed) * 31337 + static_cast<uint64_t>(dag));
      const std::vector<HostArray> inputs = tw::testing::random_inputs(*sample.dag, rng);
      const schedule::Schedule s = tw::testing::random_schedule(sample.dag, rng, 4 + seed % 20);
      if (binds_threads(s)) continue;
      tir::PassHooks hooks;
      if (!leftOut.empty()) hooks.disabled = {leftOut[static_cast<size_t>(compiled) % leftOut.size()]};
      const auto f = lower::lower_and_optimize(s, "kernel", target, hooks);
      if (!f) continue;
      const auto want = te::interpret(*sample.dag, inputs).value();
      const auto got = tw::testing::run_scheduled(s, inputs, [&](std::vector<HostArray>& args) { return codegen::testing::run(*f, args, target); });
      const auto context = [&](const std::string& text) {
        return fmt::format("seed {} without {}: {}\n{}{}", seed, fmt::join(hooks.disabled, ", "), text, schedule::print_steps(s), tir::print(*f));
      };
      QVERIFY2(got, got ? "" : context(got.error().text()).c_str());
      const double d = tw::testing::largest_difference(*got, want);
      QVERIFY2(d < 1e-4, context(fmt::format("differs by {}", d)).c_str());
      ++compiled;
    }
    QCOMPARE(compiled, count);
  }
};

QTEST_APPLESS_MAIN(CompiledScheduleTest)
#include "random_schedule_test.moc"
