// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/polytope.h"

#include <QtTest>
#include <algorithm>
#include <cmath>

using namespace tw;
using namespace tw::space;

namespace {

constexpr size_t kPoints = 10'000;

/// Shares of two primes among four lengths each, a product that is limited, and a coordinate of its own.
Polytope tiles() {
  Polytope p{9, {}};
  Halfspace twos{{{0, 1}, {1, 1}, {2, 1}, {3, 1}}, 8}, sevens{{{4, 1}, {5, 1}, {6, 1}, {7, 1}}, 1};
  const double two = std::log(2.0), seven = std::log(7.0);
  p.limits = {twos, sevens, {{{0, two}, {1, two}, {4, seven}, {5, seven}}, std::log(64.0)}, {{{8, 1}}, 10}};
  return p;
}

}  // namespace

class PolytopeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void pointsAreInside() {
    Rng rng(3);
    const Polytope p = tiles();
    for (const auto& x : sample(p, kPoints, rng)) QVERIFY(p.contains(x, 1e-6));
  }
  /// Every coordinate comes near 0 and near the most that it can be.
  void marginalsCoverTheirRanges() {
    Rng rng(4);
    const Polytope p = tiles();
    const std::vector<double> most = p.most();
    QCOMPARE(most[0], 6.0);  // of eight, as 64 is the most
    QVERIFY(std::abs(most[4] - 1.0) < 1e-12);
    QCOMPARE(most[8], 10.0);
    std::vector<double> least(p.coordinates, 1e9), greatest(p.coordinates, 0);
    for (const auto& x : sample(p, kPoints, rng))
      for (size_t k = 0; k < x.size(); ++k) least[k] = std::min(least[k], x[k] / most[k]), greatest[k] = std::max(greatest[k], x[k] / most[k]);
    for (size_t k = 0; k < p.coordinates; ++k) QVERIFY2(least[k] < 0.02 && greatest[k] > 0.8, qPrintable(QString("%1: %2 to %3").arg(k).arg(least[k]).arg(greatest[k])));
  }
  /// Uniform in a simplex of n coordinates, each has the mean 1 / (n + 1), and the share (1 - t)^n above t.
  void pointsAreUniform() {
    Rng rng(5);
    constexpr size_t kN = 4;
    Polytope p{kN, {{{{0, 1}, {1, 1}, {2, 1}, {3, 1}}, 1}}};
    std::vector<double> sum(kN, 0), above(kN, 0);
    for (const auto& x : sample(p, kPoints, rng))
      for (size_t k = 0; k < kN; ++k) sum[k] += x[k] / kPoints, above[k] += x[k] > 0.4 ? 1.0 / kPoints : 0;
    for (size_t k = 0; k < kN; ++k) {
      QVERIFY2(std::abs(sum[k] - 0.2) < 0.01, qPrintable(QString::number(sum[k])));
      QVERIFY2(std::abs(above[k] - std::pow(0.6, 4)) < 0.02, qPrintable(QString::number(above[k])));
    }
  }
  void whatCanOnlyBeZeroStays() {
    Rng rng(6);
    const Polytope p{2, {{{{0, 1}}, 0}, {{{1, 1}}, 3}}};
    bool moves = false;
    for (const auto& x : sample(p, 50, rng)) {
      QCOMPARE(x[0], 0.0);
      moves = moves || x[1] > 1;
    }
    QVERIFY(moves);
    QCOMPARE(sample(Polytope{}, 2, rng).size(), size_t{2});
  }
  void theSameSeedGivesTheSamePoints() {
    Rng a(7), b(7);
    QVERIFY(sample(tiles(), 20, a) == sample(tiles(), 20, b));
  }
};

QTEST_APPLESS_MAIN(PolytopeTest)
#include "polytope_test.moc"
