// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/descent_program.h"

#include <fmt/format.h>

#include <QtTest>
#include <cmath>

#include "engine/space/sketch/lengths.h"
#include "engine/space/sketch/smooth_limits.h"
#include "tests/engine/lower/random_schedules.h"

using namespace tw;
using namespace tw::cost;
using space::OpenSchedule;
using space::Tape;
using space::TapeCode;

namespace {

Target descent_target(bool gpu) {
  Target t = gpu ? parse_target("cuda:a100").value() : Target();
  if (!gpu) t.cores = 2, t.vector_bits = 512, t.vector_registers = 32;
  return t;
}

struct DescentCase {
  std::string name;
  bool gpu;
  DescentProgram program;
};

/// Every sketch of the sample computations that has open numbers.
std::vector<DescentCase> descent_cases() {
  std::vector<DescentCase> out;
  std::vector<tw::testing::NamedDag> dags = tw::testing::sample_dags();
  dags.push_back({"large_product", tw::testing::dags::matmul(1024, 768, 11008)});
  for (const bool gpu : {false, true})
    for (const auto& d : dags)
      for (const space::Sketch& s : space::sketches(d.dag, descent_target(gpu))) {
        auto open = space::open_schedule(s, descent_target(gpu));
        if (!open) continue;
        auto made = DescentProgram::make(*std::move(open), descent_target(gpu));
        if (!made) continue;
        out.push_back({fmt::format("{}{}", d.name, gpu ? " by threads" : ""), gpu, *std::move(made)});
      }
  return out;
}

std::vector<double> integer_point(const DescentProgram& p, Rng& rng) {
  std::vector<int64_t> numbers = space::numbers_of(p.schedule().steps);
  for (const OpenSchedule::Group& g : p.schedule().groups) {
    const std::vector<int64_t> lengths = space::random_lengths(g.extent, g.numbers.size(), g.extent, rng);
    for (size_t k = 0; k < lengths.size(); ++k) numbers[static_cast<size_t>(g.numbers[k])] = lengths[k];
  }
  for (const OpenSchedule::Free& f : p.schedule().free) {
    int64_t n = 1;
    for (int64_t k = rng.range(0, 11); k > 0 && 2 * n <= f.most; --k) n *= 2;
    numbers[static_cast<size_t>(f.number)] = n;
  }
  std::vector<double> x;
  for (const DescentProgram::Variable& v : p.variables()) {
    int power = 0;
    for (int64_t n = numbers[static_cast<size_t>(v.number)]; n % v.prime == 0; n /= v.prime) ++power;
    x.push_back(power);
  }
  return x;
}

/// Somewhere between integers, with what is left of every group inside its loop.
std::vector<double> real_point(const DescentProgram& p, Rng& rng) {
  const std::vector<double> a = integer_point(p, rng), b = integer_point(p, rng), c = integer_point(p, rng);
  std::vector<double> out;
  for (size_t v = 0; v < a.size(); ++v) out.push_back(0.41 * a[v] + 0.33 * b[v] + 0.23 * c[v] + 0.01);
  return out;
}

}  // namespace

class DescentProgramTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void variablesOfAProduct();
  void constraintsOfAProduct();
  void smoothIsExactAtIntegers();
  void gradientsAreThoseOfDifferences();
  void fixedFeatures();
  void seedsDoNotSeeEachOther();
  void theRowOfTheTable();
  void theFormulaOfAFeature();
};

/// A loop of 11008 = 2^8 43 has exponents of 43.
void DescentProgramTest::variablesOfAProduct() {
  const Target target = descent_target(true);
  const auto open = space::open_schedule(space::sketches(tw::testing::dags::matmul(64, 1000, 11008), target).front(), target).value();
  const DescentProgram p = DescentProgram::make(open, target).value();
  // Lengths of 64 = 2^6, four; 1000 = 2^3 5^3, four; 11008, two; two vectors and what is written out.
  std::vector<int64_t> extents;
  for (const OpenSchedule::Group& g : open.groups) extents.push_back(g.extent);
  std::sort(extents.begin(), extents.end());
  QCOMPARE(extents, (std::vector<int64_t>{64, 1000, 11008}));
  QCOMPARE(p.variables().size(), size_t{4 * 1 + 4 * 2 + 2 * 2 + 3});
  std::vector<double> x(p.variables().size(), 0);
  QCOMPARE(p.numbers(x), std::vector<int64_t>(space::numbers_of(open.steps).size(), 1));
  for (size_t v = 0; v < x.size(); ++v) {
    std::vector<double> one = x;
    one[v] = 2;
    std::vector<int64_t> want(space::numbers_of(open.steps).size(), 1);
    want[static_cast<size_t>(p.variables()[v].number)] = p.variables()[v].prime * p.variables()[v].prime;
    QCOMPARE(p.numbers(one), want);
  }
  QVERIFY(std::any_of(p.variables().begin(), p.variables().end(), [](const auto& v) { return v.prime == 43; }));
}

