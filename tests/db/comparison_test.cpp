// SPDX-License-Identifier: Apache-2.0
#include "db/comparison.h"

#include <fmt/format.h>

#include <QtTest>
#include <cmath>

#include "engine/base/json.h"

using namespace tw;
using namespace tw::db;

namespace {

const std::vector<ComparedTask> kTasks = {{1, "T1"}, {2, "T2"}};

ComparedSession session(int id, const char* tuner, int seed, double best, int batch = 16) {
  ComparedSession s;
  s.name = std::to_string(id);
  s.row.id = SessionId{id};
  s.row.tuner = tuner;
  s.row.options = {{"seed", seed}, {"batch", batch}};
  s.best[1] = best;
  return s;
}

/// `a` and `b` with seeds from 0 on, on T1.
std::vector<ComparedSession> two(int seeds, double a, double b, double step) {
  std::vector<ComparedSession> sessions;
  for (int i = 0; i < seeds; ++i) sessions.push_back(session(2 * i, "a", i, a + step * i)), sessions.push_back(session(2 * i + 1, "b", i, b + step * i));
  return sessions;
}

std::string ms(double seconds) { return fmt::format("{:.3f} ms", 1e3 * seconds); }

TrialOutcome outcome(double at_s, double seconds, records::Status status = records::Status::ok) {
  TrialOutcome t;
  t.timestamp_s = 100 + at_s, t.seconds = seconds, t.status = status, t.build_s = 1, t.run_s = 2;
  return t;
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

class ComparisonTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void sessionsThatDifferInTheirSeedAreOneGroup() {
    auto sessions = std::vector{session(1, "random", 1, 1), session(2, "xgb", 1, 1), session(3, "random", 2, 1), session(4, "random", 1, 1, 8)};
    const auto groups = group_sessions(sessions);
    QCOMPARE(groups.size(), size_t{3});
    QCOMPARE(groups[0].sessions, (std::vector<int>{0, 2}));
    QCOMPARE(groups[0].name, std::string("random (as in session 1)"));
    QCOMPARE(groups[1].name, std::string("xgb"));
    QCOMPARE(groups[2].sessions, (std::vector<int>{3}));
    QCOMPARE(groups[2].name, std::string("random (as in session 4)"));
    // Sessions of one race are one group whatever it is called.
    sessions.pop_back();
    for (ComparedSession& s : sessions) s.row.options["race"] = s.name;
    QCOMPARE(group_sessions(sessions).size(), size_t{2});
  }

  void enoughSessionsGiveAVerdict() {
    const auto all = verdicts(two(6, 2e-3, 1e-3, 1e-5), kTasks);
    QCOMPARE(all.size(), size_t{1});  // nobody tried T2
    QVERIFY(all[0].decided && all[0].more_than_chance());
    QCOMPARE(all[0].p, 2.0 / 924.0);  // 924 = 12 over 6
    QCOMPARE(all[0].a12, 0.0);        // the first group never ends faster
    QVERIFY(!all[0].sessions_to_settle);
    const std::string text = verdict_text(all[0], ms);
    QVERIFY2(has(text, "T1: b ends faster than a, in the median 1.025 ms against 2.025 ms") && has(text, "A12 = 1.00"), text.c_str());
  }

  void aTieSaysWhatWouldSettleIt() {
    const auto close = verdicts(two(6, 1e-3, 1.01e-3, 2e-5), kTasks)[0];
    QVERIFY(close.decided && !close.more_than_chance());
    QVERIFY(close.sessions_to_settle && *close.sessions_to_settle > 6);
    QVERIFY2(has(verdict_text(close, ms), "no evidence") && has(verdict_text(close, ms), "more seeds of each would settle it"), verdict_text(close, ms).c_str());
    const auto equal = verdicts(two(6, 1e-3, 1e-3, 2e-5), kTasks)[0];
    QVERIFY(!equal.sessions_to_settle);
    QVERIFY2(has(verdict_text(equal, ms), "Not even 1000"), verdict_text(equal, ms).c_str());
  }

  void fewSessionsGiveNone() {
    const auto all = verdicts(std::vector{session(1, "random", 1, 2e-3), session(2, "xgb", 1, 1e-3)}, kTasks);
    QCOMPARE(all.size(), size_t{1});
    QVERIFY(!all[0].decided);
    const std::string text = verdict_text(all[0], ms);
    QVERIFY2(has(text, "needs 5 sessions") && has(text, "2.00\u00d7"), text.c_str());
  }

  void theAnswerIsOneSentence() {
    auto sessions = two(6, 2e-3, 1e-3, 1e-5);
    std::string text = winner_text(sessions, kTasks, ms);
    QVERIFY2(text.starts_with("b is ahead on T1: median 1.025 ms, the next one 2.025 ms") && has(text, "surely"), text.c_str());
    sessions.resize(4);
    text = winner_text(sessions, kTasks, ms);
    QVERIFY2(has(text, "needs 5 sessions"), text.c_str());
    QVERIFY(winner_text(std::vector{sessions[0]}, kTasks, ms).empty());
    QCOMPARE(group_rows(sessions, 1)[0].name, std::string("b"));
    for (ComparedSession& s : sessions) s.best[2] = s.row.tuner == "a" ? 1e-3 : 2e-3;
    sessions[0].best[1] = 1e-4, sessions[2].best[1] = 1e-4;
    QVERIFY(winner_text(sessions, kTasks, ms).starts_with("a has the least median on 2 of 2 tasks"));
  }

  /// Who tried the default schedule alone competes with nobody, and that is said.
  void whoHadNothingToSearchIsNoCompetitor() {
    auto sessions = two(6, 2e-3, 1e-3, 1e-5);
    for (int i = 0; i < 6; ++i) sessions.push_back(session(20 + i, "c", i, 9e-4)), sessions.push_back(session(30 + i, "d", i, 9e-4));
    for (ComparedSession& s : sessions) {
      s.row.state = "done";
      const double seconds = s.best[1];
      s.best.clear();
      s.note({s.row.id, TaskId{1}, 7, 0, seconds, s.row.tuner == "c" || s.row.tuner == "d" ? 0 : 6});
      QCOMPARE(s.best[1], seconds);
    }
    std::string text = winner_text(sessions, kTasks, ms);
    QVERIFY2(text.starts_with("b is ahead on T1: median 1.025 ms, the next one 2.025 ms; surely, against every other. c and d had nothing to search on T1."), text.c_str());
    QCOMPARE(verdicts(sessions, kTasks).size(), size_t{1});
    QCOMPARE(overall(sessions, kTasks).size(), size_t{1});
    // One that still runs may search yet.
    sessions.back().row.state = "running";
    text = winner_text(sessions, kTasks, ms);
    QVERIFY2(has(text, "every other. c had nothing to search on T1.") && !has(text, "d had"), text.c_str());
    // Where nobody had anything, there is nothing to say; where but one had, that alone.
    for (ComparedSession& s : sessions) s.note({s.row.id, TaskId{2}, 1, 0, 1e-3, 0});
    QCOMPARE(winner_text(sessions, kTasks, ms), text);
    std::erase_if(sessions, [](const ComparedSession& s) { return s.row.tuner != "a" && s.row.tuner != "c"; });
    QCOMPARE(winner_text(sessions, kTasks, ms), std::string("c had nothing to search on T1."));
  }

  /// Pairs have one seed and one task: what differs between seeds and tasks, however much, hides nothing.
  void tunersOverAllTasks() {
    auto sessions = two(4, 1e-3, 1.25e-3, 0);
    for (ComparedSession& s : sessions) {
      const double scale = std::exp2(s.row.options["seed"].get<int>());
      s.best[1] *= scale, s.best[2] = 100 * s.best[1];
    }
    sessions[0].best[2] = HUGE_VAL;  // found nothing: no pair
    const auto all = overall(sessions, kTasks);
    QCOMPARE(all.size(), size_t{1});
    QCOMPARE(all[0].tasks, 2);
    QCOMPARE(all[0].pairs, 7);
    QVERIFY(std::abs(all[0].ratio - 1.25) < 1e-12);
    QCOMPARE(all[0].p, 2.0 / 128);
    const std::string text = overall_text(all[0]);
    QVERIFY2(has(text, "Over 2 tasks and 7 pairs of one seed: a ends 1.250\u00d7 as fast as b (p = 0.016") && !has(text, "chance"), text.c_str());
    QVERIFY(overall(std::vector{session(1, "a", 1, 1e-3), session(2, "b", 2, 1e-3)}, kTasks).empty());  // no seed in common
  }

  void whatSessionsCameTo() {
    const double never = HUGE_VAL;
    const auto failed = outcome(0, never, records::Status::build_fail);
    auto censored = outcome(30, 1e-4);
    censored.censored = true;  // stopped early: its time is a bound
    const std::vector<GroupCurves> groups = {
        {"slow", {curve_of(std::vector{outcome(0, 8e-3), outcome(5, 6e-3)}), curve_of(std::vector{failed, outcome(5, 7e-3)})}},
        {"fast", {curve_of(std::vector{outcome(0, 4e-3), outcome(10, 2e-3), outcome(20, 1.04e-3), censored}), curve_of(std::vector{outcome(0, 1e-3), outcome(1, 2e-3)}), SessionCurve()}}};
    const auto rows = progress(groups);
    QCOMPARE(rows.size(), size_t{2});
    QCOMPARE(rows[0].name, std::string("fast"));
    QCOMPARE(rows[0].sessions, 2);
    QCOMPARE(rows[0].median_s, (1e-3 + 1.04e-3) / 2);
    QCOMPARE(rows[0].best_s, 1e-3);
    // The best known is 1 ms; 95 % of its speed is 1.053 ms: one session is there after three trials, the other after one.
    QCOMPARE(rows[0].reached[1].trials, 2.0);
    QCOMPARE(rows[0].reached[1].seconds, 10.0);
    QVERIFY(std::isinf(rows[0].reached[2].trials));  // one of two never was at 99 %
    // Over the two trials that every session has: (1/4 + 1/2) / 2 and 1; 0 and 1/7, and 1/8 and 1/6.
    QCOMPARE(rows[0].area, (0.375 + 1) / 2);
    QCOMPARE(rows[1].area, ((1.0 / 8 + 1.0 / 6) / 2 + (0 + 1.0 / 7) / 2) / 2);
    QCOMPARE(rows[1].failures, int64_t{1});
    QCOMPARE(rows[1].trials, int64_t{4});
    QCOMPARE(rows[1].build_s, 4.0);
    QCOMPARE(rows[1].run_s, 8.0);
    QVERIFY(std::isinf(rows[1].reached[0].trials));
    // Who tried the default schedule alone, as all do first, makes the common part no shorter.
    auto more = groups;
    // A pause is no time that it took.
    TrialOutcome late = outcome(1000, 1.04e-3);
    late.paused_s = 980;
    QCOMPARE(curve_of(std::vector{outcome(0, 4e-3), late}).steps.back().elapsed_s, 20.0);
    more.push_back({"idle", {curve_of(std::vector{outcome(0, 8e-3)})}});
    const auto with_idle = progress(more);
    QCOMPARE(with_idle[0].area, rows[0].area);
    QCOMPARE(with_idle[2].name, std::string("idle"));
    QCOMPARE(with_idle[2].area, 1.0 / 8);
    QCOMPARE(progress(std::vector{more[2]})[0].area, 1.0);
    QVERIFY(progress({}).empty());
  }
};

QTEST_APPLESS_MAIN(ComparisonTest)
#include "comparison_test.moc"
