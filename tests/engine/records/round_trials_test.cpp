// SPDX-License-Identifier: Apache-2.0
#include "engine/records/round_trials.h"

#include <QtTest>
#include <cmath>

using namespace tw::records;

class RoundTrialsTest : public QObject {
  Q_OBJECT

  static Round round(int64_t number, const char* task, int64_t trials, const char* decision) {
    Round r;
    r.number = number, r.task_key = task, r.trials = r.planned = trials, r.decision = decision;
    return r;
  }

 private Q_SLOTS:
  void trials_lie_in_the_order_of_their_rounds() {
    // The third round was cut off: it stored one of its two candidates.
    const std::vector<Round> rounds = {round(1, "a", 1, "{}"), round(2, "b", 2, R"({"search":{"drafts":[9,9]}})"), round(3, "a", 1, R"({"search":{"drafts":[1.5,8]}})"),
                                       round(4, "a", 2, R"({"search":{"drafts":[null,3.5]}})")};
    const auto trials = round_trials(rounds, "a");
    QCOMPARE(trials.size(), size_t{4});
    QVERIFY(trials[0].number == 1 && trials[0].round == 1 && std::isnan(trials[0].draft));
    QVERIFY(trials[1].number == 2 && trials[1].round == 3 && trials[1].draft == 1.5);
    QVERIFY(trials[2].round == 4 && std::isnan(trials[2].draft));
    QVERIFY(trials[3].number == 4 && trials[3].draft == 3.5);
    QVERIFY(round_trials(rounds, "c").empty());
  }

  void rounds_without_drafts_or_with_nonsense_have_none() {
    for (const char* odd : {"", "[]", "{\"search\":3}", "{\"search\":{\"drafts\":{}}}", "{\"search\":{\"drafts\":[\"x\"]}}", "{\"search\":{\"drafts\":[]}}"}) {
      const auto trials = round_trials(std::vector{round(1, "a", 1, odd)}, "a");
      QCOMPARE(trials.size(), size_t{1});
      QVERIFY(std::isnan(trials[0].draft));
    }
  }
};

QTEST_APPLESS_MAIN(RoundTrialsTest)
#include "round_trials_test.moc"
