// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <QtTest>
#include <cmath>
#include <set>

#include "engine/base/json.h"
#include "engine/base/worker_pool.h"
#include "engine/cost/cost_model.h"
#include "engine/tune/strategy.h"
#include "tests/engine/tune/cube.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::tune;
using tw::tune::fixture::cube;

class XgbTest : public QObject {
  Q_OBJECT

  /// A bowl with its least time at (3, 3, ...), two of its knobs tied to each other.
  static double seconds(const space::ConfigSpace& s, int64_t index) {
    const std::vector<int> p = s.knob_positions(index);
    double distance = std::abs(p[0] - p[1]);
    for (const int x : p) distance += std::abs(x - 3);
    return 1e-3 * std::exp(0.2 * distance);
  }
  static std::vector<Observation> measured(const space::ConfigSpace& s, const std::vector<int64_t>& points) {
    std::vector<Observation> answers;
    for (const int64_t p : points) {
      Observation o{p, {}};
      o.result.status = records::Status::ok;
      o.result.samples_s = {seconds(s, p)};
      answers.push_back(o);
    }
    return answers;
  }

  static std::vector<int64_t> search(const char* name, const space::ConfigSpace& s, uint64_t seed, size_t trials, const Json& given = Json::object(),
                                     bool fail = false) {
    const StrategyDef* def = find_strategy(name);
    const auto strategy = def->make_points({s, *resolve_params(def->params, given), Rng(seed)});
    std::vector<int64_t> asked;
    while (asked.size() < trials) {
      const auto points = strategy->propose(static_cast<int>(std::min<size_t>(16, trials - asked.size())));
      if (points.empty()) break;
      std::vector<Observation> answers;
      for (const int64_t p : points) {
        Observation o{p, {}};
        o.result.status = fail ? records::Status::build_fail : records::Status::ok;
        if (!fail) o.result.samples_s = {seconds(s, p)};
        answers.push_back(o);
      }
      strategy->observe(answers);
      asked.insert(asked.end(), points.begin(), points.end());
    }
    return asked;
  }

  static double best(const space::ConfigSpace& s, const std::vector<int64_t>& points) {
    double least = INFINITY;
    for (const int64_t p : points) least = std::min(least, seconds(s, p));
    return least;
  }

  static inline const Json kSmallPlans = {{"plan_size", 16}, {"iterations", 100}};

