// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/gradients.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <functional>

using namespace tw;
using namespace tw::cost;

class GradientsTest : public QObject {
  Q_OBJECT

  static inline const std::vector<size_t> kBegins{0, 2, 3, 6};  ///< candidates of 2, 1 and 3 rows
  static inline const std::vector<float> kRows{0.5F, -0.25F, 1, 0.25F, 0.25F, 0.25F};
  static inline const std::vector<double> kLabels{0.2, 1, 0};

  /// Central differences of a loss over rows.
  static std::vector<double> differences(const std::function<double(const std::vector<float>&)>& loss) {
    constexpr float kStep = 1.0F / 256;
    std::vector<double> out;
    for (size_t r = 0; r < kRows.size(); ++r) {
      std::vector<float> up = kRows, down = kRows;
      up[r] += kStep, down[r] -= kStep;
      out.push_back((loss(row_sums(up, kBegins)) - loss(row_sums(down, kBegins))) / (2 * kStep));
    }
    return out;
  }
  static void compare(const std::vector<float>& found, const std::vector<double>& expected) {
    QCOMPARE(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) QVERIFY2(std::abs(found[i] - expected[i]) < 1e-4, qPrintable(QString("%1: %2, %3").arg(i).arg(found[i]).arg(expected[i])));
  }

 private Q_SLOTS:
  void rows_add_up() { QCOMPARE(row_sums(kRows, kBegins), (std::vector<float>{0.25F, 1, 0.75F})); }

  void squares_against_differences() {
    for (const double least : {0.0, 0.1, 1.0}) {
      RowGradients g;
      squared_gradients(row_sums(kRows, kBegins), kLabels, least, kBegins, g);
      compare(g.first, differences([&](const std::vector<float>& sums) {
                double loss = 0;
                for (size_t c = 0; c < sums.size(); ++c) loss += std::max(kLabels[c], least) * (sums[c] - kLabels[c]) * (sums[c] - kLabels[c]) / 2;
                return loss;
              }));
      for (size_t c = 0; c < kLabels.size(); ++c) {
        const auto rows = static_cast<double>(kBegins[c + 1] - kBegins[c]);
        for (size_t r = kBegins[c]; r < kBegins[c + 1]; ++r) QCOMPARE(g.second[r], static_cast<float>(std::max(kLabels[c], least) * rows));
      }
    }
  }

  /// A group of two draws the same pair in any case: twice, once from either side.
  void pairs_against_differences() {
    const std::vector<size_t> groups{2, 1};
    Rng rng(1);
    RowGradients g;
    pair_gradients(row_sums(kRows, kBegins), kLabels, groups, 3, rng, kBegins, g);
    compare(g.first, differences([&](const std::vector<float>& sums) { return 2 * 3 * 0.8 * std::log1p(std::exp(sums[0] - sums[1])); }));
    for (size_t r = 0; r < 3; ++r) QVERIFY(g.second[r] > 0);
    for (size_t r = 3; r < 6; ++r) QVERIFY(g.first[r] == 0 && g.second[r] == 0);  // alone in its group
  }
  void tasks_are_not_compared_with_each_other() {
    const std::vector<double> labels{0, 0, 1, 1};
    const std::vector<float> sums{0, 0, 0, 0};
    const std::vector<size_t> begins{0, 1, 2, 3, 4};
    RowGradients g;
    Rng rng(1);
    pair_gradients(sums, labels, std::vector<size_t>{2, 2}, 8, rng, begins, g);
    for (const float x : g.first) QCOMPARE(x, 0.0F);
    pair_gradients(sums, labels, std::vector<size_t>{4}, 8, rng, begins, g);
    QVERIFY(g.first[0] > 0 && g.first[3] < 0);
  }
};

QTEST_APPLESS_MAIN(GradientsTest)
#include "gradients_test.moc"
