// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/mutate.h"

#include <QtTest>
#include <map>
#include <set>

#include "engine/schedule/fingerprint.h"
#include "engine/target/gpu.h"
#include "tests/engine/lower/sample_dags.h"

using namespace tw;
using namespace tw::space;
using namespace tw::schedule;
namespace dags = tw::testing::dags;

namespace {

Target machine(bool gpu) {
  Target t = gpu ? parse_target("cuda:a100").value() : Target();
  if (!gpu) t.cores = 2;
  return t;
}

Schedule legal(const Sketch& sketch, const Target& target, uint64_t seed, const DrawOptions& options = {}) {
  for (;; seed += 1000) {
    Rng rng(seed);
    if (auto s = random_schedule(sketch, target, options, rng)) return *std::move(s);
  }
}

const MutationRule& rule(std::string_view name) {
  for (const MutationRule& r : mutation_rules())
    if (r.name == name) return r;
  qFatal("not in the table");
}

/// A child of a schedule, replayed.
Expected<Schedule> changed_by(std::string_view name, const Schedule& s, const Target& target, const DrawOptions& options, Rng& rng) {
  TW_TRY(const std::vector<Step> steps, rule(name).apply({s.dag(), s.steps(), target, options, rng}));
  return Schedule::replay(s.dag(), steps);
}

int64_t product(const SplitStep& s) {
  int64_t n = 1;
  for (const int64_t l : s.lengths) n *= l;
  return n;
}

/// Steps that differ between two lists of equal length.
std::vector<size_t> differences(const Schedule& a, const Schedule& b) {
  std::vector<size_t> out;
  for (size_t k = 0; k < std::min(a.steps().size(), b.steps().size()); ++k)
    if (a.steps()[k] != b.steps()[k]) out.push_back(k);
  return out;
}

}  // namespace

class MutateTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// One split has other lengths; those that divided still do.
  void tileSizesMoveFactors() {
    const Target target = machine(false);
    const DrawOptions exact{.max_innermost = 16, .exact = true};
    const Schedule parent = legal(sketches(dags::matmul(48, 60, 36), target, {.exact = true}).front(), target, 1, exact);
    int changed = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      Rng rng(seed);
      const auto child = changed_by("tile-size", parent, target, exact, rng);
      if (!child) continue;
      ++changed;
      const auto at = differences(parent, *child);
      QCOMPARE(at.size(), size_t{1});
      const auto& split = std::get<SplitStep>(child->steps()[at[0]]);
      QVERIFY(split.extent % product(split) == 0 && split.lengths.back() <= 16);
    }
    QVERIFY(changed > 90);
  }
  /// More than 64 where threads are bound to them, unless it is to be as TVM does it.
  void threadsMayBeMany() {
    const Target target = machine(true);
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {1 << 16}, kFloat32);
    const te::Tensor y = dags::relu(b, x);
    const Sketch sketch = sketches(std::move(b).finish({y}), target).front();
    for (const bool exact : {false, true}) {
      const DrawOptions options{.exact = exact};
      Schedule s = legal(sketch, target, 3, options);
      int64_t most = 0;
      Rng rng(7);
      for (int k = 0; k < 400; ++k)
        if (auto next = changed_by("tile-size", s, target, options, rng)) {
          s = *std::move(next);
          most = std::max(most, s.stages().back().iters.back().extent);
        }
      QVERIFY2(exact ? most == 64 : most > 64 && most <= target::kMaxBlockThreads, qPrintable(QString::number(most)));
    }
  }
  void unrollingIsDrawnAnew() {
    const Target target = machine(false);
    const Schedule parent = legal(sketches(dags::matmul(48, 60, 36), target).front(), target, 1);
    std::set<int64_t> steps;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      Rng rng(seed);
      const Schedule child = changed_by("auto-unroll", parent, target, {}, rng).value();
      for (const Step& step : child.steps())
        if (const auto* u = std::get_if<AutoUnrollStep>(&step)) steps.insert(u->steps);
    }
    const auto choices = unroll_choices(target);
    QCOMPARE(steps, std::set<int64_t>(choices.begin(), choices.end()));
  }
  /// A border of zeros goes from place to place.
  void stagesMove() {
    const Target target = machine(false);
    const auto dag = dags::conv_nhwc();
    std::set<std::string> places;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      const Schedule parent = legal(sketches(dag, target).back(), target, seed % 6);
      Rng rng(seed);
      const auto child = changed_by("compute-location", parent, target, {}, rng);
      if (!child) continue;
      const Stage& pad = child->stages()[static_cast<size_t>(child->find("pad"))];
      places.insert(pad.location == ComputeLocation::at ? (*pad.at_iter)->name : "by itself");
      QVERIFY(fingerprint(*child) != fingerprint(parent));
    }
    QVERIFY2(places.size() >= 2, qPrintable(QString::number(places.size())));
  }
  void parallelLoopsGrowAndShrink() {
    const Target target = machine(false);
    const auto sketch = sketches(dags::matmul(48, 60, 36), target).back();
    std::set<size_t> counts;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      const Schedule parent = legal(sketch, target, seed);
      Rng rng(seed);
      const auto child = changed_by("parallel", parent, target, {}, rng);
      if (!child) {
        QCOMPARE(child.error().code, ErrorCode::not_applicable);
        continue;
      }
      QVERIFY(fingerprint(*child) != fingerprint(parent) || child->steps() != parent.steps());
      for (const Step& step : child->steps())
        if (const auto* f = std::get_if<FuseStep>(&step); f && !f->iters.empty() && f->iters[0] == 0) counts.insert(f->iters.size());
    }
    QVERIFY2(counts.size() >= 2, qPrintable(QString::number(counts.size())));
  }
  /// Both parents' numbers, stage by stage.
  void crossingTakesFromBoth() {
    const Target target = machine(false);
    const DrawOptions options{.move_stages = false};
    const Sketch sketch = sketches(dags::two_products(16, 24, 32, 40), target).front();
    std::set<std::string> children;
    const Schedule a = legal(sketch, target, 1, options);
    for (uint64_t seed = 2; seed < 200 && children.size() < 3; ++seed) {
      const Schedule b = legal(sketch, target, seed, options);
      Rng rng(seed);
      const auto child = crossed(a, b, rng);
      if (!child) {
        QCOMPARE(child.error().code, ErrorCode::not_applicable);
        continue;
      }
      for (size_t k = 0; k < child->steps().size(); ++k) QVERIFY(child->steps()[k] == a.steps()[k] || child->steps()[k] == b.steps()[k]);
      children.insert(json_text(child->steps()));
    }
    QVERIFY(children.size() >= 3);
    Rng rng(1);
    QVERIFY(!crossed(a, Schedule(a.dag()), rng));
  }
  void weightsSayHowOften() {
    std::map<std::string, int> drawn;
    Rng rng(1);
    for (int k = 0; k < 2000; ++k) ++drawn[random_mutation(machine(false), rng).name];
    QVERIFY(drawn["tile-size"] > 1700 && drawn["parallel"] > 0 && drawn["parallel"] < 60 && drawn["compute-location"] > 50);
    drawn.clear();
    for (int k = 0; k < 2000; ++k) ++drawn[random_mutation(machine(true), rng).name];
    QVERIFY(drawn.size() == 2 && drawn["auto-unroll"] > 100);
  }
};

QTEST_APPLESS_MAIN(MutateTest)
#include "mutate_test.moc"
