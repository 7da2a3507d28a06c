// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>

#include "engine/cost/metrics.h"
#include "engine/cost/mlp.h"
#include "engine/learner/learner.h"
#include "tests/engine/cost/model_fixture.h"
#include "tests/engine/learner/learner_fixture.h"

using namespace tw;
using namespace tw::cost;

namespace {

using learner::kHidden;
using learner::kPatternColumns;
using learner::kPatternRows;
using learner::kRowColumns;
using learner::kStatementColumns;

/// Pruner's network computed number by number in double, from its description.
class PamByHand {
 public:
  explicit PamByHand(const std::vector<float>& weights) : weights_(weights) {}

  double score(std::span<const float> rows) const {
    std::vector<double> h(kHidden + learner::kAttention, 0);
    std::vector<std::vector<double>> steps;
    for (size_t r = 0; r < rows.size() / kRowColumns; ++r) {
      const float* row = &rows[r * kRowColumns];
      if (row[0] == 0) {
        const auto x = encoded("segment_encoder", row + 1, kStatementColumns, "normaliser.rows");
        for (size_t c = 0; c < x.size(); ++c) h[c] += x[c];
      } else {
        steps.push_back(encoded("gemm_encoder", row + 1 + kStatementColumns, kPatternColumns, "normaliser.pattern"));
      }
    }
    if (steps.size() == kPatternRows) {
      const auto g = attended(steps);
      std::copy(g.begin(), g.end(), h.begin() + kHidden);
    }
    h = relu(dense("fuse.0.weight", "fuse.0.bias", h));
    for (size_t c = 0; c < h.size(); ++c)
      h[c] = (h[c] - weight("norm.running_mean", c)) / std::sqrt(weight("norm.running_var", c) + 1e-5) * weight("norm.weight", c) + weight("norm.bias", c);
    for (const std::string layer : {"l0", "l1"}) {
      const auto more = relu(dense(layer + ".weight", layer + ".bias", h));
      for (size_t c = 0; c < h.size(); ++c) h[c] += more[c];
    }
    return dense("decoder.weight", "decoder.bias", h)[0];
  }

 private:
  double weight(const std::string& tensor, size_t i) const { return weights_[learner::pam().offset(tensor) + i]; }
  std::vector<double> dense(const std::string& w, const std::string& bias, const std::vector<double>& x) const {
    std::vector<double> y;
    const size_t outputs = learner::pam().tensor(bias).elements();
    const float *weights = &weights_[learner::pam().offset(w)], *biases = &weights_[learner::pam().offset(bias)];
    for (size_t o = 0; o < outputs; ++o) {
      double sum = biases[o];
      for (size_t i = 0; i < x.size(); ++i) sum += weights[o * x.size() + i] * x[i];
      y.push_back(sum);
    }
    return y;
  }
  static std::vector<double> relu(std::vector<double> x) {
    for (double& v : x) v = std::max(v, 0.0);
    return x;
  }
  std::vector<double> encoded(const std::string& encoder, const float* row, size_t columns, const std::string& normaliser) const {
    std::vector<double> x;
    for (size_t c = 0; c < columns; ++c) x.push_back(row[c] / weight(normaliser, c));
    x = relu(dense(encoder + ".0.weight", encoder + ".0.bias", x));
    return relu(dense(encoder + ".2.weight", encoder + ".2.bias", x));
  }
  /// Four heads of 32 numbers: each step asks all, and what it hears is added to it.
  std::vector<double> attended(const std::vector<std::vector<double>>& steps) const {
    constexpr size_t kWide = learner::kAttention, kHead = kWide / learner::kHeads;
    std::vector<std::vector<double>> all;
    for (const auto& s : steps) all.push_back(dense("attention.in_proj_weight", "attention.in_proj_bias", s));
    std::vector<double> out(kWide, 0);
    for (size_t i = 0; i < steps.size(); ++i) {
      std::vector<double> heard(kWide, 0);
      for (size_t head = 0; head < kWide; head += kHead) {
        std::vector<double> weights;
        double sum = 0;
        for (size_t j = 0; j < steps.size(); ++j) {
          double product = 0;
          for (size_t c = head; c < head + kHead; ++c) product += all[i][c] * all[j][kWide + c];
          weights.push_back(std::exp(product / std::sqrt(static_cast<double>(kHead))));
          sum += weights.back();
        }
        for (size_t j = 0; j < steps.size(); ++j)
          for (size_t c = head; c < head + kHead; ++c) heard[c] += weights[j] / sum * all[j][2 * kWide + c];
      }
      const auto said = dense("attention.out_proj.weight", "attention.out_proj.bias", heard);
      for (size_t c = 0; c < kWide; ++c) out[c] += said[c] + steps[i][c];
    }
    return out;
  }

  const std::vector<float>& weights_;
};

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
  /// libtorch's values of Pruner's network are those of its description; candidates with and without the pattern side by side.
  void itsNetworkIsPruners() {
    TW_NEEDS_LEARNER;
    const Dataset data = learner_fixture::dataset(1, 12, true, 8);
    const FeatureMatrix x = data.matrix();
    std::vector<float> weights = learner::pam().initial(5);
    Rng rng(9);
    for (const char* changed : {"normaliser.rows", "normaliser.pattern", "norm.running_var", "norm.running_mean", "norm.weight", "attention.in_proj_bias"})
      for (size_t c = 0; c < learner::pam().tensor(changed).elements(); ++c) weights[learner::pam().offset(changed) + c] = static_cast<float>(1 + rng.uniform_real());
    learner::Learner process;
    const std::vector<uint32_t> begins(x.begins().begin(), x.begins().end());
    const auto scores = process.predict(learner::pam(), weights, 1, {x.data(), x.rows() * kRowColumns}, begins, false, 2);
    QVERIFY2(scores, scores ? "" : scores.error().text().c_str());
    const PamByHand by_hand(weights);
    for (size_t c = 0; c < x.candidates(); ++c) {
      const double right = by_hand.score({x.data() + begins[c] * kRowColumns, (begins[c + 1] - begins[c]) * kRowColumns});
      QVERIFY2(std::abs((*scores)[c] - right) < 1e-3 * std::max(1.0, std::abs(right)), qPrintable(QStringLiteral("%1: %2 and %3").arg(c).arg((*scores)[c]).arg(right)));
    }
    // The candidates' own statistics are others.
    QVERIFY(*process.predict(learner::pam(), weights, 1, {x.data(), x.rows() * kRowColumns}, begins, true, 2) != *scores);
    // TenSet's, in both processes.
    const std::vector<float> small = learner::mlp().initial(6);
    const auto there = process.predict(learner::mlp(), small, 2, {x.data(), x.rows() * kRowColumns}, begins, false, 1);
    const std::vector<float> here = Mlp(small).scores(x);
    for (size_t c = 0; c < here.size(); ++c) QVERIFY(std::abs(here[c] - (*there)[c]) < 1e-4);
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
