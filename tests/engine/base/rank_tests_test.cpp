// SPDX-License-Identifier: Apache-2.0
#include "engine/base/rank_tests.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace tw;

namespace {

/// Share of all ways to choose the first sample out of `values` whose U is at least as far from its mean: the definition.
double by_enumeration(std::vector<double> values, size_t first, double u) {
  std::vector<bool> chosen(values.size(), false);
  std::fill(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(first), true);
  const double mean = static_cast<double>(first * (values.size() - first)) / 2;
  double all = 0, far = 0;
  do {
    std::vector<double> a, b;
    for (size_t i = 0; i < values.size(); ++i) (chosen[i] ? a : b).push_back(values[i]);
    ++all;
    if (std::abs(mann_whitney(a, b).u - mean) >= std::abs(u - mean) - 1e-9) ++far;
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return far / all;
}

}  // namespace

class RankTestsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void exactProbabilityIsThatOfAllArrangements() {
    std::mt19937 rng(5);
    for (int round = 0; round < 30; ++round) {
      std::vector<double> values(9);
      std::iota(values.begin(), values.end(), 1.0);
      std::shuffle(values.begin(), values.end(), rng);
      const size_t n = 2 + static_cast<size_t>(round) % 5;
      const std::vector<double> a(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n)),
          b(values.begin() + static_cast<std::ptrdiff_t>(n), values.end());
      const MannWhitney r = mann_whitney(a, b);
      QVERIFY(r.exact);
      QVERIFY(std::abs(r.p - by_enumeration(values, n, r.u)) < 1e-12);
      QVERIFY(std::abs(r.p - mann_whitney(b, a).p) < 1e-12);
    }
  }

  void separatedSamples() {
    const std::vector<double> a = {1, 2, 3, 4, 5}, b = {6, 7, 8, 9, 10};
    const MannWhitney r = mann_whitney(a, b);
    QCOMPARE(r.u, 0.0);
    QCOMPARE(r.p, 2.0 / 252.0);  // 252 = 10 over 5
    QCOMPARE(vargha_delaney(a, b), 0.0);
    QCOMPARE(vargha_delaney(b, a), 1.0);
  }

  void approximationIsNearTheExactProbability() {
    // With one tie the approximation serves; moving the tied value apart by a little gives the exact one.
    std::vector<double> a, b;
    for (int i = 0; i < 15; ++i) a.push_back(i * 2.0), b.push_back(i * 2.0 + 7.0);
    const double exact = mann_whitney(a, b).p;
    b[0] = a[5];
    const MannWhitney tied = mann_whitney(a, b);
    QVERIFY(!tied.exact);
    QVERIFY(std::abs(tied.p - exact) < 0.03);
  }

  void equalValuesShowNothing() {
    const std::vector<double> same(6, 2.0), none;
    QCOMPARE(mann_whitney(same, same).p, 1.0);
    QCOMPARE(vargha_delaney(same, same), 0.5);
    QCOMPARE(mann_whitney(same, none).p, 1.0);
  }

  void holmsCorrection() {
    const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
    const std::vector<double> adjusted = holm(p), expected = {0.03, 0.06, 0.06, 0.02};  // 3 x 0.01; 0.04 is raised to 2 x 0.03; 2 x 0.03; 4 x 0.005
    for (size_t i = 0; i < p.size(); ++i) QVERIFY(std::abs(adjusted[i] - expected[i]) < 1e-12);
    QVERIFY(holm({}).empty());
  }
};

QTEST_APPLESS_MAIN(RankTestsTest)
#include "rank_tests_test.moc"
