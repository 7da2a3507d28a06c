// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench/network_curve.h"

#include <QtTest>

using namespace tw;
using namespace tw::cli::bench;

class NetworkCurveTest : public QObject {
  Q_OBJECT

  /// Three rounds of two trials; after the first there is no estimate yet.
  static std::vector<records::Round> rounds() {
    std::vector<records::Round> out(3);
    for (size_t i = 0; i < out.size(); ++i) {
      out[i].number = static_cast<int64_t>(i) + 1;
      out[i].session_trials = 2 * static_cast<int64_t>(i + 1);
      out[i].search_s = 1, out[i].build_s = 0.25, out[i].measure_s = 0.5;
      out[i].elapsed_s = 2 * static_cast<double>(i + 1);
    }
    out[1].network_s = 8e-3, out[2].network_s = 5e-3;
    return out;
  }

 private Q_SLOTS:
  void itsClockIsTheWallsOrCharges() {
    const NetworkCurve wall = network_curve(rounds(), {}), charged = network_curve(rounds(), {.trial_s = 10});
    QCOMPARE(wall.points.size(), size_t{2});
    QCOMPARE(wall.points[0].seconds, 4.0);
    QCOMPARE(wall.points[1].seconds, 6.0);
    QCOMPARE(charged.points[0].seconds, 2 + 40.0);  // two rounds' searching, four trials
    QCOMPARE(charged.points[1].seconds, 3 + 60.0);
    QCOMPARE(charged.search_s, 3.0);
    QCOMPARE(charged.wall_s, 6.0);
  }
  void whatIsReachedFirst() {
    const NetworkCurve c = network_curve(rounds(), {.trial_s = 10});
    QCOMPARE(c.reaching(9e-3)->trials, int64_t{4});
    QCOMPARE(c.reaching(8e-3)->trials, int64_t{4});
    QCOMPARE(c.reaching(7.9e-3)->trials, int64_t{6});
    QVERIFY(!c.reaching(4e-3));
    QVERIFY(network_curve({}, {}).empty());
    const StepCurve over_trials = c.steps(NetworkCurve::Over::trials), over_time = c.steps(NetworkCurve::Over::seconds);
    QCOMPARE(over_trials.size(), size_t{2});
    QCOMPARE(over_trials[1].x, 6.0);
    QCOMPARE(over_time[1].x, 63.0);
    QCOMPARE(over_time[1].y, 5e-3);
  }
};

QTEST_APPLESS_MAIN(NetworkCurveTest)
#include "network_curve_test.moc"
