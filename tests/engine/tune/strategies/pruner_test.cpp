// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <atomic>
#include <thread>

#include "engine/tune/sketch_search.h"
#include "tests/engine/learner/learner_fixture.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::tune;

/// The tuners whose models are networks: one search with other parts.
class PrunerTest : public QObject {
  Q_OBJECT

  /// Few and small generations, short fits.
  static SessionOptions small(const char* tuner, int64_t trials, const Json& other = Json::object()) {
    SessionOptions o = fixture::options(trials);
    o.tuner = tuner;
    o.tuner_params = {{"population", 48}, {"generations", 1}, {"least_initial", 8}, {"first_fit", 8}, {"epochs", 4}, {"draft_size", 16}, {"threads", 1}};
    o.tuner_params.update(other);
    o.finalists = 0;
    return o;
  }
  static std::vector<std::string> notes(const fixture::Session& s) {
    std::vector<std::string> out;
    for (const Event& e : s.events)
      if (const auto* note = std::get_if<Note>(&e)) out.push_back(note->text);
    return out;
  }
  /// The model that each trial's prediction is from, each once, in their order.
  static std::vector<std::string> models(const fixture::Session& s) {
    std::vector<std::string> out;
    for (const records::Record& r : s.store.records())
      if (r.prediction && (out.empty() || out.back() != r.prediction->model)) out.push_back(r.prediction->model);
    return out;
  }

 private Q_SLOTS:
  /// What Pruner's release sets otherwise than Ansor's, and that Ansor can be given all of it.
  void itsDefaultsAreTheReleases() {
    const Json pruner = *resolve_params(find_strategy("pruner")->params, Json::object());
    QCOMPARE(pruner["population"].get<int>(), 1536);
    QCOMPARE(pruner["generations"].get<int>(), 1);
    QCOMPARE(pruner["draft_generations"].get<int>(), 2);
    QCOMPARE(pruner["draft_size"].get<int>(), 512);
    QCOMPARE(pruner["epsilon"].get<double>(), 0.1);
    QCOMPARE(pruner["measured"].get<double>(), 0.1);
    QVERIFY(resolve_params(find_strategy("ansor")->params, pruner_defaults()));
    const Json moa = *resolve_params(find_strategy("moa-pruner")->params, Json::object());
    QCOMPARE(moa["momentum"].get<double>(), 0.99);
    QCOMPARE(moa["every"].get<int>(), 4);
    QCOMPARE(resolve_params(find_strategy("pruner-offline")->params, Json::object()).value()["learns"].get<bool>(), false);
  }
  void theModelSuitsTheTarget() {
    const Json params = *resolve_params(find_strategy("pruner")->params, Json::object());
    const auto name = [&](const char* target) { return std::string((*sketch_model(pruner_parts(), params, parse_target(target).value()))->def().name); };
    QCOMPARE(name("cuda:a100"), std::string("pam"));
    QCOMPARE(name("llvm"), std::string("tenset-mlp"));
  }
  /// What begins with a network and is given none has the program's; where that has none for the device, the sentence says what to do. Another device's serves the tuner that adapts it.
  void aSourceIsNeeded() {
    const auto model = [](const char* tuner, const SketchParts& parts, const Json& given, const char* target) {
      return sketch_model(parts, *resolve_params(find_strategy(tuner)->params, given), parse_target(target).value());
    };
    for (const auto& [tuner, parts, given] : {std::tuple("pruner-offline", &pruner_offline_parts(), Json::object()), {"pruner", &pruner_parts(), {{"model_file", "pretrained"}}}}) {
      const auto none = model(tuner, *parts, given, "cuda:t4");
      QVERIFY(!none);
      QCOMPARE(none.error().code, ErrorCode::not_found);
      QVERIFY2(!none.error().notes.empty() && none.error().notes.front().find("model_file") != std::string::npos, none.error().text().c_str());
      QVERIFY((*model(tuner, *parts, given, "cuda:a100"))->samples() > 0);
    }
    QVERIFY((*model("moa-pruner", moa_pruner_parts(), Json::object(), "cuda:t4"))->samples() > 0);
    QCOMPARE((*model("pruner", pruner_parts(), Json::object(), "cuda:a100"))->samples(), size_t{0});
  }