/// By hand, at tiles of 64 x 64 x 32 by 256 threads with two virtual threads.
void DescentProgramTest::constraintsOfAProduct() {
  const Target target = descent_target(true);
  const auto open = space::open_schedule(space::sketches(tw::testing::dags::matmul(1024, 1024, 1024), target).front(), target).value();
  const DescentProgram p = DescentProgram::make(open, target).value();
  // Lengths outermost first: virtual threads, threads, and what each computes in two loops; of the reduction what is copied at once, in two loops.
  std::vector<int64_t> numbers = space::numbers_of(open.steps);
  std::vector<std::vector<int64_t>> lengths = {{2, 16, 2, 1}, {1, 16, 4, 1}, {8, 4}};
  for (const OpenSchedule::Group& g : open.groups) {
    std::vector<int64_t> of = g.numbers.size() == 2 ? lengths[2] : lengths[g.numbers[0] == open.groups[0].numbers[0] ? 0 : 1];
    for (size_t k = 0; k < of.size(); ++k) numbers[static_cast<size_t>(g.numbers[k])] = of[k];
  }
  for (const OpenSchedule::Free& f : open.free) numbers[static_cast<size_t>(f.number)] = 4;
  std::vector<double> x;
  for (const auto& v : p.variables()) x.push_back(std::log2(static_cast<double>(numbers[static_cast<size_t>(v.number)])));
  QCOMPARE(p.numbers(x), numbers);
  DescentProgram::Pass pass;
  p.exact(x, 1, pass);
  std::map<std::string, double> found;
  for (size_t k = 0; k < p.constraints().size(); ++k) {
    const DescentProgram::Constraint& c = p.constraints()[k];
    found[c.name] = pass.constraints[k];
    if (!c.linear) continue;
    double sum = c.rest;
    for (size_t v = 0; v < x.size(); ++v) sum += c.row[v] * x[v];
    QVERIFY2(std::abs(sum - pass.constraints[k]) < 1e-9, c.name.c_str());
  }
  const auto close = [&](const char* name, double used, double limit) {
    const auto at = found.find(fmt::format("{} of 'matmul'", name));
    if (at == found.end()) return false;
    return std::abs(at->second - std::log(used / limit)) < 1e-9;
  };
  QVERIFY(close("threads of a block", 256, 1024));
  QVERIFY(close("fewest threads of a block", 32, 256));
  QVERIFY(close("virtual threads", 2, 8));
  QVERIFY(close("shared memory of a block", 4 * (64 * 32 + 64 * 32), 164 * 1024 - 1024));
  QVERIFY(std::is_sorted(p.constraints().begin(), p.constraints().end(), [](const auto& a, const auto& b) { return a.linear && !b.linear; }));
}

/// Features at integers, smooth and exact: they differ where a loop's pieces leave a rest, and where a region is nearly a whole dimension. How far, by feature, is
/// held here.
void DescentProgramTest::smoothIsExactAtIntegers() {
  std::map<std::string, double> worst;
  size_t same = 0, all = 0;
  for (const DescentCase& c : descent_cases()) {
    Rng rng(5);
    DescentProgram::Pass smooth, exact;
    for (int n = 0; n < 30; ++n) {
      const std::vector<double> x = integer_point(c.program, rng);
      c.program.forward(x, 1, smooth);
      c.program.exact(x, 1, exact);
      for (size_t k = 0; k < exact.features.size(); ++k) {
        const double apart = std::abs(static_cast<double>(smooth.features[k]) - exact.features[k]);
        QVERIFY2(std::isfinite(apart), (c.name + ": " + felix_column(k % kFelixColumns)).c_str());
        ++all;
        if (apart < 1e-5) {
          ++same;
          continue;
        }
        double& most = worst[felix_column(k % kFelixColumns)];
        most = std::max(most, apart);
      }
    }
  }
  // Truths may be all that they can be, where a loop runs little more than once, and with them what is written for an index; whole dimensions that a region nearly
  // is make short runs long.
  for (const auto& [column, apart] : worst) {
    qInfo("%s: %.2f", column.c_str(), apart);
    const bool lines = column.find("unique lines") != std::string::npos || column.ends_with("of integers"), truth = column.find("place") != std::string::npos;
    QVERIFY2(apart <= (truth ? 1 : lines ? 8 : 2), column.c_str());
  }
  qInfo("%zu of %zu the same", same, all);
  QVERIFY(static_cast<double>(same) > 0.97 * static_cast<double>(all));
}

