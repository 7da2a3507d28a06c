// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <set>

#include "engine/base/json.h"
#include "engine/tune/scheduler.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::tune;
using namespace tw::tune::fixture;

namespace {

std::vector<SessionTask> network() {
  return {{dense(32, 64, 64), 1, {}}, {dense(128, 64, 64, "heavy"), 3, {}}, {conv(), 2, {}}, {elementwise(), 1, {}}};
}

SessionOptions in_rounds(const char* scheduler, const char* tuner = "random", int64_t trials = 150) {
  SessionOptions o = options(trials, 10);
  o.scheduler = scheduler;
  o.tuner = tuner;
  if (o.tuner == "xgb") o.tuner_params = {{"plan_size", 16}, {"iterations", 20}, {"walkers", 16}};
  o.finalists = 0;
  return o;
}

/// Task, decision and best of each round.
std::string story(const std::vector<records::Round>& rounds) {
  std::string text;
  for (const records::Round& r : rounds)
    text += std::to_string(r.number) + " " + r.task_key.substr(0, 8) + " " + std::to_string(r.trials) + " " + std::to_string(r.best_s * 1e9) + " " + r.decision + "\n";
  return text;
}

std::string points(const std::vector<records::Record>& records) {
  std::string text;
  for (const records::Record& r : records) text += r.task_key.substr(0, 8) + " " + r.candidate.space + " " + std::to_string(r.candidate.index) + "\n";
  return text;
}

}  // namespace

class RoundsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void the_default_schedules_come_first_and_then_the_network_has_a_time() {
    for (const SchedulerDef& def : schedulers()) {
      Session s;
      const auto report = s.run(network(), in_rounds(def.name));
      QVERIFY(report);
      const auto rounds = s.store.rounds();
      QCOMPARE(rounds.size(), report->rounds.size());
      QVERIFY(rounds.size() > 8);
      int64_t trials = 0;
      double network_s = INFINITY;
      for (size_t i = 0; i < rounds.size(); ++i) {
        const records::Round& r = rounds[i];
        QCOMPARE(r.number, static_cast<int64_t>(i) + 1);
        QCOMPARE(r.session_trials, trials += r.trials);
        QCOMPARE(std::isfinite(r.network_s), i >= 3);
        QVERIFY(r.network_s <= network_s || i < 3);
        network_s = r.network_s;
        QVERIFY(parse_json(r.decision)->contains("why"));
        QVERIFY(r.elapsed_s >= (i ? rounds[i - 1].elapsed_s : 0));
      }
      QCOMPARE(trials, 150);
      // Each round has its own part of the time.
      double search_s = 0, build_s = 0, measure_s = 0, total_s = 0;
      for (const records::Round& r : rounds) {
        QVERIFY(r.search_s >= 0 && r.build_s >= 0 && r.measure_s >= 0);
        search_s += r.search_s, build_s += r.build_s, measure_s += r.measure_s, total_s += r.total_s;
      }
      QVERIFY(search_s <= report->search_s + 1e-9 && build_s <= report->build_s + 1e-9 && measure_s <= report->measure_s + 1e-9);
      QVERIFY(total_s <= rounds.back().elapsed_s + 1e-9);
      QCOMPARE(report->network_s, network_s);
      double sum = 0;
      for (size_t i = 0; i < 4; ++i) sum += network()[i].weight * report->tasks[i].best_s;
      QCOMPARE(report->network_s, sum);
    }
  }
  /// After any round, and in the middle of one: what was there and what comes is what an unbroken session does, decisions and all.
  void a_resumed_session_decides_as_an_unbroken_one() {
    for (const SchedulerDef& def : schedulers()) {
      for (const char* tuner : {"random", "genetic", "xgb"}) {
        Session whole;
        const SessionOptions o = in_rounds(def.name, tuner);
        QVERIFY(whole.run(network(), o));
        const auto all = whole.store.records();
        const auto rounds = whole.store.rounds();
        for (const size_t kept_rounds : {size_t{2}, size_t{7}, rounds.size() - 1}) {
          std::vector<records::Round> kept(rounds.begin(), rounds.begin() + static_cast<std::ptrdiff_t>(kept_rounds));
          size_t trials = static_cast<size_t>(kept.back().session_trials);
          if (kept.back().trials > 4) {  // cut off in the middle
            kept.back().trials -= 4;
            trials -= 4;
          }
          std::vector<SessionTask> tasks = network();
          for (size_t i = 0; i < trials; ++i)
            for (SessionTask& t : tasks)
              if (t.task.key == all[i].task_key) t.history.push_back(all[i]);
          Session rest;
          rest.rounds = &kept;
          const auto report = rest.run(tasks, o);
          QVERIFY(report);
          std::vector<records::Record> both(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(trials));
          for (const records::Record& r : rest.store.records()) both.push_back(r);
          QCOMPARE(points(both), points(all));
          QCOMPARE(story(report->rounds), story(rounds));
        }
      }
    }
  }
  /// As after a change of the strategy: what it asks for now is something else.
  void where_the_questions_differ_the_answers_are_told_and_the_session_goes_on() {
    Session whole;
    QVERIFY(whole.run(network(), in_rounds("gradient", "genetic")));
    const auto all = whole.store.records();
    auto kept = whole.store.rounds();
    kept.resize(8);
    std::vector<SessionTask> tasks = network();
    for (size_t i = 0; i < static_cast<size_t>(kept.back().session_trials); ++i)
      for (SessionTask& t : tasks)
        if (t.task.key == all[i].task_key) t.history.push_back(all[i]);
    SessionOptions other = in_rounds("gradient", "genetic");
    other.seed = 99;
    Session rest;
    rest.rounds = &kept;
    const auto report = rest.run(tasks, other);
    QVERIFY(report);
    std::set<std::pair<std::string, uint64_t>> seen;
    for (const SessionTask& t : tasks)
      for (const records::Record& r : t.history) QVERIFY(seen.emplace(r.task_key, records::identity(r.candidate)).second);
    for (const records::Record& r : rest.store.records()) QVERIFY(seen.emplace(r.task_key, records::identity(r.candidate)).second);
    QCOMPARE(seen.size(), size_t{150});
  }
  void finals_that_were_cut_off_are_made_up() {
    SessionOptions o = in_rounds("gradient");
    Session whole;
    QVERIFY(whole.run(network(), o));  // no finals
    const auto rounds = whole.store.rounds();
    std::vector<SessionTask> tasks = network();
    for (const records::Record& r : whole.store.records())
      for (SessionTask& t : tasks)
        if (t.task.key == r.task_key) t.history.push_back(r);
    o.finalists = 8;
    Session rest;
    rest.rounds = &rounds;
    QVERIFY(rest.run(tasks, o));
    QVERIFY(rest.store.records().empty());
    int finals = 0;
    for (const Event& e : rest.events) {
      if (const auto* f = std::get_if<FinalsDone>(&e)) {
        ++finals;
        for (SessionTask& t : tasks)
          for (records::Record& r : t.history)
            for (const records::Record& settled : f->finalists)
              if (t.task.key == settled.task_key && records::identity(r.candidate) == records::identity(settled.candidate)) r = settled;
      }
    }
    QVERIFY2(finals >= 2, qPrintable(QString::number(finals)));
    Session again;  // they are there now
    again.rounds = &rounds;
    QVERIFY(again.run(tasks, o));
    for (const Event& e : again.events) QVERIFY(!std::holds_alternative<FinalsDone>(e));
  }
  void a_target_ends_the_session_and_says_so() {
    SessionOptions o = in_rounds("gradient");
    o.scheduler_params = {{"target_ms", 1e6}};
    Session s;
    const auto report = s.run(network(), o);
    QVERIFY(report);
    QCOMPARE(s.store.records().size(), size_t{4});
    QVERIFY(report->ended.find("target") != std::string::npos);
  }
  void unknown_schedulers_are_named() {
    Session s;
    const auto report = s.run(network(), in_rounds("magic"));
    QVERIFY(!report);
    QVERIFY(report.error().message.find("round-robin") != std::string::npos);
  }
};

QTEST_APPLESS_MAIN(RoundsTest)
#include "rounds_test.moc"
