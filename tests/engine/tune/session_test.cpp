// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/session.h"

#include <fmt/format.h>

#include <QtTest>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "engine/base/json.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::tune;
using namespace tw::tune::fixture;
using records::Status;

namespace {

/// Passes builds through and spoils chosen results.
class SpoiltRunner : public measure::Runner {
 public:
  SpoiltRunner(std::function<Status(int64_t call)> spoil, double seconds_each = 0)
      : inner_(measure::analytic_runner({})), spoil_(std::move(spoil)), seconds_(seconds_each) {}

  std::vector<records::MeasureResult> run(const records::Task& task, std::span<const measure::BuildOutcome> builds, const measure::RunOptions& o,
                                          StopToken stop) override {
    incumbents.push_back(o.incumbent_s);
    std::vector<records::MeasureResult> results;
    for (const auto& build : builds) {
      for (double waited = 0; waited < seconds_ && !stop.stop_requested(); waited += 0.005) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      results.push_back(inner_->run(task, std::span(&build, 1), o, stop)[0]);
      const Status s = spoil_(calls++);
      if (s == Status::ok || stop.stop_requested()) continue;
      results.back() = {};
      results.back().status = s;
      results.back().message = "Spoilt";
    }
    return results;
  }

  int64_t calls = 0;
  std::vector<double> incumbents;

 private:
  std::unique_ptr<measure::Runner> inner_;
  std::function<Status(int64_t)> spoil_;
  double seconds_;
};

class FailingSink : public records::RecordSink {
 public:
  explicit FailingSink(int after) : left_(after) {}
  Expected<void> store(const records::Task&, const std::vector<records::Record>&) override {
    if (left_-- > 0) return {};
    return Error(ErrorCode::no_space, "No space is left");
  }

 private:
  int left_;
};

std::set<int64_t> points_of(const std::vector<records::Record>& records) {
  std::set<int64_t> points;
  for (const auto& r : records) points.insert(r.candidate.index);
  return points;
}

}  // namespace

class SessionTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void the_same_seed_gives_the_same_trace() {
    const std::vector<SessionTask> tasks = {{dense(32, 64, 64), 1, {}}, {elementwise(), 3, {}}};
    Session a, b, c;
    QVERIFY(a.run(tasks, options(60)));
    QVERIFY(b.run(tasks, options(60)));
    SessionOptions other = options(60);
    other.seed = 2;
    QVERIFY(c.run(tasks, other));
    QCOMPARE(a.trace(), b.trace());
    QVERIFY(a.trace() != c.trace());
  }
  void the_batch_size_does_not_change_what_random_tries() {
    const std::vector<SessionTask> tasks = {{dense(32, 64, 64), 1, {}}};
    Session a, b;
    QVERIFY(a.run(tasks, options(40, 1)));
    QVERIFY(b.run(tasks, options(40, 16)));
    QVERIFY(points_of(a.store.records()) == points_of(b.store.records()));
  }
  void the_first_trial_is_the_default_schedule() {
    Session s;
    SessionOptions o = options(10);
    o.finalists = 0;  // which measure it again
    const auto report = s.run({{dense(32, 64, 64), 1, {}}}, o);
    QVERIFY(report);
    const auto records = s.store.records();
    QCOMPARE(records.size(), size_t{10});
    QCOMPARE(records[0].candidate.space, std::string("default"));
    QCOMPARE(records[0].candidate.index, -1);
    QVERIFY(!records[0].candidate.steps.empty());
    QCOMPARE(report->tasks[0].default_s, records[0].result.seconds());
    QVERIFY(report->search_s > 0 && report->idle_s() >= 0);
    QVERIFY(report->build_s + report->measure_s + report->search_s + report->idle_s() >= report->total_s);
    QCOMPARE(points_of(records).size(), size_t{10});
  }
  void tasks_without_a_template_get_one_trial() {
    Session s;
    const auto report = s.run({{elementwise(), 1, {}}}, options(50));
    QVERIFY(report);
    QCOMPARE(report->tasks[0].trials, 1);
    QVERIFY(std::isfinite(report->tasks[0].best_s));
  }
  void budgets_sum_to_the_trials_and_the_heaviest_goes_first() {
    const std::vector<SessionTask> tasks = {{dense(16, 32, 32, "light"), 1, {}}, {elementwise(), 1, {}}, {dense(128, 256, 256, "heavy"), 2, {}}};
    Session s;
    const auto report = s.run(tasks, options(100));
    QVERIFY(report);
    QCOMPARE(s.store.records().size(), size_t{100});
    QCOMPARE(s.store.records()[0].task_key, tasks[2].task.key);
    QCOMPARE(report->tasks[1].trials, 1);
    QVERIFY(report->tasks[2].trials > report->tasks[0].trials);
    QVERIFY(report->tasks[0].trials >= 8);
    for (int i = 0; i < 3; ++i) QCOMPARE(s.trials_of(i), report->tasks[static_cast<size_t>(i)].trials);
  }
  void trials_per_task_bounds_each_task() {
    SessionOptions o = options(0);
    o.trials_per_task = 7;
    Session s;
    const auto report = s.run({{dense(16, 32, 32), 1, {}}, {dense(32, 32, 32), 1, {}}}, o);
    QVERIFY(report);
    QCOMPARE(report->tasks[0].trials, 7);
    QCOMPARE(report->tasks[1].trials, 7);
  }
  /// Direct convolution and Winograd's: both are tried, whatever the size of a batch, and an interrupted session goes on with both.
  void every_template_of_a_task_is_searched() {
    const SessionTask task{conv(), 1, {}};
    const auto counts = [](const std::vector<records::Record>& records) {
      std::map<std::string, int> n;
      for (const records::Record& r : records) ++n[r.candidate.space];
      return n;
    };
    for (const int batch : {1, 8}) {
      Session s;
      QVERIFY(s.run({task}, options(41, batch)));
      const auto n = counts(s.store.records());
      QCOMPARE(n.size(), size_t{3});
      QCOMPARE(n.at("default"), 1);
      QVERIFY(n.at("conv2d_nchwc.cpu") >= 8 && n.at("conv2d_winograd.cpu") >= 8);
      // The rule's point of the template that the default schedule does not use is its first.
      const space::Template* direct = space::find_template(*task.task.dag, task.task.target, "conv2d_nchwc.cpu");
      QVERIFY(direct != space::fallback(task.task.dag, task.task.target)->space_template);
      const std::vector<records::Record> tried = s.store.records();
      const auto first = std::find_if(tried.begin(), tried.end(), [](const auto& r) { return r.candidate.space == "conv2d_nchwc.cpu"; });
      QCOMPARE(first->candidate.index, direct->fallback(*task.task.dag, task.task.target).index());

      Session again;
      QVERIFY(again.run({{task.task, 1, s.store.records()}}, options(61, batch)));
      std::vector<records::Record> all = s.store.records();
      for (const records::Record& r : again.store.records()) all.push_back(r);
      QCOMPARE(all.size(), size_t{61});
      std::set<std::pair<std::string, int64_t>> points;
      for (const records::Record& r : all) points.emplace(r.candidate.space, r.candidate.index);
      QCOMPARE(points.size(), all.size());
    }
  }
  void a_small_space_is_exhausted_once() {
    SessionOptions o = options(0, 64);
    o.tuner = "grid";
    const records::Task task = dense(1, 4, 4);
    Session s;
    const auto report = s.run({{task, 1, {}}}, o);
    QVERIFY(report);
    const auto space = space::find_template(*task.dag, task.target)->space(*task.dag, task.target);
    int64_t valid = 0;
    for (int64_t i = 0; i < space.size(); ++i) valid += space.filtered_reason(*space.get(i)).empty();
    QCOMPARE(report->tasks[0].trials, valid + 1);
    QCOMPARE(static_cast<int64_t>(points_of(s.store.records()).size()), valid + 1);
    // Why it ended is said where more was asked for, and nowhere else.
    QVERIFY2(report->ended.ends_with("the task's space has no further candidate"), report->ended.c_str());
    Session more, exact;
    o.trials = valid + 6, o.trials_per_task = 0;
    const auto fewer = more.run({{task, 1, {}}}, o);
    QCOMPARE(fewer->ended, fmt::format("{} of the {} trials asked for were made: the task's space has no further candidate", valid + 1, valid + 6));
    o.trials = valid;
    QCOMPARE(exact.run({{task, 1, {}}}, o)->ended, std::string());
  }
  void events_tell_the_story_in_order() {
    Session s;
    QVERIFY(s.run({{dense(32, 64, 64), 1, {}}}, options(17, 8)));
    QVERIFY(std::holds_alternative<SessionPlanned>(s.events.front()));
    QCOMPARE(std::get<SessionPlanned>(s.events.front()).trials, 17);
    QVERIFY(std::holds_alternative<TaskStarted>(s.events[1]));
    QVERIFY(std::get<TaskStarted>(s.events[1]).space_size > 0);
    QVERIFY(std::holds_alternative<TaskDone>(s.events.back()));
    std::string phases;
    int64_t number = 0;
    double best = INFINITY;
    for (const Event& e : s.events) {
      if (const auto* p = std::get_if<Phase>(&e)) phases += p->name[0];
      const auto* t = std::get_if<TrialDone>(&e);
      if (!t) continue;
      QCOMPARE(t->number, ++number);
      best = std::min(best, t->record.result.seconds());
      QCOMPARE(t->best_s, best);
    }
    QCOMPARE(phases, std::string("sbmsbmsbmbf"));  // the last two are the finals
    QCOMPARE(std::get<TaskDone>(s.events.back()).best_s, best);
  }
  void incumbents_reach_the_runner() {
    Session s;
    auto runner = std::make_unique<SpoiltRunner>([](int64_t) { return Status::ok; });
    const SpoiltRunner& seen = *runner;
    s.runner = std::move(runner);
    SessionOptions o = options(17, 8);
    o.finalists = 0;
    QVERIFY(s.run({{dense(32, 64, 64), 1, {}}}, o));
    QCOMPARE(seen.incumbents.size(), size_t{3});
    QCOMPARE(seen.incumbents[0], 0.0);
    QCOMPARE(seen.incumbents[1], s.store.records()[0].result.seconds());
    QVERIFY(seen.incumbents[2] <= seen.incumbents[1]);
  }
  void failures_are_counted_by_status() {
    Session s;
    s.machine.failure_rate = 0.4;
    const auto report = s.run({{dense(64, 64, 64), 1, {}}}, options(120));
    QVERIFY(report);
    int64_t total = 0;
    for (const auto& [status, count] : report->tasks[0].by_status) total += count;
    QCOMPARE(total, 120);
    for (const Status status : {Status::build_fail, Status::run_crash, Status::run_timeout, Status::wrong_output})
      QVERIFY(report->tasks[0].by_status.at(status) > 0);
    QVERIFY(std::isfinite(report->tasks[0].best_s));
  }
  void tasks_learn_from_those_before_if_asked() {
    const std::vector<SessionTask> tasks = {{dense(64, 128, 128, "first"), 4, {}}, {dense(64, 128, 64, "second"), 1, {}}};
    SessionOptions o = options(0, 16);
    o.trials_per_task = 48;
    o.tuner = "xgb";
    o.tuner_params = {{"plan_size", 16}, {"iterations", 50}, {"transfer_samples", 32}};
    Session alone, learning, again;
    QVERIFY(alone.run(tasks, o));
    o.transfer = true;
    QVERIFY(learning.run(tasks, o));
    QVERIFY(again.run(tasks, o));
    QCOMPARE(learning.trace(), again.trace());
    const auto of = [](const std::string& trace, char task) {
      std::string lines;
      for (const QByteArray& line : QByteArray::fromStdString(trace).split('\n'))
        if (line.startsWith(task)) lines += line.toStdString() + "\n";
      return lines;
    };
    QCOMPARE(of(learning.trace(), '0'), of(alone.trace(), '0'));
    QVERIFY(of(learning.trace(), '1') != of(alone.trace(), '1'));
  }
  void models_are_judged_by_what_was_measured() {
    SessionOptions o = options(64, 16);
    o.tuner = "xgb";
    o.tuner_params = {{"plan_size", 16}, {"iterations", 50}};
    Session s;
    const auto report = s.run({{dense(64, 128, 128), 1, {}}}, o);
    QVERIFY(report);
    int64_t predicted = 0;
    for (const records::Record& r : s.store.records()) predicted += r.prediction.has_value();
    QVERIFY(predicted > 16);
    QCOMPARE(report->models.trials, predicted);
    QVERIFY(report->models.pairs > 0 && report->models.best_of_8 > 0);
    QVERIFY(!report->models.scores_are_speeds);  // it learned orders
    o.tuner = "random";
    o.tuner_params = Json::object();
    Session blind;
    const auto none = blind.run({{dense(64, 128, 128), 1, {}}}, o);
    QVERIFY(none && none->models.trials == 0);
  }
  void early_stopping_counts_from_the_best() {
    SessionOptions o = options(0, 1);
    o.early_stopping = 5;
    Session s;
    s.machine.noise = 0;
    s.machine.seconds = [n = std::make_shared<int>(0)](const records::Task&, const records::Candidate&) { return ++*n <= 4 ? 1.0 / *n : 1.0; };
    const auto report = s.run({{dense(64, 64, 64), 1, {}}}, o);
    QVERIFY(report);
    QCOMPARE(report->tasks[0].trials, 9);
    QCOMPARE(report->ended, std::string("9 trials were made: the search stopped early, after 5 trials without a better one"));
  }
  void what_early_stopping_saves_goes_to_later_tasks() {
    SessionOptions o = options(60, 1);
    o.early_stopping = 5;
    Session s;
    s.machine.noise = 0;
    const records::Task heavy = dense(64, 64, 64), light = dense(16, 32, 32);
    s.machine.seconds = [n = std::make_shared<double>(1), heavy](const records::Task& t, const records::Candidate&) {
      return t.key == heavy.key ? 1.0 : *n *= 0.99;
    };
    const auto report = s.run({{heavy, 1, {}}, {light, 1, {}}}, o);
    QVERIFY(report);
    QCOMPARE(report->tasks[0].trials, 6);
    QCOMPARE(report->tasks[1].trials, 54);
  }

  void resumed_sessions_repeat_nothing_and_finish() {
    const std::vector<SessionTask> fresh = {{dense(32, 64, 64), 1, {}}, {dense(16, 32, 32), 1, {}}, {elementwise(), 1, {}}};
    Session whole;
    const auto expected = whole.run(fresh, options(80));
    QVERIFY(expected);
    const auto all = whole.store.records();
    for (const size_t kept : {size_t{0}, size_t{1}, size_t{13}, size_t{55}, size_t{79}, size_t{80}}) {
      std::vector<SessionTask> tasks = fresh;
      for (size_t i = 0; i < kept; ++i) {
        for (SessionTask& t : tasks) {
          if (t.task.key == all[i].task_key) t.history.push_back(all[i]);
        }
      }
      Session rest;
      const auto report = rest.run(tasks, options(80));
      QVERIFY(report);
      const auto more = rest.store.records();
      QCOMPARE(more.size(), 80 - kept);
      std::set<std::pair<std::string, int64_t>> seen;
      for (size_t i = 0; i < kept; ++i) seen.emplace(all[i].task_key, all[i].candidate.index);
      for (const auto& r : more) QVERIFY(seen.emplace(r.task_key, r.candidate.index).second);
      for (size_t i = 0; i < fresh.size(); ++i) {
        QCOMPARE(report->tasks[i].trials, expected->tasks[i].trials);
        QCOMPARE(report->tasks[i].best_s, expected->tasks[i].best_s);
        QCOMPARE(report->tasks[i].default_s, expected->tasks[i].default_s);
      }
    }
  }
  void failed_points_of_the_history_are_not_tried_again() {
    const records::Task task = dense(1, 4, 4);
    SessionOptions o = options(0, 64);
    o.tuner = "grid";
    Session first;
    QVERIFY(first.run({{task, 1, {}}}, o));
    auto history = first.store.records();
    for (auto& r : history) r.result.status = Status::infra;
    Session second;
    const auto report = second.run({{task, 1, history}}, o);
    QVERIFY(report);
    QVERIFY(second.store.records().empty());
  }

  void a_stop_returns_within_a_second_with_everything_stored() {
    Session s;
    s.runner = std::make_unique<SpoiltRunner>([](int64_t) { return Status::ok; }, 0.03);
    std::thread clicker([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      s.stop.request_stop();
    });
    const auto start = std::chrono::steady_clock::now();
    const auto report = s.run({{dense(64, 64, 64), 1, {}}, {dense(32, 64, 64), 1, {}}}, options(2000, 8));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    clicker.join();
    QVERIFY(report);
    QVERIFY(report->cancelled);
    QVERIFY2(seconds < 1.4, qPrintable(QString::number(seconds)));
    const auto records = s.store.records();
    QVERIFY(records.size() >= 5);
    QCOMPARE(static_cast<int64_t>(records.size()), s.trials_of(0) + s.trials_of(1));
    for (const auto& r : records) QVERIFY(r.result.status != Status::cancelled);
  }
  void a_pause_holds_between_batches() {
    Session s;
    std::atomic<bool> paused = false;
    std::atomic<int64_t> during = 0;
    s.paused = [&] { return paused.load(); };
    s.runner = std::make_unique<SpoiltRunner>([](int64_t) { return Status::ok; }, 0.005);
    s.on_event = [&](const Event& e) {
      if (const auto* t = std::get_if<TrialDone>(&e)) {
        if (t->number == 9) paused = true;
        if (t->number > 9 && paused) ++during;
      }
    };
    std::thread clicker([&] {
      while (!paused) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      paused = false;
    });
    const auto report = s.run({{dense(64, 64, 64), 1, {}}}, options(25, 8));
    clicker.join();
    QVERIFY(report);
    QCOMPARE(during.load(), int64_t{0});
    QCOMPARE(report->tasks[0].trials, 25);
    QVERIFY(report->total_s > 0.15);
  }
  void time_is_split_over_the_tasks() {
    SessionOptions o = options(0, 4);
    o.time_s = 0.6;
    Session s;
    s.runner = std::make_unique<SpoiltRunner>([](int64_t) { return Status::ok; }, 0.01);
    const auto report = s.run({{dense(64, 64, 64), 1, {}}, {dense(64, 64, 32), 2, {}}}, o);
    QVERIFY(report);
    QVERIFY2(report->total_s > 0.5, qPrintable(QString::number(report->total_s)));
    for (const TaskDone& t : report->tasks) QVERIFY(t.trials >= 2);
    QCOMPARE(std::get<SessionPlanned>(s.events.front()).trials, 0);
  }
  void every_default_is_measured_even_without_time() {
    SessionOptions o = options(0, 4);
    o.time_s = 1e-6;
    Session s;
    const auto report = s.run({{dense(64, 64, 64), 1, {}}, {dense(64, 64, 32), 2, {}}}, o);
    QVERIFY(report);
    for (const TaskDone& t : report->tasks) {
      QCOMPARE(t.trials, 1);
      QVERIFY(std::isfinite(t.default_s));
    }
  }

  void our_own_failures_are_tried_once_more() {
    Session s;
    s.runner = std::make_unique<SpoiltRunner>([](int64_t call) { return call == 2 || call == 3 ? Status::infra : Status::ok; });
    SessionOptions o = options(9, 8);
    o.finalists = 0;
    const auto report = s.run({{dense(32, 64, 64), 1, {}}}, o);
    QVERIFY(report);
    QCOMPARE(report->tasks[0].by_status.at(Status::ok), 9);
    QCOMPARE(static_cast<SpoiltRunner&>(*s.runner).calls, 11);
  }
  void too_many_of_our_own_failures_stop_the_session() {
    Session s;
    s.runner = std::make_unique<SpoiltRunner>([](int64_t call) { return call >= 5 ? Status::infra : Status::ok; });
    const auto report = s.run({{dense(32, 64, 64), 1, {}}}, options(200, 4));
    QVERIFY(!report);
    QCOMPARE(report.error().code, ErrorCode::infrastructure);
    QVERIFY(report.error().message.find("Spoilt") != std::string::npos);
    QCOMPARE(s.store.records().size(), size_t{5 + 8});
  }
  void candidates_failures_never_stop_a_session() {
    Session s;
    s.runner = std::make_unique<SpoiltRunner>([](int64_t) { return Status::run_crash; });
    const auto report = s.run({{dense(32, 64, 64), 1, {}}}, options(60));
    QVERIFY(report);
    QCOMPARE(report->tasks[0].by_status.at(Status::run_crash), 60);
    QVERIFY(std::isinf(report->tasks[0].best_s));
  }
  /// Whether all trials are compared or those that could be best alone: nothing that is wrong is best, and all find what is wrong elsewhere too.
  void what_is_wrong_is_caught() {
    const records::Task task = dense(32, 64, 64);
    const auto run = [&](Session& s, Verify verify) {
      s.machine.failure_rate = 0.5;
      SessionOptions o = options(120);
      o.verify = verify;
      o.finalists = 0;
      return s.run({{task, 1, {}}}, o);
    };
    Session all, best;
    const auto of_all = run(all, Verify::all), of_best = run(best, Verify::best);
    QVERIFY(of_all && of_best);
    std::map<int64_t, Status> status;
    for (const records::Record& r : all.store.records()) {
      status[r.candidate.index] = r.result.status;
      QVERIFY(!r.result.ok() || r.result.verified);
    }
    int missed = 0;
    for (const records::Record& r : best.store.records()) {
      const bool wrong = status.at(r.candidate.index) == Status::wrong_output;
      QVERIFY(r.result.status == status.at(r.candidate.index) || (wrong && r.result.ok() && !r.result.verified));
      missed += wrong && r.result.ok();
    }
    QVERIFY(missed > 0 && of_best->tasks[0].by_status.at(Status::wrong_output) > 0);
    QCOMPARE(of_best->tasks[0].by_status.at(Status::wrong_output) + missed, of_all->tasks[0].by_status.at(Status::wrong_output));
    QCOMPARE(of_best->tasks[0].best_s, of_all->tasks[0].best_s);
  }
  void unverified_results_are_never_best() {
    Session s;
    s.machine.samples = 0;
    const auto report = s.run({{dense(32, 64, 64), 1, {}}}, options(5));
    QVERIFY(report);
    QVERIFY(std::isinf(report->tasks[0].best_s));
  }
  void a_sinks_error_ends_the_session() {
    FailingSink sink(2);
    const auto builder = measure::analytic_builder({});
    const auto runner = measure::analytic_runner({});
    int64_t told = 0;
    const auto report = run_session({{dense(32, 64, 64), 1, {}}}, options(100, 8), *builder, *runner, sink,
                                    [&](const Event& e) { told += std::holds_alternative<TrialDone>(e); }, {});
    QVERIFY(!report);
    QCOMPARE(report.error().code, ErrorCode::no_space);
    QCOMPARE(told, 9);
  }
  void bad_options_are_named() {
    Session s;
    SessionOptions o = options(5);
    o.tuner = "magic";
    auto r = s.run({{elementwise(), 1, {}}}, o);
    QVERIFY(!r);
    QCOMPARE(r.error().code, ErrorCode::unsupported);
    QVERIFY(r.error().message.find("random, grid, genetic") != std::string::npos);
    o = options(-1);
    QCOMPARE(s.run({}, o).error().code, ErrorCode::invalid_argument);
    o = options(5);
    o.batch = 0;
    QCOMPARE(s.run({}, o).error().code, ErrorCode::invalid_argument);
    o = options(5);
    o.tuner_params = Json{{"depth", 3}};
    QCOMPARE(s.run({}, o).error().code, ErrorCode::invalid_argument);
    QVERIFY(s.run({}, options(5)));
  }
};

QTEST_APPLESS_MAIN(SessionTest)
#include "session_test.moc"
