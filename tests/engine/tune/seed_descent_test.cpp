// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/seed_descent.h"

#include <QtTest>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <set>

#include "engine/cost/mlp.h"
#include "engine/lower/lower.h"
#include "engine/space/sketch/limits.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::tune;

namespace {

Target target_of(bool gpu) { return gpu ? parse_target("cuda:a100").value() : fixture::dense(1, 1, 1).target; }

std::vector<DescentSketch> sketches_of(const te::DagPtr& dag, const Target& target) {
  std::vector<DescentSketch> out;
  for (const space::Sketch& sketch : space::sketches(dag, target))
    if (auto made = DescentSketch::make(sketch, "sketch " + std::to_string(out.size()), target, {})) out.push_back(*std::move(made));
  return out;
}

/// A network whose weights are random, and as good as any to go down on.
struct Landscape {
  std::shared_ptr<const cost::Mlp> network = std::make_shared<cost::Mlp>(learner::felix(), learner::felix().initial(7));
  Expected<cost::CostModel::Slopes> operator()(const cost::FeatureMatrix& x) const {
    cost::Mlp::Scored s = network->scored(x);
    return cost::CostModel::Slopes{std::move(s.scores), std::move(s.gradient)};
  }
};

/// A product on a target, with its descent.
struct Case {
  explicit Case(bool gpu, int64_t m = 64, int64_t n = 96, int64_t k = 128, int seeds = 16)
      : target(target_of(gpu)), dag(fixture::dense(m, n, k).dag), descent(target, sketches_of(dag, target), {.seeds = seeds}) {}
  std::vector<DescentCandidate> round(const SeedDescent::Slopes& model, uint64_t seed, const std::unordered_set<uint64_t>& taken = {}, int steps = 12, DescentTrace* trace = nullptr,
                                      int threads = 1, std::span<const std::vector<std::vector<double>>> begin = {}) const {
    Rng rng(seed);
    WorkerPool workers(threads);
    return descent.descend(model, steps, begin, taken, rng, workers, {}, trace).value();
  }
  Target target;
  te::DagPtr dag;
  SeedDescent descent;
};

}  // namespace

class SeedDescentTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void targets() {
    QTest::addColumn<bool>("gpu");
    QTest::newRow("processor") << false;
    QTest::newRow("GPU") << true;
  }
  void candidatesAreLegal_data() { targets(); }
  /// Lengths divide, the schedule lowers within the target's limits, none is there twice, and each has the score of what it is, the best first: those of rows that were left out are nobody's.
  void candidatesAreLegal() {
    QFETCH(bool, gpu);
    const Case c(gpu);
    QVERIFY(!c.descent.sketches().empty());
    const Landscape model;
    const auto found = c.round(model, 1);
    QVERIFY2(found.size() > 20, qPrintable(QString::number(found.size())));
    std::set<uint64_t> different;
    for (size_t i = 0; i < found.size(); ++i) {
      const DescentCandidate& one = found[i];
      const DescentSketch& sketch = c.descent.sketches()[one.sketch];
      QVERIFY(different.insert(one.identity).second);
      QVERIFY(sketch.space.decode(one.exponents) == one.numbers);
      for (const space::OpenSchedule::Group& group : sketch.program.schedule().groups) {
        int64_t product = 1;
        for (const int n : group.numbers) product *= one.numbers[static_cast<size_t>(n)];
        QCOMPARE(group.extent % product, int64_t{0});
      }
      const auto s = schedule::Schedule::replay(c.dag, sketch.program.schedule().with_numbers(one.numbers));
      QVERIFY(s && space::check_limits(*s, c.target));
      if (i % 8 == 0) QVERIFY(lower::lower(*s, "candidate"));
      const cost::FeatureRows rows = sketch.rows(one.exponents);
      QVERIFY(std::abs(model(cost::FeatureMatrix(std::span(&rows, 1))).value().scores[0] - one.score) <= 1e-4F * std::max(1.0F, std::abs(one.score)));
      if (i > 0) QVERIFY(found[i - 1].score >= one.score);
    }
  }
  /// Not in a later round either, though nothing was known at first.
  void nothingIsFoundTwice() {
    const Case c(true);
    std::unordered_set<uint64_t> taken;
    for (uint64_t round = 0; round < 3; ++round)
      for (const DescentCandidate& one : c.round(Landscape(), 1, taken)) QVERIFY(taken.insert(one.identity).second);
  }
  void theSameSeedFindsTheSame() {
    const Case c(true);
    const auto one = c.round(Landscape(), 5), other = c.round(Landscape(), 5, {}, 12, nullptr, 2), another = c.round(Landscape(), 6);
    QCOMPARE(one.size(), other.size());
    for (size_t i = 0; i < one.size(); ++i) QVERIFY(one[i].sketch == other[i].sketch && one[i].numbers == other[i].numbers && one[i].score == other[i].score);
    QVERIFY(one.size() != another.size() || one.front().numbers != another.front().numbers || one.back().numbers != another.back().numbers);
  }
  /// The first of a sketch's seeds where it is asked for, the others where they are drawn without that.
  void seedsBeginWhereAsked() {
    const Case c(true);
    const auto sketches = c.descent.sketches();
    std::vector<std::vector<std::vector<double>>> begin(sketches.size());
    begin[0] = {std::vector<double>(sketches[0].space.variables().size(), 0.25)};
    DescentTrace drawn, asked;
    c.round(Landscape(), 3, {}, 4, &drawn);
    c.round(Landscape(), 3, {}, 4, &asked, 1, begin);
    const size_t variables = begin[0][0].size(), first = drawn.sketches[0].seeds * variables;
    for (size_t k = 0; k < first; ++k) QCOMPARE(asked.sketches[0].points[k], k < variables ? 0.25F : drawn.sketches[0].points[k]);
  }
  void itGoesDownhill_data() { targets(); }
  /// What is predicted gets better on the way, within the limits; and the best of as many drawn at random is not as good as what was passed by.
  void itGoesDownhill() {
    QFETCH(bool, gpu);
    const Case c(gpu, 256, 480, 768, 32);
    DescentTrace trace;
    const auto found = c.round(Landscape(), 2, {}, 64, &trace);
    QCOMPARE(trace.sketches.size(), c.descent.sketches().size());
    for (const DescentTrace::Sketch& s : trace.sketches) {
      QCOMPARE(s.points.size(), (s.steps + 1) * s.seeds * s.variables.size());
      QCOMPARE(s.scores.size(), (s.steps + 1) * s.seeds);
      const auto mean = [&](size_t step) {
        double sum = 0, count = 0;
        for (size_t b = 0; b < s.seeds; ++b)
          if (s.penalties[step * s.seeds + b] < 0.05F) sum += s.scores[step * s.seeds + b], ++count;
        return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
      };
      const double first = mean(0), last = mean(s.steps);
      QVERIFY2(last > first, qPrintable(QString("%1: %2 to %3").arg(QString::fromStdString(s.name)).arg(first).arg(last)));
    }
    Rng rng(3);
    auto drawn = c.descent.draw(found.size(), {}, rng);
    QVERIFY(!drawn.empty());
    // What would be measured: the best of as many.
    std::vector<float> scores;
    for (const DescentCandidate& d : drawn) scores.push_back(Landscape()(cost::FeatureMatrix(std::span(&d.rows, 1))).value().scores[0]);
    std::sort(scores.rbegin(), scores.rend());
    double descended = 0, at_random = 0;
    const size_t measured = std::min({size_t{64}, found.size(), scores.size()});
    for (size_t i = 0; i < measured; ++i) descended += found[i].score, at_random += scores[i];
    QVERIFY2(descended > at_random, qPrintable(QString("%1 and %2 of %3").arg(descended).arg(at_random).arg(measured)));
  }
  /// One slope that is no number ends a seed, not the round, and not what comes after it.
  void whatIsNoNumberIsDrawnAnew() {
    const Case c(true);
    std::atomic<int> calls = 0;
    const Landscape model;
    const auto broken = [&](const cost::FeatureMatrix& x) {
      auto said = model(x);
      if (calls++ < 2) std::fill_n(said->slopes.begin(), 200, std::numeric_limits<float>::quiet_NaN());
      return said;
    };
    DescentTrace trace;
    const auto found = c.round(broken, 1, {}, 8, &trace);
    QVERIFY(!found.empty());
    int64_t anew = 0;
    for (const DescentTrace::Sketch& s : trace.sketches) {
      anew += s.drawn_anew;
      for (const float v : s.points) QVERIFY(std::isfinite(v));
    }
    QVERIFY(anew >= 2);
    for (const DescentCandidate& one : found) QVERIFY(std::isfinite(one.score));
    // A model that says nothing but such: seeds alone are left, none of which has a score.
    const auto nothing = [&](const cost::FeatureMatrix& x) {
      auto said = model(x);
      std::fill(said->scores.begin(), said->scores.end(), std::numeric_limits<float>::quiet_NaN());
      return said;
    };
    QVERIFY(c.round(nothing, 1, {}, 4).empty());
  }
  /// Where all that seeds pass by is known, or a model says no numbers, a round ends with nothing.
  void itEndsWhereAllIsKnown() {
    const Case c(true);
    std::unordered_set<uint64_t> taken;
    for (const DescentCandidate& one : c.round(Landscape(), 1)) taken.insert(one.identity);
    DescentTrace trace;
    QVERIFY(c.round(Landscape(), 1, taken, 12, &trace).empty());
    for (const DescentTrace::Sketch& s : trace.sketches) QVERIFY(s.rounding.legal > 0 && s.rounding.fresh == 0 && s.rounding.different >= s.rounding.allowed && s.rounding.allowed >= s.rounding.legal);
    // No step at all is a round too: that of the seeds.
    QVERIFY(!c.round(Landscape(), 2, taken, 0).empty());
  }
  /// Those of all sketches stand in one list, the first sketch's too.
  void everySketchCompetes() {
    const Case c(true, 64, 64, 512);
    std::set<size_t> met;
    for (const DescentCandidate& one : c.round(Landscape(), 1)) met.insert(one.sketch);
    QCOMPARE(met.size(), c.descent.sketches().size());
  }
  void errorsOfTheModelAreSaid() {
    const Case c(true);
    Rng rng(1);
    WorkerPool workers(1);
    const auto refuses = [](const cost::FeatureMatrix&) -> Expected<cost::CostModel::Slopes> { return Error(ErrorCode::not_applicable, "No model"); };
    const auto found = c.descent.descend(refuses, 4, {}, {}, rng, workers, {});
    QVERIFY(!found);
    QCOMPARE(found.error().message, std::string("No model"));
  }
};

QTEST_APPLESS_MAIN(SeedDescentTest)
#include "seed_descent_test.moc"
