// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/exponents.h"

#include <QtTest>
#include <cmath>
#include <set>

#include "tests/engine/lower/sample_dags.h"

using namespace tw;
using namespace tw::space;

namespace {

te::DagPtr product_dag(int64_t rows, int64_t depth, int64_t columns) {
  te::DagBuilder b;
  const te::Tensor a = b.placeholder("a", {rows, depth}, kFloat32), w = b.placeholder("w", {depth, columns}, kFloat32);
  const te::Tensor c = tw::testing::dags::product(b, a, w);
  return std::move(b).finish({c});
}

/// A schedule of a sketch, its space and its structure.
struct Structure {
  Sketch sketch;
  OpenSchedule open;
  Program program;
  ExponentSpace space;
};

std::vector<Structure> structures(const te::DagPtr& dag, const Target& target) {
  std::vector<Structure> out;
  for (const Sketch& sketch : sketches(dag, target)) {
    auto open = open_schedule(sketch, target);
    if (!open) continue;
    Program program = Program::make(dag, open->steps).value();
    ExponentSpace space(*open, target, {});
    out.push_back({sketch, *std::move(open), std::move(program), std::move(space)});
  }
  return out;
}

Target target_of(bool gpu) { return gpu ? parse_target("cuda:a100").value() : Target(); }

/// Points of the space by the sampler, rounded, as far as limits allow them.
std::vector<std::vector<int>> points(const ExponentSpace& space, size_t count, Rng& rng) {
  std::vector<std::vector<int>> out;
  for (const auto& x : space.seeds(count, rng)) {
    std::vector<int> whole;
    for (const double v : x) whole.push_back(static_cast<int>(std::lround(v)));
    if (space.allows(whole)) out.push_back(std::move(whole));
  }
  return out;
}

}  // namespace

class ExponentsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// 11008 is 2^8 * 43, of which the original knows no more than the first.
  void anyPrimeIsABase() {
    for (const Structure& s : structures(product_dag(7, 11008, 129), target_of(true))) {
      if (s.sketch.tiled.empty()) continue;  // of sums by threads, whose lengths are a part of the definitions
      std::set<int64_t> primes;
      for (const auto& v : s.space.variables()) primes.insert(v.prime);
      QVERIFY(primes == (std::set<int64_t>{2, 3, 7, 43}));
    }
  }
  void lengthsDivide_data() {
    QTest::addColumn<bool>("gpu");
    QTest::newRow("processor") << false;
    QTest::newRow("GPU") << true;
  }
  /// Whatever limits allow divides, stays within them as numbers, and is what encode() takes back.
  void lengthsDivide() {
    QFETCH(bool, gpu);
    const Target target = target_of(gpu);
    int found = 0;
    for (const Structure& s : structures(product_dag(56, 96, 250), target)) {
      Rng rng(2);
      for (const std::vector<int>& x : points(s.space, 100, rng)) {
        ++found;
        const std::vector<int64_t> numbers = s.space.decode(x);
        QVERIFY(s.space.encode(numbers) == x);
        QVERIFY(s.program.covers(numbers));
        std::vector<int> first;
        size_t next = 0;
        for (const schedule::Step& step : s.open.steps) {
          first.push_back(static_cast<int>(next));
          if (const auto* split = std::get_if<schedule::SplitStep>(&step)) next += split->lengths.size();
          if (std::holds_alternative<schedule::AutoUnrollStep>(step)) ++next;
        }
        for (const int k : s.sketch.open) {
          const auto& split = std::get<schedule::SplitStep>(s.open.steps[static_cast<size_t>(k)]);
          int64_t whole = 1;
          for (size_t i = 0; i < split.lengths.size(); ++i) whole *= numbers[static_cast<size_t>(first[static_cast<size_t>(k)]) + i];
          QCOMPARE(split.extent % whole, int64_t{0});
          QVERIFY(numbers[static_cast<size_t>(first[static_cast<size_t>(k)]) + split.lengths.size() - 1] <= target::kMaxBlockThreads);
        }
      }
    }
    QVERIFY(found > 50);
  }
  /// A product that is the limit itself is allowed, one prime more is not, whatever sums of logarithms are; and a floor that it is just on.
  void limitsAreMetExactly() {
    const std::vector<Structure> all = structures(product_dag(1024, 64, 1000), target_of(true));
    QVERIFY(!all.empty());
    ExponentSpace space = all.back().space;
    // All powers of one number, of 1000 = 2^3 * 5^3.
    for (size_t v = 0; v + 1 < space.variables().size(); ++v) {
      if (space.variables()[v].number != space.variables()[v + 1].number) continue;
      ExponentSpace own = space;
      const int at = static_cast<int>(v);
      own.add({{{at, std::log(2.0)}, {at + 1, std::log(5.0)}}, std::log(40.0)});
      own.add({{{at, -std::log(2.0)}, {at + 1, -std::log(5.0)}}, -std::log(20.0)});
      QCOMPARE(own.floors().size(), size_t{1});
      std::vector<int> x(space.variables().size(), 0);
      x[v] = 3, x[v + 1] = 1;
      QVERIFY(own.allows(x));
      x[v] = 2;
      QVERIFY(own.allows(x));
      x[v] = 1;
      QVERIFY(!own.allows(x));
      x[v] = 2, x[v + 1] = 2;
      QVERIFY(!own.allows(x));
      // Seeds meet floors where they can.
      Rng rng(3);
      for (const auto& seed : own.seeds(20, rng)) QVERIFY(own.floors()[0].excess(seed) <= 0);
      return;
    }
    QFAIL("a number with two primes");
  }
  /// Nothing written out is one store: other powers of two come back as they are, other numbers are none of the space.
  void storesArePowersOfTwo() {
    const std::vector<Structure> all = structures(product_dag(64, 64, 64), target_of(true));
    for (const Structure& s : all) {
      const std::vector<int> none(s.space.variables().size(), 0);
      std::vector<int64_t> numbers = s.space.decode(none);
      const auto n = static_cast<size_t>(s.open.free.back().number);
      for (const auto& [value, exponent] : {std::pair{0, 0}, std::pair{1, 0}, std::pair{512, 9}}) {
        numbers[n] = value;
        QCOMPARE(s.space.encode(numbers).value()[static_cast<size_t>(s.space.numbers()[n].variables.front())], exponent);
      }
      numbers[n] = 24;
      QVERIFY(!s.space.encode(numbers));
      // About as many are a place between whole powers.
      const auto v = static_cast<size_t>(s.space.numbers()[n].variables.front());
      const std::vector<double> near = s.space.near(numbers);
      for (size_t k = 0; k < near.size(); ++k) QVERIFY(std::abs(near[k] - (k == v ? std::log2(24.0) : 0.0)) < 1e-9);
    }
  }
  /// Copies to shared memory by vectors that divide what is copied.
  void copiesAreCut() {
    int cut = 0;
    const Target target = target_of(true);
    for (const Structure& s : structures(product_dag(30, 45, 70), target)) {
      Rng rng(3);
      for (const std::vector<int>& x : points(s.space, 200, rng)) {
        std::vector<int64_t> numbers = s.space.decode(x);
        const std::vector<int64_t> before = numbers;
        const Evaluated e = s.program.evaluate(numbers).value();
        s.space.cut_copies(numbers, e);
        for (size_t n = 0; n < numbers.size(); ++n) {
          const int stage = s.space.numbers()[n].copies;
          if (stage < 0) {
            QCOMPARE(numbers[n], before[n]);
            continue;
          }
          const Evaluated::Stage& of = e.stages[static_cast<size_t>(stage)];
          int64_t elements = 1;
          for (size_t k = 0; k < s.program.stages()[static_cast<size_t>(stage)].spatial; ++k) elements *= of.extents[k];
          QCOMPARE(elements % numbers[n], int64_t{0});
          cut += numbers[n] < before[n];
        }
      }
    }
    QVERIFY(cut > 0);
  }
};

QTEST_APPLESS_MAIN(ExponentsTest)
#include "exponents_test.moc"
