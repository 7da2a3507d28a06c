// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/session_feed.h"

#include <QtTest>
#include <limits>
#include <thread>

using namespace tw;
using namespace tw::app;

namespace {

tune::TrialDone trial(int task, int64_t number, double seconds) {
  tune::TrialDone e;
  e.task = task, e.number = number, e.best_s = seconds;
  e.record.candidate.space = number == 1 ? "default" : "dense.cpu";
  e.record.result.status = records::Status::ok;
  e.record.result.samples_s = {seconds}, e.record.result.sample_flags = {false};
  return e;
}

}  // namespace

class SessionFeedTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// Pauses from before the session went on and since then are both no work.
  void pausesAreTold() {
    SessionFeed feed;
    feed.begin(SessionId{3}, {2}, 40, 7);
    tune::TrialDone e = trial(0, 3, 0.5);
    e.paused_s = 2;
    feed.tell(e);
    const auto state = feed.take();
    QCOMPARE(state.workedBefore_s, 40.0);
    QCOMPARE(state.fresh.at(0).outcome.paused_s, 9.0);
    QCOMPARE(feed.take().workedBefore_s, 40.0);
  }

  void tellsNewsOnce() {
    SessionFeed feed;
    feed.begin(SessionId{3});
    feed.tell(tune::SessionPlanned{100});
    feed.tell(tune::TaskStarted{1, "dense.cpu", 10});
    feed.tell(tune::RoundStarted{1, 1, 16, 50, "why"});
    feed.tell(trial(1, 1, 0.5));
    feed.tell(tune::Note{"warm"});
    SessionFeed::State state = feed.take();
    QCOMPARE(state.session.value, int64_t{3});
    QCOMPARE(state.planned, int64_t{100});
    QCOMPARE(state.fresh.size(), size_t{1});
    QCOMPARE(state.notes, std::vector<std::string>{"warm"});
    QCOMPARE(state.changed, std::vector<int>{1});
    QCOMPARE(state.tasks.at(1).defaultSeconds, 0.5);
    QCOMPARE(state.tasks.at(1).budget, int64_t{50});
    state = feed.take();
    QVERIFY(state.fresh.empty() && state.notes.empty() && state.changed.empty());
    QCOMPARE(state.trials, int64_t{1});  // the state stays
    QCOMPARE(state.tasks.at(1).bestSeconds, 0.5);
  }

  void whatDoesNotFitIsCountedAndNumbered() {
    SessionFeed feed;
    const int64_t all = static_cast<int64_t>(SessionFeed::kTrials) + 500;
    for (int64_t n = 1; n <= all; ++n) feed.tell(trial(0, n, 1.0 / static_cast<double>(n)));
    const SessionFeed::State state = feed.take();
    QCOMPARE(state.fresh.size(), SessionFeed::kTrials);
    QCOMPARE(state.dropped, int64_t{500});
    QCOMPARE(state.trials, all);
    QCOMPARE(state.tasks.at(0).lastNumber, all);
    QCOMPARE(state.tasks.at(0).bestSeconds, 1.0 / static_cast<double>(all));
    QCOMPARE(feed.take().dropped, int64_t{0});
  }

  void failuresAreNoBest() {
    SessionFeed feed;
    feed.tell(trial(0, 1, std::numeric_limits<double>::infinity()));
    QCOMPARE(feed.take().tasks.at(0).bestSeconds, 0.0);
  }

  void twoThreadsLoseNothing() {
    SessionFeed feed;
    constexpr int64_t kAll = 50'000;
    std::thread engine([&] {
      for (int64_t n = 1; n <= kAll; ++n) feed.tell(trial(0, n, 1));
      feed.end(tune::SessionReport());
    });
    int64_t seen = 0;
    for (bool over = false; !over;) {
      const SessionFeed::State state = feed.take();
      seen += static_cast<int64_t>(state.fresh.size()) + state.dropped;
      over = state.end.has_value();
    }
    engine.join();
    QCOMPARE(seen, kAll);
  }
};

QTEST_GUILESS_MAIN(SessionFeedTest)
#include "session_feed_test.moc"
