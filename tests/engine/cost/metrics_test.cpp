// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/metrics.h"

#include <QtTest>
#include <cmath>
#include <vector>

using namespace tw::cost;

class MetricsTest : public QObject {
  Q_OBJECT
 static bool near(double a, double b) { return std::abs(a - b) < 1e-12; }

 private Q_SLOTS:
  void perfect_order_is_one() {
    const std::vector<double> truth{1, 4, 3, 2};
    const std::vector<float> predicted{-9, 7, 0.5F, 0};
    QCOMPARE(average_recall(truth, predicted, 4), 1.0);
    QCOMPARE(average_recall(truth, predicted, 2), 1.0);
  }
  void reversed_order_counts_by_hand() {
    // Ranks of the predicted order are 3, 2, 1, 0: of the best k the k predicted best hold 0, 0, 2 of 3, 4 of 4.
    const std::vector<double> truth{4, 3, 2, 1};
    const std::vector<float> predicted{1, 2, 3, 4};
    QCOMPARE(average_recall(truth, predicted, 4), (0 + 0 + 2.0 / 3 + 1) / 4);
    QCOMPARE(average_recall(truth, predicted, 2), 0.0);
  }
  void more_than_there_is_means_all() {
    const std::vector<double> truth{2, 1};
    const std::vector<float> predicted{1, 2};
    QCOMPARE(average_recall(truth, predicted, 64), (0 + 1.0) / 2);
    QCOMPARE(average_recall(std::span<const double>(), std::span<const float>(), 3), 0.0);
  }

  void trials_until_one_is_fast_enough() {
    const std::vector<double> seconds{2, 1.04, INFINITY, 1};
    QCOMPARE(trials_to_reach(seconds, std::vector<float>{1, 2, 3, 4}, 0.05), 1.0);
    QCOMPARE(trials_to_reach(seconds, std::vector<float>{4, 2, 3, 1}, 0.05), 3.0);
    QCOMPARE(trials_to_reach(seconds, std::vector<float>{4, 2, 3, 1}, 0.01), 4.0);
    // Two good ones among four in random order: the first is at place 5 / 3 in the mean; behind one that is surely first, at 1 + 4 / 3 of three.
    QCOMPARE(trials_to_reach(seconds, std::vector<float>{0, 0, 0, 0}, 0.05), 5.0 / 3);
    QCOMPARE(trials_to_reach(seconds, std::vector<float>{1, 0, 0, 0}, 0.05), 1 + 4.0 / 3);
    QCOMPARE(trials_to_reach(std::vector<double>{INFINITY}, std::vector<float>{1}, 0.05), 2.0);
  }

  void pairs_in_the_right_order() {
    const std::vector<double> truth{1, 2, 3, 3};
    QCOMPARE(pairwise_accuracy(truth, std::vector<float>{1, 2, 3, 4}), 1.0);
    QCOMPARE(pairwise_accuracy(truth, std::vector<float>{4, 3, 2, 1}), 0.0);
    QCOMPARE(pairwise_accuracy(truth, std::vector<float>{5, 5, 5, 5}), 0.5);
    // Of the five pairs of different truth (3 and 3 are none), 1 and 2 are the wrong way round.
    QCOMPARE(pairwise_accuracy(truth, std::vector<float>{2, 1, 3, 3}), 4.0 / 5);
    QCOMPARE(pairwise_accuracy(std::vector<double>{1, 1}, std::vector<float>{1, 2}), 0.5);
  }
  void errors_by_hand() {
    const std::vector<double> truth{1, 2, 3};
    const std::vector<float> predicted{1, 2, 6};
    QVERIFY(near(rmse(truth, predicted), std::sqrt(3.0)));
    QVERIFY(near(r_squared(truth, predicted), 1 - 9.0 / 2));
    QCOMPARE(r_squared(truth, std::vector<float>{1, 2, 3}), 1.0);
    QVERIFY(near(r_squared(truth, std::vector<float>{2, 2, 2}), 0));
    QCOMPARE(r_squared(std::vector<double>{2, 2}, std::vector<float>{2, 2}), 1.0);
    QCOMPARE(r_squared(std::vector<double>{2, 2}, std::vector<float>{2, 3}), 0.0);
    QCOMPARE(rmse(std::span<const double>(), std::span<const float>()), 0.0);
  }
  void what_the_best_predicted_find() {
    const std::vector<double> a{4, 2, 1, INFINITY}, b{10, 5}, nothing{INFINITY};
    const std::vector<float> say_a{9, 8, 1, 0}, say_b{1, 2}, say_nothing{1};
    const std::vector<JudgedTask> tasks{{1, a, say_a}, {2, b, say_b}, {7, nothing, say_nothing}};
    QVERIFY(near(top_k_score(tasks, 1), (1 + 2 * 5) / (4 + 2 * 5.0)));
    QVERIFY(near(top_k_score(tasks, 2), (1 + 2 * 5) / (2 + 2 * 5.0)));
    QCOMPARE(top_k_score(tasks, 3), 1.0);
    const std::vector<float> believes_the_failure{0, 0, 0, 1};
    QCOMPARE(top_k_score(std::vector<JudgedTask>{{1, a, believes_the_failure}}, 1), 0.0);
    QCOMPARE(top_k_score(std::vector<JudgedTask>{{1, nothing, say_nothing}}, 1), 0.0);
  }
};

QTEST_APPLESS_MAIN(MetricsTest)
#include "metrics_test.moc"
