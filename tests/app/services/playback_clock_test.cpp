// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/playback_clock.h"

#include <QSignalSpy>
#include <QtTest>
#include <cmath>

using namespace tw;
using namespace tw::app;

namespace {

db::TrialOutcome outcome(int64_t number, double seconds, double own, double ended) {
  db::TrialOutcome o;
  o.number = number;
  o.space = "s";
  o.index = number;
  o.status = records::Status::ok;
  o.seconds = seconds;
  o.own_s = own;
  o.timestamp_s = ended;
  return o;
}

records::Round round(int64_t number, int64_t trials, double elapsed) {
  records::Round r;
  r.number = number;
  r.session_trials = trials;
  r.elapsed_s = elapsed;
  return r;
}

}  // namespace

class PlaybackClockTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// A night between two rounds takes no time of the session, and a round's trials end inside it.
  void momentsFollowTheSessionsTime() {
    const auto moments = sessionMoments({1000, 90000, 1003, 90002}, {round(1, 2, 5), round(2, 4, 9)});
    QCOMPARE(moments.size(), size_t{4});
    const double elapsed[] = {2, 5, 7, 9}, ended[] = {1000, 1003, 90000, 90002};
    for (size_t i = 0; i < 4; ++i) {
      QCOMPARE(moments[i].elapsed_s, elapsed[i]);
      QCOMPARE(moments[i].timestamp_s, ended[i]);
    }
    // A pause before a round, and a night in its midst.
    QCOMPARE(sessionMoments({1000, 5000, 5001}, {round(1, 1, 4), round(2, 3, 8)})[1].elapsed_s, 7.0);
    QCOMPARE(sessionMoments({1000, 1001, 5001}, {round(1, 1, 4), round(2, 3, 8)})[1].elapsed_s, 6.0);
    // Without rounds gaps count, long ones as a minute; with too few of them, what is left goes on behind.
    const auto plain = sessionMoments({10, 12, 5000}, {});
    QCOMPARE(plain[0].elapsed_s, 0.0);
    QCOMPARE(plain[1].elapsed_s, 2.0);
    QCOMPARE(plain[2].elapsed_s, 62.0);
    QCOMPARE(sessionMoments({10, 12}, {round(1, 1, 3)})[1].elapsed_s, 5.0);
    QVERIFY(sessionMoments({}, {}).empty());
  }

  void sessionsBeginTogether() {
    PlaybackClock clock;
    QSignalSpy sessions(&clock, &PlaybackClock::sessionsChanged), moved(&clock, &PlaybackClock::moved);
    const SessionId a{1}, b{2}, other{3};
    QVERIFY(std::isinf(clock.timestamp(a)));
    clock.open({{a, {{1, 100}, {3, 102}}}, {b, {{2, 900}, {8, 906}}}, {other, {}}});
    QCOMPARE(sessions.count(), 1);
    QVERIFY(clock.isOpen() && clock.plays(a) && clock.plays(b) && !clock.plays(other));
    QCOMPARE(clock.length(), 8.0);
    QVERIFY(clock.timestamp(a) < 0 && std::isinf(clock.timestamp(a)));  // nothing yet
    clock.setAt(2.5);
    QCOMPARE(clock.timestamp(a), 100.0);
    QCOMPARE(clock.timestamp(b), 900.0);
    QCOMPARE(clock.elapsed(b), 2.5);
    QVERIFY(clock.timestamp(other) > 0 && std::isinf(clock.timestamp(other)));
    clock.setAt(3);
    QVERIFY(clock.timestamp(a) > 0 && std::isinf(clock.timestamp(a)));  // it has ended, finals included
    QCOMPARE(clock.timestamp(b), 900.0);
    QCOMPARE(moved.count(), 2);
    clock.setAt(3);
    QCOMPARE(moved.count(), 2);
    clock.close();
    QVERIFY(!clock.isOpen() && sessions.count() == 2);
    clock.close();
    QCOMPARE(sessions.count(), 2);
  }

  void steps() {
    PlaybackClock clock;
    clock.open({{SessionId{1}, {{1, 100}, {3, 102}}}, {SessionId{2}, {{2, 900}, {8, 906}}}});
    QList<double> at;
    for (int i = 0; i < 5; ++i) clock.step(true), at << clock.at();
    QCOMPARE(at, (QList<double>{1, 2, 3, 8, 8}));
    at.clear();
    for (int i = 0; i < 5; ++i) clock.step(false), at << clock.at();
    QCOMPARE(at, (QList<double>{3, 2, 1, 0, 0}));
    clock.setAt(2.5);
    clock.step(false);
    QCOMPARE(clock.at(), 2.0);
  }

  void runs() {
    PlaybackClock clock;
    QSignalSpy running(&clock, &PlaybackClock::runningChanged);
    clock.setRunning(true);
    QVERIFY(!clock.isRunning());  // there is nothing to play
    clock.open({{SessionId{1}, {{1, 100}, {30, 129}}}});
    clock.setSpeed(100);
    clock.setRunning(true);
    QVERIFY(clock.isRunning() && running.count() == 1);
    clock.advance(50);
    QCOMPARE(clock.at(), 5.0);
    clock.setSpeed(1e6);
    QCOMPARE(clock.speed(), PlaybackClock::kFastest);
    clock.advance(1000);
    QCOMPARE(clock.at(), 30.0);
    QVERIFY(!clock.isRunning() && running.count() == 2);
    clock.setRunning(true);  // from the end, again
    QCOMPARE(clock.at(), 0.0);
    QTRY_VERIFY(clock.at() > 0);  // by itself
    clock.step(true);
    QVERIFY(!clock.isRunning());
  }

  /// The store grows as it did, with times from before the finals, and goes back.
  void trialsComeAndGo() {
    PlayedTrials played({outcome(1, 5e-3, 4e-3, 10), outcome(2, 2e-3, 3e-3, 11), outcome(3, 9e-3, 9e-3, 12)}, 1e6);
    QCOMPARE(played.moveTo(-INFINITY), PlayedTrials::Change::none);
    QCOMPARE(played.store()->size(), 0);
    QCOMPARE(played.moveTo(10), PlayedTrials::Change::grew);
    const auto store = played.store();
    QCOMPARE(store->seconds(0), 4e-3);
    QCOMPARE(played.moveTo(10.5), PlayedTrials::Change::none);
    QCOMPARE(played.moveTo(11), PlayedTrials::Change::grew);
    QVERIFY(store == played.store() && store->size() == 2);
    QCOMPARE(played.moveTo(INFINITY), PlayedTrials::Change::replaced);
    QCOMPARE(played.store()->size(), 3);
    QCOMPARE(played.store()->seconds(0), 5e-3);  // as the finals have it
    QCOMPARE(played.moveTo(10), PlayedTrials::Change::replaced);
    QCOMPARE(played.store()->size(), 1);
    QCOMPARE(played.store()->seconds(0), 4e-3);
    QVERIFY(played.store()->improvements().size() == 1);
  }
};

QTEST_GUILESS_MAIN(PlaybackClockTest)
#include "playback_clock_test.moc"
