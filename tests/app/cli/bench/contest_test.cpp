// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench/contest.h"

#include <QtTest>
#include <cmath>

using namespace tw;
using namespace tw::cli::bench;

class ContestTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void statesAreRangesOfLatency() {
    const States states({{0, 1, 38e-9, 41e-9}, {0, 1, 150e-9, 155e-9}, {0, 1, 20e-9, 16e-9}, {1, 1, 45e-9, 36e-9}, {0, 1, 16e-9, 150e-9}});
    QCOMPARE(states.count(), 3);
    QCOMPARE(states.range_s(1), std::make_pair(36e-9, 45e-9));
    QCOMPARE(states.of({0, 1, 16e-9, 20e-9}), 0);
    QCOMPARE(states.of({0, 1, 40e-9, 44e-9}), 1);
    QCOMPARE(states.of({0, 1, 16e-9, 150e-9}), -1);
  }

  void oneStateWithoutProbes() {
    const std::vector<Sample> samples{{0, 3}, {1, 2}, {0, 1}, {1, 4}};
    const States states(samples);
    QCOMPARE(states.count(), 1);
    const Standing s = standing_of(samples, 2, states);
    QCOMPARE(s.state, 0);
    QCOMPARE(s.best_s, (std::vector<double>{1, 2}));
  }

  void timesOfOtherStatesDoNotCount() {
    // The first contender was lucky once, in a state that the second saw less often than the other one.
    const std::vector<Sample> samples{{0, 1, 20e-9, 20e-9},   {1, 9, 150e-9, 150e-9}, {0, 5, 150e-9, 150e-9}, {1, 8, 150e-9, 150e-9},
                                      {0, 6, 150e-9, 150e-9}, {1, 4, 20e-9, 20e-9},   {0, 2, 20e-9, 20e-9},   {1, 1, 20e-9, 150e-9}};
    const Standing s = standing_of(samples, 2, States(samples));
    QCOMPARE(s.state, 1);
    QCOMPARE(s.best_s, (std::vector<double>{5, 8}));
  }

  void noCommonState() {
    const std::vector<Sample> samples{{0, 1, 20e-9, 20e-9}, {1, 9, 150e-9, 150e-9}};
    const Standing s = standing_of(samples, 2, States(samples));
    QCOMPARE(s.state, -1);
    QVERIFY(std::isinf(s.best_s[0]));
  }

  void everyContenderIsSampledInEveryRound() {
    std::vector<size_t> order;
    const auto of = [&](size_t i) {
      return Contender{"", [&, i]() -> Expected<double> {
                         order.push_back(i);
                         return 1.0 + static_cast<double>(i);
                       }};
    };
    const auto samples = sample_by_turns({of(0), of(1)}, 2, 1, {0}, {});
    QVERIFY(samples);
    QCOMPARE(order, (std::vector<size_t>{0, 1, 0, 1, 0, 1}));  // the first round warms up
    QCOMPARE(samples->size(), size_t{4});
    QCOMPARE((*samples)[3].seconds, 2.0);
  }

  void theFirstCallDoesNotCount() {
    int calls = 0;
    const double seconds = median_call_s([&] { QTest::qSleep(calls++ == 0 ? 300 : 1); }, 0);
    QCOMPARE(calls, 2);
    QVERIFY(seconds < 0.3);
  }

  void stops() {
    StopSource stop;
    const Contender stopping{"", [&]() -> Expected<double> {
                               stop.request_stop();
                               return 1.0;
                             }};
    const auto samples = sample_by_turns({stopping}, 5, 1, {0}, stop.get_token());
    QVERIFY(!samples && samples.error().code == ErrorCode::cancelled);
  }
};

QTEST_APPLESS_MAIN(ContestTest)
#include "contest_test.moc"
