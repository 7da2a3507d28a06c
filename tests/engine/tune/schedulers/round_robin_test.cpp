// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/tune/schedulers/view.h"

using namespace tw;
using namespace tw::tune;
using namespace tw::tune::fixture;

class RoundRobinTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void tasks_take_turns_and_exhausted_ones_are_passed_over() {
    SessionView s = session({task(1, 1, {1.0}), task(9, 9, {1.0}), task(1, 1, {1.0}), task(1, 1, {1.0})});
    s.tasks[2].exhausted = true;
    std::string turns;
    for (int i = 0; i < 7; ++i) {
      const Decision d = scheduler("round-robin")->next(s);
      turns += static_cast<char>('0' + d.task);
      s.tasks.at(static_cast<size_t>(d.task)).history.push_back(1.0);
    }
    QCOMPARE(turns, std::string("0130130"));
    QVERIFY(!scheduler("round-robin")->is_done_with(0, s));
    for (TaskView& t : s.tasks) t.exhausted = true;
    QCOMPARE(scheduler("round-robin")->next(s).task, -1);
  }
};

QTEST_APPLESS_MAIN(RoundRobinTest)
#include "round_robin_test.moc"
