// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <set>

#include "tests/engine/tune/schedulers/view.h"

using namespace tw;
using namespace tw::tune;
using namespace tw::tune::fixture;

class GradientTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void every_task_gets_a_first_round_where_asked_the_slowest_part_of_the_network_first() {
    const auto g = scheduler("gradient", {{"warm_up", 1}});
    QCOMPARE(g->next(session({task(1, 100, {3.0}), task(4, 100, {1.0}), task(1, 100, {2.0})})).task, 1);
    QCOMPARE(g->next(session({task(1, 100, {3.0}), task(4, 100, {1.0, 1.0}), task(1, 100, {2.0})})).task, 0);
    QCOMPARE(g->next(session({task(1, 100, {3.0, 3.0}), task(4, 100, {1.0, 1.0}), task(1, 100, {2.0})})).task, 2);
  }
  /// Of a task that had no round yet all of its time may be had; that is no more than a tenth of one ten times as slow after ten rounds.
  void a_task_without_a_round_waits_for_its_share() {
    const auto first = [](double seconds) { return scheduler("gradient")->next(session({task(1, 100, std::vector<double>(11, 10.0)), task(1, 100, {seconds})})).task; };
    QCOMPARE(first(0.9), 0);
    QCOMPARE(first(1.1), 1);
  }
  /// After c rounds a task is expected to fall from t to t - t / c; the past gain over the last three rounds counts a fifth.
  void the_gradient_is_that_of_the_paper() {
    const SessionView s = session({task(2, 100, {10.0, 8.0, 7.0, 6.0, 5.0}), task(1, 100, {9.0, 9.0})});
    const Decision d = scheduler("gradient")->next(s);
    const Json& both = d.terms.at("gradients");
    // (5 - 8) / 3 back, 5 - 5 / 4 - 5 ahead.
    QCOMPARE(both[0].at("backward_s").get<double>(), -1.0);
    QCOMPARE(both[0].at("forward_s").get<double>(), -1.25);
    QVERIFY(std::abs(both[0].at("gradient_s").get<double>() - 2 * (0.2 * -1.0 + 0.8 * -1.25)) < 1e-12);
    // One round: no past over three of them, and all of its time to be had.
    QCOMPARE(both[1].at("backward_s").get<double>(), 0.0);
    QCOMPARE(both[1].at("forward_s").get<double>(), -9.0);
    QCOMPARE(d.task, 1);
    QCOMPARE(d.trials, 10);
  }
  /// One that reaches 100 FLOP/s says that the other may end at 100 / beta, which is more than a quarter of its time away.
  void tasks_that_are_alike_raise_what_is_expected() {
    const std::vector<double> slow = {10, 10, 10, 10, 10}, fast = {1, 1, 1, 1, 1};
    const auto forward = [&](const char* tag) {
      const Decision d = scheduler("gradient")->next(session({task(1, 100, slow, tag), task(1, 100, fast, "a")}));
      return d.terms.at("gradients")[0].at("forward_s").get<double>();
    };
    QCOMPARE(forward("a"), -8.0);   // 2 x 100 / 100 is 2 s
    QCOMPARE(forward("b"), -2.5);   // alone: 10 / 4
    QCOMPARE(forward(""), -2.5);
  }
  /// Beta times slower than the best of its group, after more than five rounds beyond any of theirs.
  void a_task_that_stays_behind_leaves_its_group() {
    const auto forward = [&](size_t rounds) {
      const Decision d = scheduler("gradient")->next(session({task(1, 100, std::vector<double>(rounds + 1, 10.0), "a"), task(1, 100, {1.0, 1.0}, "a")}));
      return d.terms.at("gradients")[0].at("forward_s").get<double>();
    };
    QCOMPARE(forward(6), -8.0);
    QCOMPARE(forward(7), -10.0 / 7);
  }
  void dead_tasks_are_passed_over_even_where_nothing_tells_tasks_apart() {
    std::vector<TaskView> tasks;
    for (int i = 0; i < 6; ++i) tasks.push_back(task(0, 100, {1.0, 1.0, 1.0, 1.0, 1.0}));
    tasks[1].exhausted = tasks[4].exhausted = true;
    std::set<int> chosen;
    SessionView s = session(tasks);
    for (s.round = 0; s.round < 200; ++s.round) chosen.insert(scheduler("gradient")->next(s).task);
    QCOMPARE(chosen, (std::set<int>{0, 2, 3, 5}));
    s.round = 7;
    QCOMPARE(scheduler("gradient")->next(s).task, scheduler("gradient")->next(s).task);
    for (TaskView& t : s.tasks) t.exhausted = true;
    QCOMPARE(scheduler("gradient")->next(s).task, -1);
  }
  void a_task_that_always_fails_does_not_take_all_rounds() {
    SessionView s = session({task(1, 100, {INFINITY, INFINITY}), task(1, 100, {1.0, 1.0})}, 100'000);
    std::map<int, int> rounds;
    for (s.round = 0; s.round < 40; ++s.round) {
      const Decision d = scheduler("gradient")->next(s);
      TaskView& t = s.tasks.at(static_cast<size_t>(d.task));
      t.history.push_back(t.best_s());
      t.trials += d.trials;
      ++rounds[d.task];
    }
    QVERIFY2(rounds[1] >= 15, qPrintable(QString::number(rounds[1])));
  }
  void tuning_ends_at_the_target() {
    const SessionView s = session({task(2, 100, {1.0, 0.5}), task(1, 100, {1.0, 1.0})});
    QCOMPARE(scheduler("gradient", Json{{"target_ms", 2000.0}})->next(s).task, -1);
    QVERIFY(!scheduler("gradient", Json{{"target_ms", 2000.0}})->next(s).why.empty());
    QVERIFY(scheduler("gradient", Json{{"target_ms", 1999.0}})->next(s).task >= 0);
  }
  void few_trials_make_small_rounds() {
    std::vector<TaskView> tasks(5, task(1, 100, {1.0}));
    for (TaskView& t : tasks) t.trials = 1;
    QCOMPARE(scheduler("gradient")->next(session(tasks, 30)).trials, 6);
    QCOMPARE(scheduler("gradient")->next(session(tasks, 0)).trials, 10);
    QCOMPARE(scheduler("gradient")->next(session(tasks, 5)).task, -1);
  }
  void limits_of_tasks_hold() {
    SessionView s = session({task(1, 100, {1.0, 1.0})});
    s.limits.trials_per_task = 14;
    QCOMPARE(scheduler("gradient")->next(s).trials, 3);
    s.tasks[0].capacity = 12;
    QCOMPARE(scheduler("gradient")->next(s).trials, 1);
  }
};

QTEST_APPLESS_MAIN(GradientTest)
#include "gradient_test.moc"