/// In doubles, between integers; where a slope changes at a point, differences to its two sides do not agree, and nothing is asked.
void DescentProgramTest::gradientsAreThoseOfDifferences() {
  size_t compared = 0, kinks = 0;
  for (const DescentCase& c : descent_cases()) {
    const DescentProgram& p = c.program;
    const size_t V = p.variables().size(), F = p.stores().size() * kFelixColumns, C = p.constraints().size();
    Rng rng(11);
    for (int n = 0; n < 3; ++n) {
      const std::vector<double> x = real_point(p, rng);
      std::vector<float> by_features(F);
      std::vector<double> by_constraints(C), gradient(V);
      for (float& f : by_features) f = static_cast<float>(rng.uniform_real() - 0.5);
      for (double& d : by_constraints) d = rng.uniform_real() - 0.5;
      DescentProgram::Pass pass;
      p.forward(x, 1, pass);
      p.backward(pass, by_features, by_constraints, gradient);
      const auto sum_at = [&](size_t v, double by) {
        std::vector<double> moved = x;
        moved[v] += by;
        DescentProgram::Pass at;
        p.forward(moved, 1, at);
        double sum = 0;
        for (size_t k = 0; k < F; ++k) sum += static_cast<double>(by_features[k]) * p.feature(at, k);
        for (size_t k = 0; k < C; ++k) sum += by_constraints[k] * at.constraints[k];
        return sum;
      };
      for (size_t v = 0; v < V; ++v) {
        constexpr double kStep = 1e-6;
        const double here = sum_at(v, 0), up = sum_at(v, kStep), down = sum_at(v, -kStep);
        const double right = (up - here) / kStep, left = (here - down) / kStep, want = (up - down) / (2 * kStep);
        if (std::abs(right - left) > 5e-5 * std::max(1.0, std::abs(want))) {
          ++kinks;
          continue;
        }
        ++compared;
        QVERIFY2(std::abs(gradient[v] - want) <= 1e-4 * std::max(1.0, std::abs(want)), qPrintable(QString::fromStdString(fmt::format("{}, variable {}: {} instead of {}", c.name, v, gradient[v], want))));
      }
    }
  }
  qInfo("%zu derivatives, %zu at kinks", compared, kinks);
  QVERIFY(compared > 2000);
  QVERIFY(kinks * 20 < compared);
}

/// Features that are fixed are the same wherever the exponents are; most others are not, and those are a small part of all.
void DescentProgramTest::fixedFeatures() {
  size_t some = 0, open = 0, all = 0;
  for (const DescentCase& c : descent_cases()) {
    const size_t F = c.program.stores().size() * kFelixColumns;
    Rng rng(13);
    std::vector<double> x;
    for (int n = 0; n < 20; ++n)
      for (const double v : real_point(c.program, rng)) x.push_back(v);
    DescentProgram::Pass pass;
    c.program.forward(x, 20, pass);
    const FeatureMatrix matrix = c.program.matrix(pass);
    QCOMPARE(matrix.candidates(), size_t{20});
    QCOMPARE(matrix.fixed().size(), F);
    QVERIFY(std::equal(pass.features.begin(), pass.features.end(), matrix.data()));
    size_t moved = 0;
    for (size_t k = 0; k < F; ++k) {
      bool same = true;
      for (size_t b = 1; b < 20; ++b) same = same && pass.features[b * F + k] == pass.features[k];
      QVERIFY2(same || !matrix.fixed()[k], (c.name + ": " + felix_column(k % kFelixColumns)).c_str());
      moved += !same;
    }
    some += moved;
    open += static_cast<size_t>(std::count(matrix.fixed().begin(), matrix.fixed().end(), 0));
    all += F;
  }
  qInfo("%zu of %zu features are open, %zu of them move", open, all, some);
  QVERIFY(2 * some > open && 3 * open < all);
}

