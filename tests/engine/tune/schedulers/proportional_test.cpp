// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/tune/schedulers/view.h"

using namespace tw;
using namespace tw::tune;
using namespace tw::tune::fixture;

namespace {

/// Plays a session; trials each task got, in the order of their first round.
std::vector<std::pair<int, int64_t>> played(SessionView s, double round_s = 0) {
  std::vector<std::pair<int, int64_t>> order;
  for (;;) {
    const Decision d = scheduler("proportional")->next(s);
    if (d.task < 0) return order;
    TaskView& t = s.tasks.at(static_cast<size_t>(d.task));
    t.trials += d.trials;
    t.spent_s += round_s;
    t.history.push_back(1.0);
    if (order.empty() || order.back().first != d.task) order.emplace_back(d.task, 0);
    order.back().second += d.trials;
  }
}

}  // namespace

class ProportionalTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void the_heaviest_goes_first_and_parts_follow_the_work() {
    const auto order = played(session({task(1, 100, {1.0}), task(2, 150, {1.0})}, 80));
    QCOMPARE(order, (std::vector<std::pair<int, int64_t>>{{1, 54}, {0, 24}}));  // 10 + 45 and 10 + 15, of which one each is the default schedule
  }
  void what_a_task_leaves_over_goes_to_those_after_it() {
    SessionView s = session({task(1, 100, {1.0}), task(2, 150, {1.0})}, 80);
    s.tasks[1].exhausted = true;
    QCOMPARE(played(s), (std::vector<std::pair<int, int64_t>>{{0, 78}}));
  }
  void time_is_split_as_trials_are() {
    SessionView s = session({task(1, 100, {1.0}), task(3, 100, {1.0})}, 0);
    s.limits.time_s = 40;
    QCOMPARE(played(s, 1.0), (std::vector<std::pair<int, int64_t>>{{1, 300}, {0, 100}}));
  }
  void it_is_done_with_those_before() {
    SessionView s = session({task(1, 100, {1.0}), task(2, 150, {1.0})}, 80);
    QVERIFY(!scheduler("proportional")->is_done_with(1, s));
    s.tasks[1].trials = 55;
    QVERIFY(scheduler("proportional")->is_done_with(1, s));
    QVERIFY(!scheduler("proportional")->is_done_with(0, s));
  }
};

QTEST_APPLESS_MAIN(ProportionalTest)
#include "proportional_test.moc"