 private Q_SLOTS:
  void covers_a_small_space_without_repetition() {
    const auto space = cube(5, 3);
    const auto points = search("xgb", space, 1, 1000, kSmallPlans);
    QCOMPARE(points.size(), size_t{125});
    QCOMPARE(std::set<int64_t>(points.begin(), points.end()).size(), size_t{125});
  }
  void the_seed_decides() {
    const auto space = cube(12, 4);
    QCOMPARE(search("xgb", space, 1, 96, kSmallPlans), search("xgb", space, 1, 96, kSmallPlans));
    QVERIFY(search("xgb", space, 1, 96, kSmallPlans) != search("xgb", space, 2, 96, kSmallPlans));
  }
  void what_other_tasks_taught_comes_first() {
    const auto space = cube(12, 4);
    PriorPoints prior;
    prior.space = space;
    Rng rng(7);
    for (int i = 0; i < 600; ++i) {
      const auto point = static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(space.size())));
      Observation o{point, {}};
      o.result.status = records::Status::ok;
      o.result.samples_s = {5 * seconds(space, point)};  // slower as a whole, alike in what is good
      prior.results.push_back(o);
    }
    const StrategyDef* def = find_strategy("xgb");
    const auto first_best = [&](const std::vector<PriorPoints>& known) {
      const auto strategy = def->make_points({space, *resolve_params(def->params, kSmallPlans), Rng(1)});
      strategy->transfer(known);
      return best(space, strategy->propose(8));
    };
    const double taught = first_best({prior}), alone = first_best({});
    QVERIFY2(taught < 0.6 * alone, qPrintable(QString("%1 %2").arg(taught).arg(alone)));
    prior.results.resize(499);  // too few
    QCOMPARE(first_best({prior}), alone);
  }
  void predictions_say_which_points_are_fast() {
    const auto space = cube(12, 4);
    const StrategyDef* def = find_strategy("xgb");
    const auto strategy = def->make_points({space, *resolve_params(def->params, kSmallPlans), Rng(1)});
    const std::vector<int64_t> corners = {0, space.size() - 1};
    for (const auto& said : strategy->predictions(corners)) QVERIFY(!said);  // nothing learned yet
    int64_t learned_from = -1;
    for (int round = 0; round < 6; ++round) {
      const auto points = strategy->propose(16);
      const auto said = strategy->predictions(points);
      QCOMPARE(said.size(), points.size());
      for (const auto& s : said) {
        QCOMPARE(s.has_value(), round > 0);
        if (s) QVERIFY(s->samples <= 16 * round && s->samples >= learned_from && s->model == "boosted-trees/knob-1");
      }
      if (said[0]) learned_from = said[0]->samples;
      const std::vector<Observation> answers = measured(space, points);
      strategy->observe(answers);
    }
    QVERIFY(learned_from >= 64);
    // The bottom of the bowl against its rim.
    const auto at = [&](int position) {
      int64_t index = 0;
      for (int k = 0; k < 4; ++k) index = index * 12 + position;
      return index;
    };
    const auto said = strategy->predictions(std::vector<int64_t>{at(3), at(11)});
    QVERIFY(said[0]->score > said[1]->score);
  }
  void asking_for_predictions_changes_no_proposal() {
    const auto space = cube(12, 4);
    const StrategyDef* def = find_strategy("xgb");
    const auto asked = def->make_points({space, *resolve_params(def->params, kSmallPlans), Rng(1)});
    const auto silent = def->make_points({space, *resolve_params(def->params, kSmallPlans), Rng(1)});
    for (int round = 0; round < 5; ++round) {
      const auto points = asked->propose(16);
      asked->predictions(points);
      QCOMPARE(points, silent->propose(16));
      const std::vector<Observation> answers = measured(space, points);
      asked->observe(answers);
      silent->observe(answers);
    }
  }
  /// One model for the searches of two tasks: what the first taught is the second's first plan.
  void a_shared_model_learns_from_every_search() {
    const auto space = cube(12, 4);
    const records::Task slow = fixture::dense(64, 64, 64), fast = fixture::dense(32, 32, 32);
    const cost::ModelDef& trees = *cost::find_model("boosted-trees");
    cost::SharedModel shared{trees.make(trees, *cost::find_feature("knob"), *resolve_params(trees.params, {{"growth", 20}}))};
    const StrategyDef* def = find_strategy("xgb");
    const auto searching = [&](const records::Task& task, cost::SharedModel* model) {
      PointSearchInput in{space, *resolve_params(def->params, kSmallPlans), Rng(1), &task};
      in.shared_model = model;
      return def->make_points(in);
    };
    const auto first = searching(slow, &shared);
    for (int round = 0; round < 6; ++round) {
      auto answers = measured(space, first->propose(16));
      for (Observation& o : answers) o.result.samples_s[0] *= 50;  // slower as a whole, alike in what is good
      first->observe(answers);
    }
    QCOMPARE(shared.model->samples(), size_t{80});  // all but what came after the last plan
    QCOMPARE(shared.data.size(), size_t{96});
    const auto second = searching(fast, &shared), alone = searching(fast, nullptr);
    const auto points = second->propose(16);
    QVERIFY(best(space, points) < 0.6 * best(space, alone->propose(16)));
    const auto said = second->predictions(points);
    QVERIFY(said[0] && said[0]->samples == 80 && said[0]->model == shared.model->name());
    const auto answers = measured(space, points);
    second->observe(answers);
    QCOMPARE(shared.data.group_sizes(), (std::vector<size_t>{96, 16}));
    second->propose(16);
    QCOMPARE(shared.model->samples(), size_t{112});
  }
  void workers_change_nothing() {
    const records::Task task = fixture::dense(64, 64, 64);
    const space::Template* t = space::find_template(*task.dag, task.target);
    const auto space = t->space(*task.dag, task.target);
    const StrategyDef* def = find_strategy("xgb");
    const auto asked = [&](WorkerPool* workers) {
      PointSearchInput in{space, *resolve_params(def->params, {{"feature", "itervar"}, {"plan_size", 16}, {"iterations", 5}, {"walkers", 16}}), Rng(1), &task, t};
      in.workers = workers;
      const auto strategy = def->make_points(in);
      std::vector<int64_t> all;
      for (int round = 0; round < 3; ++round) {
        const auto points = strategy->propose(16);
        all.insert(all.end(), points.begin(), points.end());
        std::vector<Observation> answers;
        for (const int64_t p : points) {
          Observation o{p, {}};
          o.result.status = records::Status::ok;
          o.result.samples_s = {1e-3 + 1e-6 * static_cast<double>(p % 1009)};
          answers.push_back(o);
        }
        strategy->observe(answers);
      }
      return all;
    };
    const auto alone = asked(nullptr);
    for (const int threads : {1, 2, 4}) {
      WorkerPool pool(threads);
      QCOMPARE(asked(&pool), alone);
    }
  }
  /// Sessions look at points with as many threads as there are processors.
  void the_number_of_processors_changes_nothing() {
    cpu_set_t all, one;
    QCOMPARE(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int c = 0; CPU_COUNT(&one) == 0; ++c)
      if (CPU_ISSET(c, &all)) CPU_SET(c, &one);
    SessionOptions o = fixture::options(40, 8);
    o.tuner = "xgb";
    o.tuner_params = {{"feature", "stores"}, {"plan_size", 16}, {"iterations", 5}, {"walkers", 16}};
    fixture::Session here, there;
    QVERIFY(here.run({{fixture::dense(64, 64, 64), 1, {}}}, o));
    QCOMPARE(sched_setaffinity(0, sizeof one, &one), 0);
    const auto report = there.run({{fixture::dense(64, 64, 64), 1, {}}}, o);
    QCOMPARE(sched_setaffinity(0, sizeof all, &all), 0);
    QVERIFY(report);
    QCOMPARE(there.trace(), here.trace());
  }
  void predictions_reach_the_records() {
    SessionOptions o = fixture::options(60, 8);
    o.tuner = "xgb";
    o.tuner_params = {{"plan_size", 16}, {"iterations", 10}, {"walkers", 16}};
    fixture::Session session;
    QVERIFY(session.run({{fixture::dense(64, 64, 64), 1, {}}}, o));
    int predicted = 0, plain = 0;
    for (const Event& e : session.events) {
      const auto* t = std::get_if<TrialDone>(&e);
      if (t) (t->record.prediction ? predicted : plain)++;
    }
    QVERIFY2(predicted >= 20 && plain >= 16, qPrintable(QString("%1 of %2").arg(predicted).arg(predicted + plain)));
  }
  void needs_half_of_random_searchs_trials_data() {
    QTest::addColumn<QString>("loss");
    QTest::newRow("rank") << "rank";
    QTest::newRow("reg") << "reg";
  }
  void needs_half_of_random_searchs_trials() {
    QFETCH(QString, loss);
    const auto space = cube(12, 5);
    Json params = kSmallPlans;
    params["loss"] = loss.toStdString();
    double learned = 0, random = 0;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      learned += std::log(best(space, search("xgb", space, seed, 120, params)));
      random += std::log(best(space, search("random", space, seed, 240)));
    }
    QVERIFY2(learned < random, qPrintable(QString("%1 against %2").arg(learned / 5).arg(random / 5)));
  }
  void diverse_plans_show_more_values() {
    const auto space = cube(12, 5);
    const auto values = [&](const Json& given) {
      const auto points = search("xgb", space, 3, 32, given);
      std::set<std::pair<size_t, int>> seen;
      for (size_t i = 16; i < points.size(); ++i) {
        const auto p = space.knob_positions(points[i]);
        for (size_t k = 0; k < p.size(); ++k) seen.insert({k, p[k]});
      }
      return seen.size();
    };
    Json diverse = kSmallPlans;
    diverse["diversity"] = 4;
    QVERIFY(values(diverse) > values(kSmallPlans));
  }
  void goes_on_at_random_when_everything_fails() {
    const auto space = cube(6, 3);
    QCOMPARE(search("xgb", space, 1, 100, kSmallPlans, true).size(), size_t{100});
  }
  void tunes_a_task_with_every_kind_of_feature_data() {
    QTest::addColumn<QString>("feature");
    for (const char* f : {"knob", "itervar", "curve", "stores"}) QTest::newRow(f) << f;
  }
  void tunes_a_task_with_every_kind_of_feature() {
    QFETCH(QString, feature);
    SessionOptions o = fixture::options(60, 8);
    o.tuner = "xgb";
    o.tuner_params = {{"feature", feature.toStdString()}, {"plan_size", 16}, {"iterations", 10}, {"walkers", 16}};
    fixture::Session a, b;
    QVERIFY(a.run({{fixture::dense(64, 64, 64), 1, {}}}, o));
    QCOMPARE(a.trials_of(0), 60);
    QVERIFY(b.run({{fixture::dense(64, 64, 64), 1, {}}}, o));
    QCOMPARE(a.trace(), b.trace());
  }
};

QTEST_APPLESS_MAIN(XgbTest)
#include "xgb_test.moc"
