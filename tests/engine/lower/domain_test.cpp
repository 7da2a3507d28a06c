// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/domain.h"

#include <QtTest>

#include "engine/lower/prepare.h"
#include "tests/engine/lower/lowered_check.h"
#include "tests/engine/lower/random_pipelines.h"

using namespace tw;

/// The region that a stage computes each time is as large as its readers need, and a guard is left out only where it always holds.
class DomainTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void randomPipelines() {
    constexpr int kPipelines = 1500;
    int lowered = 0, guarded = 0, inside = 0, smaller = 0;
    for (int seed = 0; seed < kPipelines; ++seed) {
      const te::DagPtr dag = testing::RandomPipeline(static_cast<uint64_t>(seed)).make();
      Rng rng(static_cast<uint64_t>(seed) * 31 + 7);
      const std::vector<HostArray> inputs = testing::random_inputs(*dag, rng);
      const auto want = te::interpret(*dag, inputs);
      QVERIFY2(want, want ? "" : (want.error().text() + "\n" + te::print(*dag)).c_str());
      schedule::Schedule s(dag);
      const auto attempt = [&](const schedule::Step& step) {
        if (auto next = s.apply(step)) s = *std::move(next);
      };
      for (int k = seed % 6; k > 0; --k) attempt(testing::random_step(s, rng));
      for (int k = 0; k < static_cast<int>(s.stages().size()); ++k)
        if (rng.uniform(3) > 0) attempt(schedule::ComputeAtStep::primitive().about.random({s, rng, k}));
      for (int k = seed % 4; k > 0; --k) attempt(testing::random_step(s, rng));
      const auto wrong = testing::wrong_when_lowered(s, inputs, *want);
      if (!wrong) continue;
      ++lowered;
      QVERIFY2(wrong->empty(), fmt::format("seed {}: {}\n{}\n{}", seed, *wrong, schedule::print_steps(s), te::print(*dag)).c_str());
      const auto stages = lower::prepared_stages(s).value();
      lower::DomainInference domains(stages);
      domains.run();
      for (size_t k = 0; k < stages.size(); ++k) {
        guarded += !domains.of(static_cast<int>(k)).guards.empty();
        if (stages[k].location != schedule::ComputeLocation::at) continue;
        ++inside;
        for (size_t d = 0; d < stages[k].op.axes.size(); ++d) smaller += domains.of(static_cast<int>(k)).extent[d] < stages[k].op.axes[d].extent;
      }
    }
    QVERIFY2(lowered > kPipelines * 9 / 10 && guarded > kPipelines / 10 && inside > kPipelines / 5 && smaller > inside / 4,
             fmt::format("{} lowered, {} stages guarded, {} inside others, {} axes smaller there", lowered, guarded, inside, smaller).c_str());
  }
};

QTEST_APPLESS_MAIN(DomainTest)
#include "domain_test.moc"