  /// A session of each: it learns from what is measured, says how, and the same seed gives the same trials.
  void sessionsLearn_data() {
    QTest::addColumn<QString>("tuner");
    QTest::newRow("tenset-mlp") << "tenset-mlp";
    QTest::newRow("pruner") << "pruner";
  }
  void sessionsLearn() {
    TW_NEEDS_LEARNER;
    QFETCH(QString, tuner);
    std::vector<uint64_t> first;
    for (int turn = 0; turn < 2; ++turn) {
      fixture::Session s;
      const auto report = s.run({{fixture::dense(64, 96, 128), 1, {}}}, small(tuner.toLatin1(), 33));
      QVERIFY2(report, report ? "" : report.error().text().c_str());
      QCOMPARE(models(s), std::vector<std::string>{"tenset-mlp/pam-1"});
      QVERIFY(notes(s).empty());
      bool told = false;
      for (const records::Round& r : report->rounds) {
        const Json search = parse_json(r.decision).value().value("search", Json());
        told = told || (search.is_object() && search.contains("fit") && search["fit"]["samples"].get<int>() >= 8);
        if (search.is_object()) QCOMPARE(search.contains("drafted"), tuner == QLatin1String("pruner"));
      }
      QVERIFY(told);
      std::vector<uint64_t> fingerprints;
      for (const records::Record& r : s.store.records()) fingerprints.push_back(r.candidate.fingerprint);
      if (turn == 0) first = fingerprints;
      QCOMPARE(fingerprints, first);
    }
  }
  /// From a file: offline it never learns, with momentum it does every fourth round.
  void aSourceIsUsed() {
    TW_NEEDS_LEARNER;
    QTemporaryDir folder;
    const std::string path = folder.filePath("source.model").toStdString();
    const cost::ModelDef& def = *cost::find_model("tenset-mlp");
    const auto source = def.make(def, *cost::find_feature("pam"), *resolve_params(def.params, {{"epochs", 2}}));
    QVERIFY(source->fit(learner_fixture::dataset(1, 50, false, 1), {1}) && cost::save_model(*source, path));
    const auto samples = [&](const char* tuner) {
      fixture::Session s;
      const auto report = s.run({{fixture::dense(64, 96, 128), 1, {}}}, small(tuner, 57, {{"model_file", path}}));
      if (!report) qFatal("%s", report.error().text().c_str());
      std::vector<int64_t> out;
      for (const records::Record& r : s.store.records())
        if (r.prediction && (out.empty() || out.back() != r.prediction->samples)) out.push_back(r.prediction->samples);
      return out;
    };
    QCOMPARE(samples("pruner-offline"), std::vector<int64_t>{50});
    const std::vector<int64_t> moa = samples("moa-pruner");
    QCOMPARE(moa.size(), size_t{2});
    QCOMPARE(moa.front(), int64_t{50});
    QVERIFY(moa.back() > 8);
  }

  /// Killed in mid-run, the session goes on with what the network had learned, says so, and fits again.
  void itsProcessMayDie() {
    TW_NEEDS_LEARNER;
    const records::Task task = fixture::dense(64, 96, 128);
    const Json params = *resolve_params(find_strategy("tenset-mlp")->params, small("tenset-mlp", 1).tuner_params);
    cost::SharedModel shared{*sketch_model(tenset_mlp_parts(), params, task.target)};
    const auto search = make_strategy(*find_strategy("tenset-mlp"), {.task = task, .params = params, .space = "", .seed = 1, .shared_model = &shared});
    const auto round = [&] {
      std::vector<records::Record> answers;
      for (const Proposal& p : search->propose(8)) {
        records::Record& r = answers.emplace_back();
        r.task_key = task.key, r.candidate = p.candidate, r.prediction = p.prediction;
        r.result.status = records::Status::ok, r.result.verified = true;
        r.result.samples_s = {measure::analytic_seconds(task, p.candidate, 1e10)};
      }
      search->observe(answers);
      return answers;
    };
    round(), round(), round();
    QVERIFY(shared.model->process() > 0 && !search->told().contains("note"));
    const size_t samples = shared.model->samples();
    learner_fixture::end_process(shared.model->process());
    const auto after = round();
    QCOMPARE(after.size(), size_t{8});
    const std::string note = search->told()["note"].get<std::string>();
    QVERIFY2(note.find("SIGKILL") != std::string::npos && note.find(std::to_string(samples)) != std::string::npos, note.c_str());
    QVERIFY(after.front().prediction && after.front().prediction->samples == static_cast<int64_t>(samples));
    const auto later = round();
    QVERIFY(!search->told().contains("note"));
    QVERIFY(later.front().prediction->samples > static_cast<int64_t>(samples));
  }
  /// Where the process dies each time, trees stand in for good, and it is said once.
  void treesStandIn() {
    TW_NEEDS_LEARNER;
    const records::Task task = fixture::dense(64, 96, 128);
    const Json params = *resolve_params(find_strategy("pruner")->params, small("pruner", 1, {{"epochs", 10'000}}).tuner_params);
    cost::SharedModel shared{*sketch_model(pruner_parts(), params, task.target)};
    cost::CostModel* network = shared.model.get();
    const auto search = make_strategy(*find_strategy("pruner"), {.task = task, .params = params, .space = "", .seed = 1, .shared_model = &shared});
    std::vector<std::string> said;
    std::atomic<bool> over = false;
    std::thread killer([&] {  // whatever process there is
      while (!over) {
        QThread::msleep(20);
        for (const pid_t child : learner_fixture::children("tw-learner")) learner_fixture::end_process(child);
      }
    });
    for (int k = 0; k < 6; ++k) {
      std::vector<records::Record> answers;
      for (const Proposal& p : search->propose(8)) {
        records::Record& r = answers.emplace_back();
        r.task_key = task.key, r.candidate = p.candidate;
        r.result.status = records::Status::ok, r.result.verified = true;
        r.result.samples_s = {measure::analytic_seconds(task, p.candidate, 1e10)};
      }
      QCOMPARE(answers.size(), size_t{8});
      search->observe(answers);
      if (search->told().contains("note")) said.push_back(search->told()["note"].get<std::string>());
    }
    over = true;
    killer.join();
    QVERIFY(shared.model.get() != network);
    QCOMPARE(std::string(shared.model->def().name), std::string("boosted-trees"));
    QVERIFY(shared.model->samples() >= 32);
    QCOMPARE(said.size(), size_t{4});  // three deaths, by the draft's formula, then the trees
    QVERIFY2(said.front().find("by the draft's formula") != std::string::npos, said.front().c_str());
    QVERIFY2(said.back().find("'boosted-trees' stands in for 'tenset-mlp'") != std::string::npos, said.back().c_str());
  }
};

QTEST_GUILESS_MAIN(PrunerTest)
#include "pruner_test.moc"
