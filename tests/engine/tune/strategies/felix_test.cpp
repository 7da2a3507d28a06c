// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <set>

#include "engine/lower/lower.h"
#include "engine/schedule/fingerprint.h"
#include "engine/tune/seed_descent.h"
#include "engine/tune/strategy.h"
#include "tests/engine/learner/learner_fixture.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::tune;

namespace {

/// Few seeds and steps, and a network that is fitted soon.
Json felix_params(const Json& other = Json::object()) {
  Json given = {{"seeds", 8}, {"steps", 10}, {"later_steps", 6}, {"first_fit", 16}, {"model_file", "none"}, {"epochs", 4}, {"least_steps", 30}, {"update_steps", 10}, {"threads", 2}};
  given.update(other);
  return *resolve_params(find_strategy("felix")->params, given);
}

records::Task on_gpu(records::Task task) { return records::make_task(task.name, task.dag, parse_target("cuda:a100").value()); }

struct FelixSearch {
  FelixSearch(const records::Task& t, const Json& params, uint64_t seed = 1) : task(t), strategy(make_strategy(*find_strategy("felix"), {.task = task, .params = params, .space = "", .seed = seed})) {}

  /// Asks for rounds of eight and answers them.
  std::vector<Proposal> rounds(int count) {
    std::vector<Proposal> all;
    for (int k = 0; k < count; ++k) {
      const std::vector<Proposal> batch = strategy->propose(8);
      std::vector<records::Record> answers;
      for (const Proposal& p : batch) {
        records::Record r;
        r.task_key = task.key;
        r.candidate = p.candidate;
        r.result.status = records::Status::ok;
        r.result.verified = true;
        r.result.samples_s = {measure::analytic_seconds(task, p.candidate, 1e10)};
        answers.push_back(std::move(r));
      }
      strategy->observe(answers);
      all.insert(all.end(), batch.begin(), batch.end());
    }
    return all;
  }

  const records::Task& task;
  std::unique_ptr<Strategy> strategy;
};

}  // namespace

class FelixTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void descends_data() {
    QTest::addColumn<bool>("gpu");
    QTest::newRow("processor") << false;
    QTest::newRow("GPU") << true;
  }
  /// Seeds as they are drawn, then what a fitted model's slope leads to; all of them lower, none is there twice, and what was done is told.
  void descends() {
    TW_NEEDS_LEARNER;
    QFETCH(bool, gpu);
    const records::Task task = gpu ? on_gpu(fixture::dense(64, 96, 128)) : fixture::dense(64, 96, 128);
    FelixSearch s(task, felix_params());
    std::vector<Proposal> all = s.rounds(2);
    QCOMPARE(s.strategy->told()["model"].get<bool>(), false);
    QVERIFY(!s.strategy->told().contains("descent"));
    const auto later = s.rounds(2);
    const Json told = s.strategy->told();
    QVERIFY2(told["model"].get<bool>(), dump_json(told).c_str());
    QVERIFY(told["chosen"].value("descent", 0) > 0);
    QVERIFY(!told["descent"].empty());
    const Json& way = told["descent"][0];
    QCOMPARE(way["steps"].get<int>(), 6);  // the second round of it
    QCOMPARE(way["score"].size(), size_t{7});
    QCOMPARE(way["variables"].size(), way["most"].size());
    for (const Json& one : told["descent"])
      for (const auto& [seed, points] : one["ways"].items()) QCOMPARE(points.size(), size_t{7});
    all.insert(all.end(), later.begin(), later.end());
    QVERIFY2(all.size() >= 28 && all.size() <= 32, qPrintable(QString::number(all.size())));  // a seed that does not lower leaves its place empty
    std::set<uint64_t> different;
    for (const Proposal& p : all) {
      QVERIFY(p.refused.empty() && p.candidate.space == "sketch");
      const auto schedule = schedule::Schedule::replay(task.dag, p.candidate.steps);
      QVERIFY(schedule && lower::lower(*schedule, "candidate"));
      QVERIFY(different.insert(schedule::fingerprint(*schedule)).second);
    }
    QVERIFY(later.back().prediction && later.back().prediction->score > 0);
  }
  void aNetworkIsFittedBeforeEveryRoundFromThe32ndTrialOn() {
    TW_NEEDS_LEARNER;
    const records::Task task = on_gpu(fixture::dense(64, 96, 128));
    FelixSearch s(task, felix_params({{"first_fit", 32}}));
    s.rounds(5);
    QCOMPARE(s.strategy->told()["fit"]["samples"].get<int>(), 32);
    s.rounds(1);
    QCOMPARE(s.strategy->told()["fit"]["samples"].get<int>(), 40);
  }
  void theSameSeedProposesTheSame() {
    TW_NEEDS_LEARNER;
    const records::Task task = on_gpu(fixture::dense(64, 96, 128));
    FelixSearch a(task, felix_params()), b(task, felix_params()), c(task, felix_params(), 2);
    const auto one = a.rounds(4), other = b.rounds(4), another = c.rounds(4);
    bool same = true;
    for (size_t i = 0; i < one.size(); ++i) {
      QCOMPARE(one[i].candidate.fingerprint, other[i].candidate.fingerprint);
      same = same && one[i].candidate.fingerprint == another[i].candidate.fingerprint;
    }
    QVERIFY(!same);
  }
  /// A resumed session tells of what was measured: that is not proposed again.
  void whatWasMeasuredIsNotProposedAgain() {
    const records::Task task = on_gpu(fixture::dense(64, 96, 128));
    const Json params = felix_params({{"learns", false}});
    FelixSearch first(task, params), second(task, params);
    std::set<uint64_t> known;
    std::vector<records::Record> records;
    for (const Proposal& p : first.rounds(2)) {
      known.insert(p.candidate.fingerprint);
      records::Record r;
      r.task_key = task.key;
      r.candidate = p.candidate;
      r.result.status = records::Status::ok;
      r.result.samples_s = {1e-3};
      records.push_back(std::move(r));
    }
    QCOMPARE(known.size(), size_t{16});
    second.strategy->observe(records);
    for (const Proposal& p : second.rounds(2)) QVERIFY(known.insert(p.candidate.fingerprint).second);
  }
  /// Half of a round is measured near the best that is known.
  void someSeedsBeginBesideTheBest() {
    const records::Task task = on_gpu(fixture::dense(64, 96, 128));
    for (const double kept : {0.0, 0.5}) {
      FelixSearch s(task, felix_params({{"model_file", ""}, {"learns", false}, {"kept", kept}}));
      s.rounds(2);
      const Json told = s.strategy->told();
      QVERIFY2(told["model"].get<bool>(), dump_json(told).c_str());
      QCOMPARE(told["chosen"].value("beside the best", 0) > 0, kept > 0);
    }
  }
  /// An untuned schedule that no descent expresses is left to ansor, as a sketch is.
  void anUntunedScheduleIsNotForgotten() {
    const records::Task task = on_gpu(fixture::dense(256, 256, 256));
    const DescentSketches found = descent_sketches(task, {}, {});
    QVERIFY(!found.all.empty());
    QVERIFY(std::any_of(found.left_out.begin(), found.left_out.end(), [](const auto& s) { return s.first == "default"; }));
    FelixSearch s(task, felix_params({{"learns", false}, {"others", 0.5}}));
    s.rounds(1);
    QCOMPARE(s.strategy->told()["chosen"].value("ansor", 0), 4);
  }
  /// What no descent expresses is searched as by ansor, and said.
  void elementwiseTasksAreTuned() {
    const records::Task task = fixture::elementwise(4096);
    FelixSearch s(task, felix_params({{"learns", false}}));
    const auto all = s.rounds(1);
    QVERIFY(!all.empty());
    const Json told = s.strategy->told();
    if (told.contains("left_out"))
      for (const Json& out : told["left_out"]) QVERIFY(out["tuner"] == "ansor" && !out["reason"].get<std::string>().empty());
  }
};

QTEST_APPLESS_MAIN(FelixTest)
#include "felix_test.moc"
