// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/budget.h"

#include <QtTest>
#include <numeric>

#include "engine/base/rng.h"

using namespace tw;
using namespace tw::tune;

namespace {

using Budgets = std::vector<int64_t>;

Budgets split(int64_t trials, const std::vector<BudgetTask>& tasks) { return split_trials(trials, tasks); }

}  // namespace

class BudgetTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void follows_the_shares_above_the_minimum() { QCOMPARE(split(80, {{3, 1000}, {1, 1000}}), (Budgets{10 + 45, 10 + 15})); }
  void light_tasks_get_a_quarter_of_an_equal_split() { QCOMPARE(split(800, {{1e12, 1000}, {1, 1000}}), (Budgets{700, 100})); }
  void what_small_spaces_cannot_use_goes_to_the_others() { QCOMPARE(split(100, {{1, 10}, {1, 1000}}), (Budgets{10, 90})); }
  void scarce_trials_go_to_the_heaviest() { QCOMPARE(split(2, {{1, 9}, {5, 9}, {3, 9}}), (Budgets{0, 1, 1})); }
  void nothing_is_split_over_nothing() {
    QVERIFY(split(10, {}).empty());
    QCOMPARE(split(0, {{1, 5}}), (Budgets{0}));
  }
  void the_sum_is_exact_for_any_tasks() {
    Rng rng(7);
    for (int round = 0; round < 2000; ++round) {
      std::vector<BudgetTask> tasks(static_cast<size_t>(rng.range(1, 30)));
      int64_t capacity = 0;
      for (BudgetTask& t : tasks) {
        t.share = std::pow(10, rng.range(0, 12)) * (rng.uniform(20) == 0 ? 0 : 1);
        t.capacity = rng.uniform(3) == 0 ? 1 : rng.range(1, 2000);
        capacity += t.capacity;
      }
      const int64_t trials = rng.range(0, 4000);
      const Budgets budgets = split(trials, tasks);
      QCOMPARE(std::accumulate(budgets.begin(), budgets.end(), int64_t{0}), std::min(trials, capacity));
      for (size_t i = 0; i < tasks.size(); ++i) {
        QVERIFY(budgets[i] <= tasks[i].capacity);
        if (trials >= static_cast<int64_t>(tasks.size())) QVERIFY(budgets[i] >= 1);
      }
    }
  }
};

QTEST_APPLESS_MAIN(BudgetTest)
#include "budget_test.moc"
