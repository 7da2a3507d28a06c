// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/recall.h"

#include <QtTest>
#include <vector>

using namespace tw::cost;

class RecallTest : public QObject {
  Q_OBJECT
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
};

QTEST_APPLESS_MAIN(RecallTest)
#include "recall_test.moc"
