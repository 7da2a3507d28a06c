// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <set>

#include "engine/base/worker_pool.h"
#include "engine/cost/cost_model.h"
#include "engine/cost/draft/draft.h"
#include "engine/lower/lower.h"
#include "engine/schedule/fingerprint.h"
#include "engine/space/sketch/choices.h"
#include "engine/tune/strategy.h"
#include "tests/engine/lower/sample_dags.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::tune;

namespace {

/// Few and small generations.
Json small(const Json& other = Json::object()) {
  Json given = {{"population", 48}, {"generations", 2}, {"least_initial", 8}, {"first_fit", 8}, {"rounds", 20}};
  given.update(other);
  return *resolve_params(find_strategy("ansor")->params, given);
}

records::Record answer(const records::Task& task, const Proposal& p) {
  records::Record r;
  r.task_key = task.key;
  r.candidate = p.candidate;
  r.result.status = records::Status::ok;
  r.result.verified = true;
  r.result.samples_s = {measure::analytic_seconds(task, p.candidate, 1e10)};
  return r;
}

struct Search {
  explicit Search(const records::Task& t, uint64_t seed = 1, const Json& params = small(), WorkerPool* workers = nullptr)
      : task(t), strategy(make_strategy(*find_strategy("ansor"), {.task = task, .params = params, .space = "", .seed = seed, .workers = workers})) {}

  /// Asks for rounds of eight and answers them.
  std::vector<Proposal> rounds(int count) {
    std::vector<Proposal> all;
    for (int k = 0; k < count; ++k) {
      const std::vector<Proposal> batch = strategy->propose(8);
      std::vector<records::Record> answers;
      for (const Proposal& p : batch) answers.push_back(answer(task, p));
      strategy->observe(answers);
      all.insert(all.end(), batch.begin(), batch.end());
    }
    return all;
  }

  const records::Task& task;
  std::unique_ptr<Strategy> strategy;
};

std::vector<uint64_t> fingerprints(const std::vector<Proposal>& all) {
  std::vector<uint64_t> out;
  for (const Proposal& p : all) out.push_back(p.candidate.fingerprint);
  return out;
}

}  // namespace

class AnsorTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Schedules that apply, none twice, each with its choices by name.
  void proposesSchedules() {
    const records::Task task = fixture::dense(32, 48, 64);
    Search s(task);
    const auto all = s.rounds(4);
    QCOMPARE(all.size(), size_t{32});
    std::set<uint64_t> different;
    std::set<std::string> sketches;
    for (const Proposal& p : all) {
      QVERIFY(p.refused.empty() && p.candidate.index < 0 && p.candidate.space == "sketch");
      const auto schedule = schedule::Schedule::replay(task.dag, p.candidate.steps);
      QVERIFY2(schedule, schedule ? "" : schedule.error().text().c_str());
      QCOMPARE(schedule::fingerprint(*schedule), p.candidate.fingerprint);
      QVERIFY(different.insert(p.candidate.fingerprint).second);
      const auto choices = parse_json(p.candidate.config);
      QVERIFY(choices && choices->is_array() && choices->size() > 1);
      sketches.insert(space::sketch_of(p.candidate.config));
    }
    QVERIFY2(sketches.size() >= 2, "it looks at several sketches");
    QCOMPARE(s.strategy->spaces().front().name, std::string("sketch"));
  }
  /// A draft stands before the model, serves two rounds, and knows what is fast before anything was measured.
  void draftsBeforeItMeasures() {
    const records::Task task = fixture::dense(256, 256, 256);
    const Json drafting = small({{"draft", true}, {"draft_size", 24}, {"epsilon", 0.0}});
    const auto first_best = [&](const Json& params, uint64_t seed) {
      Search s(task, seed, params);
      double best = std::numeric_limits<double>::infinity();
      for (const Proposal& p : s.rounds(1)) {
        const std::vector<schedule::Step>& steps = p.candidate.steps;
        best = std::min(best, 1.0 / cost::draft_score(cost::symbol_features({.dag = task.dag, .target = task.target, .steps = &steps})->values, nullptr));
      }
      return best;
    };
    int faster = 0;
    for (uint64_t seed = 1; seed <= 5; ++seed) faster += first_best(drafting, seed) <= first_best(small(), seed);
    QVERIFY2(faster >= 4, qPrintable(QString::number(faster)));

    Search s(task, 1, drafting), again(task, 1, drafting);
    for (int round = 0; round < 3; ++round) {
      QCOMPARE(fingerprints(s.rounds(1)), fingerprints(again.rounds(1)));
      const Json told = s.strategy->told();
      QCOMPARE(told["drafted"].get<int>(), 24);
      QCOMPARE(told["generations"][0]["members"].get<int64_t>(), told["drawn"].get<int64_t>() + told["elites"].get<int64_t>() + 24);
    }
    QVERIFY(!Search(task).strategy->told().contains("drafted"));
  }
  /// What it did for a round adds up, and is the same with the same questions.
  void tellsHowItBred() {
    const records::Task task = fixture::dense(32, 48, 64);
    Search s(task), again(task);
    QVERIFY(s.strategy->told().is_null());
    for (int round = 0; round < 3; ++round) {
      s.rounds(1), again.rounds(1);
      const Json told = s.strategy->told();
      QCOMPARE(QString::fromStdString(dump_json(told)), QString::fromStdString(dump_json(again.strategy->told())));
      QCOMPARE(told["model"].get<bool>(), round > 0);
      QCOMPARE(told["elites"].get<int>() > 0, round > 0);
      QCOMPARE(told["generations"].size(), size_t{3});  // what it began with, and two that were bred
      QCOMPARE(told["generations"][0]["members"].get<int64_t>(), told["drawn"].get<int64_t>() + told["elites"].get<int64_t>());
      int64_t chosen = 0, legal = 0;
      for (const auto& [name, count] : told["chosen"].items()) chosen += count.get<int64_t>();
      QCOMPARE(chosen, int64_t{8});
      for (const auto& [name, m] : told["mutations"].items()) {
        QVERIFY(m["legal"].get<int64_t>() <= m["tried"].get<int64_t>());
        legal += m["legal"].get<int64_t>();
      }
      QVERIFY(legal > 0 && legal <= 2 * 48);
    }
  }
  /// With tensor cores, whose loops ask for more than limits know: what is proposed can be lowered.
  void proposesWhatTensorCoresTake() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {256, 256}, kFloat16), w = b.placeholder("w", {256, 256}, kFloat16, te::Role::constant);
    const te::DagPtr dag = std::move(b).finish({b.reduce(
        "dense", {256, 256}, {256}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense")});
    const records::Task task = records::make_task("dense", dag, parse_target("cuda:a100").value());
    Search s(task);
    int by_warps = 0;
    for (const Proposal& p : s.rounds(3)) {
      const auto schedule = schedule::Schedule::replay(task.dag, p.candidate.steps).value();
      const auto f = lower::lower(schedule, "f");
      QVERIFY2(f, f ? "" : (f.error().text() + "\n" + schedule::print_steps(schedule)).c_str());
      by_warps += std::any_of(schedule.stages().begin(), schedule.stages().end(), [](const schedule::Stage& st) { return st.warp_product.has_value(); });
    }
    QVERIFY(by_warps > 0);
  }
  void theSeedDecidesAndWorkersDoNot() {
    const records::Task task = fixture::dense(32, 48, 64);
    WorkerPool two(2);
    const auto first = fingerprints(Search(task).rounds(3));
    QCOMPARE(fingerprints(Search(task).rounds(3)), first);
    QCOMPARE(fingerprints(Search(task, 1, small(), &two).rounds(3)), first);
    QVERIFY(fingerprints(Search(task, 2).rounds(3)) != first);
  }
  /// The model speaks once it has learned, and what is known is not asked for again.
  void learns() {
    const records::Task task = fixture::dense(64, 96, 128);
    Search s(task);
    const auto first = s.rounds(1);
    QVERIFY(std::none_of(first.begin(), first.end(), [](const Proposal& p) { return p.prediction.has_value(); }));
    const auto later = s.rounds(3);
    for (const Proposal& p : later) {
      QVERIFY(p.prediction && p.prediction->samples >= 8);
      QCOMPARE(p.prediction->model, std::string("boosted-trees/ansor-1"));
    }
    Search told(task);
    std::vector<records::Record> records;
    for (const Proposal& p : first) records.push_back(answer(task, p));
    told.strategy->observe(records);
    const auto known = fingerprints(first);
    for (const uint64_t f : fingerprints(told.rounds(2))) QVERIFY(std::find(known.begin(), known.end(), f) == known.end());
  }
  /// One model for several tasks: what one taught, the next begins with. Told of the same again, it learns nothing twice.
  void tasksShareAModel() {
    const StrategyDef& def = *find_strategy("ansor");
    const records::Task task = fixture::dense(64, 96, 128), other = fixture::dense(32, 256, 64);
    QVERIFY(*def.shared_model(small({{"shared", false}}), task.target) == nullptr);
    cost::SharedModel shared{*def.shared_model(small(), task.target)};
    const auto make = [&](const records::Task& t) {
      return make_strategy(def, {.task = t, .params = small(), .space = "", .seed = 1, .shared_model = &shared});
    };
    const auto first = make(task), second = make(other);
    std::vector<records::Record> answers;
    for (const Proposal& p : first->propose(10)) answers.push_back(answer(task, p));
    first->observe(answers);
    QCOMPARE(shared.data.size(), size_t{10});
    for (const Proposal& p : second->propose(4)) QVERIFY(p.prediction && p.prediction->samples == 10);
    make(task)->observe(answers);
    QCOMPARE(shared.data.size(), size_t{10});
  }
  /// What has no template is tuned, until nothing is left.
  void tunesAnyComputation() {
    for (const auto& sample : tw::testing::sample_dags()) {
      const records::Task task = records::make_task(sample.name, sample.dag, Target());
      Search s(task);
      const auto all = s.rounds(2);
      QVERIFY2(!all.empty() || std::string_view(sample.name) == "gather" || std::string_view(sample.name) == "concat", sample.name);
      std::set<uint64_t> different;
      for (const Proposal& p : all) QVERIFY(different.insert(p.candidate.fingerprint).second);
    }
  }
  void gpusToo() {
    const records::Task cpu = fixture::dense(64, 64, 64);
    const records::Task task = records::make_task("dense", cpu.dag, parse_target("cuda:a100").value());
    for (const Proposal& p : Search(task, 1, small({{"exact", true}, {"population", 400}})).rounds(2)) QVERIFY(p.refused.empty() && !p.candidate.steps.empty());
  }
  /// A session with it: the best beats what it began with on a machine whose times are a formula.
  void aSessionFindsBetterOnes() {
    fixture::Session session;
    SessionOptions o = fixture::options(48);
    o.tuner = "ansor";
    o.tuner_params = small();
    const auto report = session.run({{fixture::dense(64, 64, 64), 1, {}}}, o);
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QCOMPARE(session.trials_of(0), int64_t{48});
    std::vector<double> seconds;
    for (const Event& e : session.events)
      if (const auto* t = std::get_if<TrialDone>(&e)) seconds.push_back(t->best_s);
    QVERIFY(seconds.back() < seconds.front());
  }
};

QTEST_APPLESS_MAIN(AnsorTest)
#include "ansor_test.moc"
