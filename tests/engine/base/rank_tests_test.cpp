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

  /// Over all signs of ten differences: as many intervals as the tail allows lie above 0, and one sum of ranks more would be too many.
  void signedRanksCountSigns() {
    constexpr int kDifferences = 10, kSigns = 1 << kDifferences;
    std::mt19937 rng(3);
    std::vector<double> sizes(kDifferences);
    for (double& s : sizes) s = std::exponential_distribution<>()(rng);
    for (const double tail : {0.001, 0.005, 0.025, 0.1, 0.3}) {
      int above = 0, below = 0;
      std::vector<int> negative_ranks;
      for (int signs = 0; signs < kSigns; ++signs) {
        std::vector<double> d = sizes;
        int sum = 0;
        for (int i = 0; i < kDifferences; ++i)
          if (signs >> i & 1) {
            d[static_cast<size_t>(i)] *= -1;
            sum += 1 + static_cast<int>(std::count_if(sizes.begin(), sizes.end(), [&](double s) { return s < sizes[static_cast<size_t>(i)]; }));
          }
        negative_ranks.push_back(sum);
        const SignedRanks r = signed_ranks(d, tail);
        above += r.low > 0;
        below += r.high < 0;
        QVERIFY(r.low <= r.middle && r.middle <= r.high);
      }
      QCOMPARE(above, below);
      QVERIFY(above <= tail * kSigns);
      std::sort(negative_ranks.begin(), negative_ranks.end());
      const int next = negative_ranks[static_cast<size_t>(above)];
      QVERIFY(std::count_if(negative_ranks.begin(), negative_ranks.end(), [&](int s) { return s <= next; }) > tail * kSigns);
    }
  }

  void permutationsCountSigns() {
    // The eight sums of 1, 2, 4 with signs are 7, 5, 3, 1 and their negatives: two reach 7, four reach 5.
    QCOMPARE(paired_permutation(std::vector<double>{1, 2, 4}), 2.0 / 8);
    QCOMPARE(paired_permutation(std::vector<double>{-1, -2, -4}), 2.0 / 8);
    QCOMPARE(paired_permutation(std::vector<double>{-1, 2, 4}), 4.0 / 8);
    QCOMPARE(paired_permutation(std::vector<double>{0.1, -0.1}), 1.0);
    QCOMPARE(paired_permutation({}), 1.0);
    // More than are counted: drawn signs come near to what 20 differences have exactly.
    std::mt19937 rng(5);
    std::normal_distribution<> normal(0.4, 1);
    std::vector<double> d(20);
    for (double& x : d) x = normal(rng);
    const double exact = paired_permutation(d);
    d.push_back(0);  // changes no sum
    QVERIFY2(std::abs(paired_permutation(d) - exact) < 0.01, qPrintable(QString::number(exact)));
    // Of 40 differences of one sign no drawing reaches the sum again.
    QVERIFY(paired_permutation(std::vector<double>(40, 1.0)) < 1e-4);
  }

  void samplesThatSettle() {
    // Noether's N = (1.960 + 0.842)^2 / (3 (A12 - 1/2)^2) of both samples together.
    QCOMPARE(samples_to_settle(1.0, 0.05, 1000), std::optional(6));
    QCOMPARE(samples_to_settle(0.0, 0.05, 1000), std::optional(6));
    QCOMPARE(samples_to_settle(0.7, 0.05, 1000), std::optional(33));
    QVERIFY(*samples_to_settle(0.7, 0.005, 1000) > 33);
    QVERIFY(!samples_to_settle(0.5, 0.05, 1000));
    QVERIFY(!samples_to_settle(0.51, 0.05, 1000));
  }

  void signedRanksOfAFewDifferences() {
    // The means of pairs are 1, 1.5, 2, 2, 2.5, 3, 3.5, 4, 4.5, 6 (of 1, 2, 3, 6); a tail of 1/16 leaves one of them out on each side, 1/8 two.
    const std::vector<double> d = {3, 1, 6, 2};
    const SignedRanks one = signed_ranks(d, 1.0 / 16), two = signed_ranks(d, 2.0 / 16);
    QCOMPARE(one.middle, 2.75);
    QCOMPARE(one.low, 1.0);
    QCOMPARE(one.high, 6.0);
    QCOMPARE(two.low, 1.5);
    QCOMPARE(two.high, 4.5);
    QCOMPARE(rank_differences(1.0 / 16), 4);
    QCOMPARE(rank_differences(0.06), 5);
  }
};

QTEST_APPLESS_MAIN(RankTestsTest)
#include "rank_tests_test.moc"
