// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>

#include "engine/cost/metrics.h"
#include "engine/cost/network_scores.h"
#include "engine/learner/learner.h"
#include "tests/engine/cost/model_fixture.h"
#include "tests/engine/learner/learner_fixture.h"

using namespace tw;
using namespace tw::cost;

namespace {

double accuracy(const CostModel& model, const Dataset& data) {
  const std::vector<double> labels = data.labels();
  return pairwise_accuracy(labels, *model.predict(data.matrix()));
}

Json quick(const Json& other = Json::object()) {
  Json p = {{"epochs", 20}, {"batch", 64}, {"threads", 2}};
  p.update(other);
  return p;
}

}  // namespace

class NeuralModelTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// libtorch's values of both networks are those of this process, candidates with and without the pattern side by side; normalised by the candidates they are others.
  void bothProcessesAgree() {
    TW_NEEDS_LEARNER;
    const FeatureMatrix patterns = learner_fixture::dataset(1, 12, true, 8).matrix(), statements = learner_fixture::felix_dataset(1, 12, 8).matrix();
    learner::Learner process;
    uint64_t version = 0;
    for (const learner::Network* network : {&learner::pam(), &learner::mlp(), &learner::felix()}) {
      const FeatureMatrix& x = network->kinds ? patterns : statements;
      const std::vector<uint32_t> begins(x.begins().begin(), x.begins().end());
      const std::vector<float> weights = learner_fixture::weights(*network, 5), here = make_network(*network, weights)->scores(x);
      const auto there = [&](bool own) { return process.predict(*network, weights, ++version, {x.data(), x.rows() * network->columns}, begins, own, 2); };
      const auto scores = there(false);
      QVERIFY2(scores, scores ? "" : scores.error().text().c_str());
      for (size_t c = 0; c < here.size(); ++c) QVERIFY(std::abs(here[c] - (*scores)[c]) < 1e-3 * std::max(1.0F, std::abs(here[c])));
      QCOMPARE(*there(true) != *scores, network == &learner::pam());
    }
  }

  void itTellsFastFromSlow_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("mlp") << "tenset-mlp";
    QTest::newRow("pam") << "pam";
  }
  /// Better than chance by far on candidates that it never saw, and no worse after an update with twice the data.
  void itTellsFastFromSlow() {
    TW_NEEDS_LEARNER;
    QFETCH(QString, name);
    const Dataset few = learner_fixture::dataset(1, 300, true, 1), more = learner_fixture::dataset(1, 500, true, 1), others = learner_fixture::dataset(1, 200, true, 2);
    const auto model = fixture::model(name.toLatin1(), quick());
    QVERIFY(!model->predict(others.matrix()));
    QVERIFY(model->fit(few, {3}));
    QCOMPARE(model->samples(), size_t{300});
    QCOMPARE(model->told()["updated"].get<bool>(), false);
    const double first = accuracy(*model, others);
    QVERIFY2(first > 0.7, qPrintable(QString::number(first)));
    QVERIFY(model->fit(more, {4}));
    QCOMPARE(model->told()["updated"].get<bool>(), true);
    QCOMPARE(model->told()["epochs"].get<int>(), 6);
    const double second = accuracy(*model, others);
    QVERIFY2(second > first - 0.02, qPrintable(QStringLiteral("%1 to %2").arg(first).arg(second)));
    QVERIFY(model->fit(learner_fixture::dataset(1, 700, true, 1), {5}));
    QCOMPARE(model->told()["updated"].get<bool>(), false);  // twice the data: from nothing
  }
  /// Felix's says the logarithm of speed itself, of several tasks, failures left out; goes on in smaller steps; and its derivatives are those of what it predicts.
  void felixPredictsLogarithms() {
    TW_NEEDS_LEARNER;
    Dataset data = learner_fixture::felix_dataset(2, 200, 1);
    data.add("0", FeatureRows{std::vector<float>(learner::kFelixRowColumns, 3.0F), 1}, 0);
    const auto model = fixture::model("felix", quick({{"least_steps", 400}}));
    QVERIFY(!model->slopes(data.matrix()));
    QVERIFY(model->fit(data, {3}));
    const Dataset others = learner_fixture::felix_dataset(2, 60, 2);
    const FeatureMatrix x = others.matrix();
    const auto said = model->predict(x);
    QVERIFY(said);
    double squares = 0, mean = 0;
    size_t at = 0;
    for (const auto& task : others.tasks())
      for (const auto& sample : task.samples) {
        mean += (*said)[at] / static_cast<double>(said->size());
        squares += std::pow((*said)[at++] - std::log(sample.speed), 2);
      }
    QVERIFY2(mean > 6 && mean < 8.5, qPrintable(QString::number(mean)));
    QVERIFY2(squares / static_cast<double>(at) < 0.5, qPrintable(QString::number(squares / static_cast<double>(at))));
    const auto slopes = model->slopes(x);
    QVERIFY(slopes);
    QCOMPARE(slopes->scores, *said);
    QCOMPARE(slopes->slopes.size(), x.rows() * x.columns());
    QVERIFY(model->fit(data, {4}));
    QCOMPARE(model->told()["updated"].get<bool>(), true);
    QCOMPARE(model->told()["learning_rate"].get<double>(), 1e-4);
    Dataset failures;
    failures.add("0", FeatureRows{std::vector<float>(learner::kFelixRowColumns, 3.0F), 1}, 0);
    QVERIFY(!model->fit(failures, {5}));
  }
  /// With momentum every fit begins with the slow weights, every so many calls, and these follow.
  void slowWeightsFollow() {
    TW_NEEDS_LEARNER;
    const Dataset source = learner_fixture::dataset(1, 200, true, 1), target = learner_fixture::dataset(1, 60, true, 3);
    const auto model = fixture::model("tenset-mlp", quick({{"momentum", 0.9}, {"every", 3}}));
    QVERIFY(model->fit(source, {1}));
    const auto of = [&] { return *model->predict(target.matrix()); };
    const std::vector<float> before = of();
    QVERIFY(model->fit(target, {2}) && model->fit(target, {2}));
    QCOMPARE(of(), before);  // two rounds without a fit
    QCOMPARE(model->samples(), size_t{200});
    QVERIFY(model->fit(target, {2}));
    QVERIFY(of() != before);
    QCOMPARE(model->samples(), size_t{60});
    QCOMPARE(model->told()["momentum"].get<double>(), 0.9);
    // A file keeps the slow weights and the count of rounds.
    QTemporaryDir folder;
    const std::string path = folder.filePath("moa.model").toStdString();
    QVERIFY(save_model(*model, path));
    const auto again = load_model(path);
    QVERIFY2(again, again ? "" : again.error().text().c_str());
    for (int call = 0; call < 3; ++call) QVERIFY(model->fit(target, {7}) && (*again)->fit(target, {7}));
    QCOMPARE(*(*again)->predict(target.matrix()), of());
  }
  /// A saved model as the source of one with other parameters; another's is refused.
  void aFileIsTheSourceOfAnother() {
    TW_NEEDS_LEARNER;
    QTemporaryDir folder;
    const std::string path = folder.filePath("source.model").toStdString();
    const Dataset data = learner_fixture::dataset(1, 80, true, 1);
    const auto source = fixture::model("tenset-mlp", quick());
    QVERIFY(source->fit(data, {1}) && save_model(*source, path));
    const ModelDef& def = *find_model("tenset-mlp");
    const Json params = *resolve_params(def.params, quick({{"momentum", 0.99}}));
    const auto model = load_model_as(path, def, *find_feature("pam"), params);
    QVERIFY2(model, model ? "" : model.error().text().c_str());
    QVERIFY((*model)->params() == params);
    QCOMPARE(*(*model)->predict(data.matrix()), *source->predict(data.matrix()));
    const auto other = load_model_as(path, *find_model("pam"), *find_feature("pam"), *resolve_params(find_model("pam")->params, quick()));
    QVERIFY(!other);
    QVERIFY2(other.error().text().find("tenset-mlp/pam-1") != std::string::npos, other.error().text().c_str());
  }
  /// Killed in mid-fit, it knows what it knew; the next fit starts another process.
  void aDeathLosesNothing() {
    TW_NEEDS_LEARNER;
    const Dataset data = learner_fixture::dataset(1, 100, true, 1), more = learner_fixture::dataset(1, 190, true, 1);
    const auto model = fixture::model("tenset-mlp", quick());
    QVERIFY(model->fit(data, {1}));
    const std::vector<float> before = *model->predict(data.matrix());
    QVERIFY(model->process() > 0);
    learner_fixture::end_process(model->process());
    const auto failed = model->fit(more, {2});
    QVERIFY(!failed);
    QCOMPARE(failed.error().code, ErrorCode::crash);
    QCOMPARE(*model->predict(data.matrix()), before);
    QCOMPARE(model->samples(), size_t{100});
    QVERIFY(model->fit(more, {2}));
    QCOMPARE(model->samples(), size_t{190});
  }
  void otherRowsAreRefused() {
    const auto model = fixture::model("pam", quick());
    const auto fitted = model->fit(fixture::hills(1, 10, 2, 1), {});
    QVERIFY(!fitted);
    QCOMPARE(fitted.error().code, ErrorCode::invalid_argument);
    QVERIFY(!model->fit(Dataset(), {}));
  }
};

QTEST_GUILESS_MAIN(NeuralModelTest)
#include "neural_test.moc"