/// Many seeds at once are those seeds one by one, whatever pieces they fall in.
void DescentProgramTest::seedsDoNotSeeEachOther() {
  const std::vector<DescentCase> all = descent_cases();
  const DescentProgram& p = std::find_if(all.begin(), all.end(), [](const DescentCase& c) { return c.name == "conv_nhwc by threads"; })->program;
  const size_t V = p.variables().size(), F = p.stores().size() * kFelixColumns, C = p.constraints().size();
  constexpr size_t kSeeds = 37;
  Rng rng(2);
  std::vector<double> x, gradient(kSeeds * V), alone(V);
  std::vector<float> by_features;
  for (size_t n = 0; n < kSeeds; ++n) {
    const std::vector<double> at = real_point(p, rng);
    x.insert(x.end(), at.begin(), at.end());
  }
  for (size_t k = 0; k < kSeeds * F; ++k) by_features.push_back(static_cast<float>(rng.uniform_real()));
  const std::vector<double> by_constraints(kSeeds * C, 0.5);
  DescentProgram::Pass together, one;
  p.forward(x, kSeeds, together);
  p.backward(together, by_features, by_constraints, gradient);
  for (size_t n = 0; n < kSeeds; ++n) {
    p.forward(std::span(x).subspan(n * V, V), 1, one);
    QVERIFY(std::equal(one.features.begin(), one.features.end(), together.features.begin() + static_cast<std::ptrdiff_t>(n * F)));
    QVERIFY(std::equal(one.constraints.begin(), one.constraints.end(), together.constraints.begin() + static_cast<std::ptrdiff_t>(n * C)));
    p.backward(one, std::span(by_features).subspan(n * F, F), std::span(by_constraints).subspan(n * C, C), alone);
    QVERIFY(std::equal(alone.begin(), alone.end(), gradient.begin() + static_cast<std::ptrdiff_t>(n * V)));
  }
  // Of features alone, and of constraints alone: together they are both.
  std::vector<double> features(kSeeds * V), constraints(kSeeds * V);
  p.backward(together, by_features, {}, features);
  p.backward(together, {}, by_constraints, constraints);
  for (size_t k = 0; k < gradient.size(); ++k) QVERIFY(std::abs(features[k] + constraints[k] - gradient[k]) < 1e-9 * std::max(1.0, std::abs(gradient[k])));
}

/// What models learn from a candidate is what the descent sees at its numbers.
void DescentProgramTest::theRowOfTheTable() {
  const FeatureDef* felix = find_feature("felix");
  QVERIFY(felix != nullptr);
  QCOMPARE(felix->columns, kFelixColumns);
  int n = 0;
  for (const DescentCase& c : descent_cases()) {
    Rng rng(23);
    for (int k = 0; k < 3; ++k) {
      const std::vector<double> x = integer_point(c.program, rng);
      const std::vector<schedule::Step> steps = c.program.schedule().with_numbers(c.program.numbers(x));
      if (!schedule::Schedule::replay(c.program.schedule().dag, steps)) continue;
      const auto rows = felix->extract({.dag = c.program.schedule().dag, .target = descent_target(c.gpu), .steps = &steps});
      QVERIFY2(rows, rows ? "" : rows.error().text().c_str());
      QCOMPARE(rows->columns(), kFelixColumns);
      DescentProgram::Pass pass;
      c.program.forward(x, 1, pass);
      QCOMPARE(rows->values.size(), pass.features.size());
      for (size_t i = 0; i < pass.features.size(); ++i)
        if (std::abs(rows->values[i] - pass.features[i]) > 1e-4F * std::max(1.0F, std::abs(pass.features[i])))
          QFAIL(qPrintable(QString::fromStdString(fmt::format("{}, store {}, {}: {} instead of {}", c.name, i / kFelixColumns, felix_column(i % kFelixColumns), rows->values[i], pass.features[i]))));
      ++n;
    }
  }
  QVERIFY(n > 100);
}

void DescentProgramTest::theFormulaOfAFeature() {
  const Target target = descent_target(true);
  const auto open = space::open_schedule(space::sketches(tw::testing::dags::matmul(64, 64, 64), target).front(), target).value();
  const DescentProgram p = DescentProgram::make(open, target).value();
  size_t product = 0;
  while (p.stores()[product] != "matmul_local") ++product;
  QCOMPARE(p.formula(product, 49), std::string("1"));
  QCOMPARE(p.formula(product, 53), std::string("ln(1 + exp((ln matmul_local.1 + ln matmul_local.5)))"));
}

QTEST_APPLESS_MAIN(DescentProgramTest)
#include "descent_program_test.moc"
