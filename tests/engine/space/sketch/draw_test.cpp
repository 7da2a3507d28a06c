// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/draw.h"

#include <fmt/format.h>

#include <QtTest>
#include <set>

#include "engine/lower/lower.h"
#include "engine/space/sketch/mutate.h"
#include "engine/space/sketch/rule.h"
#include "engine/tir/interp.h"
#include "tests/engine/lower/random_schedules.h"

using namespace tw;
using namespace tw::space;

namespace {

Target of(bool gpu) {
  Target t = gpu ? parse_target("cuda:a100").value() : Target();
  if (!gpu) t.cores = 2;
  return t;
}

}  // namespace

class DrawTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void keepResults_data();
  void keepResults();
  void everyRuleIsAmongThem();
  void exactIsAnsors();
  void mostDrawsAreLegal();
};

void DrawTest::keepResults_data() {
  QTest::addColumn<int>("dag");
  QTest::addColumn<bool>("gpu");
  int k = 0;
  for (const auto& d : tw::testing::sample_dags()) {
    QTest::newRow(d.name) << k << false;
    QTest::newRow((std::string(d.name) + " by threads").c_str()) << k++ << true;
  }
}

/// Random schedules of every sketch, and what mutations and crossing make of them: the interpreter's result of the function after all passes equals that of the
/// bare expressions.
void DrawTest::keepResults() {
  QFETCH(int, dag);
  QFETCH(bool, gpu);
  const int cases = gpu ? 170 : 340;
  const tw::testing::NamedDag sample = tw::testing::sample_dags()[static_cast<size_t>(dag)];
  const Target target = of(gpu);
  const std::vector<Sketch> all = sketches(sample.dag, target);
  int lowered = 0, draws = 0;
  std::optional<schedule::Schedule> last;
  for (int seed = 0; lowered < cases && seed < 20 * cases; ++seed) {
    Rng rng(static_cast<uint64_t>(seed) * 7907 + static_cast<uint64_t>(dag));
    const DrawOptions options{.exact = seed % 4 == 3};
    ++draws;
    auto s = random_schedule(all[static_cast<size_t>(seed) % all.size()], target, options, rng);
    for (int k = seed % 3; k > 0 && s; --k)
      if (const auto steps = random_mutation(target, rng).apply({sample.dag, s->steps(), target, options, rng})) s = schedule::Schedule::replay(sample.dag, *steps);
    if (s && last && seed % 5 == 0)
      if (auto child = crossed(*s, *last, rng)) s = std::move(child);
    if (!s) {
      QVERIFY2(s.error().code == ErrorCode::illegal_schedule, s.error().text().c_str());
      continue;
    }
    last = *s;
    const auto context = [&](const std::string& text) { return fmt::format("seed {}: {}\n{}", seed, text, schedule::print_steps(*s)); };
    tir::PassHooks hooks;
    hooks.verify = true;
    const auto f = lower::lower_and_optimize(*s, "f", target, hooks);
    if (!f) {
      QVERIFY2(f.error().code == ErrorCode::illegal_schedule, context(f.error().text()).c_str());
      continue;
    }
    ++lowered;
    const std::vector<HostArray> inputs = tw::testing::random_inputs(*sample.dag, rng);
    const auto want = te::interpret(*sample.dag, inputs).value();
    const auto got = tw::testing::run_scheduled(*s, inputs, [&](std::vector<HostArray>& args) { return tir::interpret(*f, args); });
    QVERIFY2(got, got ? "" : context(got.error().text()).c_str());
    const double d = tw::testing::largest_difference(*got, want);
    QVERIFY2(d < 1e-4, context(fmt::format("differs by {}", d)).c_str());
  }
  QVERIFY2(lowered >= cases, qPrintable(QString("%1 of %2 draws were legal").arg(lowered).arg(draws)));
}

/// Every rule makes sketches of some of the computations above; that for tensor cores, whose tiles are larger than these, is held to the interpreter by sketch_test.
void DrawTest::everyRuleIsAmongThem() {
  std::set<std::string_view> used;
  for (const auto& d : tw::testing::sample_dags())
    for (const bool gpu : {false, true})
      for (const Sketch& s : sketches(d.dag, of(gpu)))
        for (const RuleUse& use : s.derived) used.insert(use.rule);
  for (const SketchRule& rule : sketch_rules()) QVERIFY2(rule.silent || rule.name == std::string_view("tensor-cores") || used.contains(rule.name), rule.name);
  QVERIFY(tw::testing::sample_dags().size() >= 30);
}

/// Lengths divide, innermost ones are bounded, and loops of a stage that is not tiled are bound to a warp.
void DrawTest::exactIsAnsors() {
  const auto dag = tw::testing::dags::matmul(48, 60, 36);
  for (const Sketch& sketch : sketches(dag, of(false), {.exact = true}))
    for (uint64_t seed = 0; seed < 50; ++seed) {
      Rng rng(seed);
      const auto s = random_schedule(sketch, of(false), {.max_innermost = 16, .exact = true}, rng);
      QVERIFY2(s, s ? "" : s.error().text().c_str());
      for (const int k : sketch.open) {
        const auto& split = std::get<schedule::SplitStep>(s->steps()[static_cast<size_t>(k)]);
        int64_t product = 1;
        for (const int64_t l : split.lengths) product *= l;
        QVERIFY(split.extent % product == 0 && split.lengths.back() <= 16);
      }
    }
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    const auto s = random_schedule(sketches(tw::testing::dags::broadcast_add(), of(true)).front(), of(true), {.exact = true}, rng).value();
    QCOMPARE(s.stages().back().iters.back().extent, int64_t{32});
  }
}

/// What is drawn is mostly of use.
void DrawTest::mostDrawsAreLegal() {
  for (const bool gpu : {false, true}) {
    const auto dag = tw::testing::dags::conv_nhwc(64, 64, 14);
    const std::vector<Sketch> all = sketches(dag, of(gpu));
    int legal = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      Rng rng(seed);
      legal += random_schedule(all[seed % all.size()], of(gpu), {}, rng).has_value();
    }
    QVERIFY2(legal > 180, qPrintable(QString::number(legal)));
  }
}

QTEST_APPLESS_MAIN(DrawTest)
#include "draw_test.moc"
