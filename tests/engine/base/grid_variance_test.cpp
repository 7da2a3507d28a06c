// SPDX-License-Identifier: Apache-2.0
#include "engine/base/grid_variance.h"

#include <QtTest>
#include <cmath>

using namespace tw;

namespace {

bool is_near(double a, double b) { return std::abs(a - b) < 1e-12; }

}  // namespace

class GridVarianceTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// 2a + 3b + ab with a, b in {-1, 1} and a third choice that does nothing: variances 4, 9 and 1.
  void sharesOfAKnownSum() {
    const size_t sizes[] = {2, 2, 3};
    std::vector<double> values;
    for (int c = 0; c < 3; ++c)
      for (const double b : {-1.0, 1.0})
        for (const double a : {-1.0, 1.0}) values.push_back(7 + 2 * a + 3 * b + a * b);
    const GridVariance g = grid_variance(sizes, values, true);
    QVERIFY(is_near(g.mean, 7) && is_near(g.variance, 14));
    QVERIFY(is_near(g.single[0], 4.0 / 14) && is_near(g.single[1], 9.0 / 14) && is_near(g.single[2], 0));
    QCOMPARE(g.pairs.size(), size_t{3});
    QVERIFY(g.pairs[0].a == 0 && g.pairs[0].b == 1 && is_near(g.pairs[0].share, 1.0 / 14));
    QVERIFY(is_near(g.pairs[1].share, 0) && is_near(g.pairs[2].share, 0));
    QVERIFY(is_near(g.means[0][0], 5) && is_near(g.means[0][1], 9) && is_near(g.means[1][1], 10) && is_near(g.means[2][1], 7));
  }
  /// The product of two choices around zero has no effects of single ones.
  void whatTwoOnlyDoTogether() {
    const size_t sizes[] = {2, 3};
    const double values[] = {-1, 1, 0, 0, 1, -1};
    const GridVariance g = grid_variance(sizes, values, true);
    QVERIFY(is_near(g.single[0], 0) && is_near(g.single[1], 0) && is_near(g.pairs[0].share, 1));
  }
  void aConstantHasNoShares() {
    const size_t sizes[] = {2, 2};
    const double values[] = {3, 3, 3, 3};
    const GridVariance g = grid_variance(sizes, values, false);
    QVERIFY(is_near(g.variance, 0) && is_near(g.single[0], 0) && g.pairs.empty());
  }
};

QTEST_APPLESS_MAIN(GridVarianceTest)
#include "grid_variance_test.moc"
