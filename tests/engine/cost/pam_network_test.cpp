// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/pam_network.h"

#include <QtTest>
#include <cmath>

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
    for (size_t c = 0; c < columns; ++c) x.push_back((row[c] - weight(normaliser + "_shift", c)) / weight(normaliser, c));
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

}  // namespace

class PamNetworkTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// More candidates than are computed at a time, with and without the pattern, on one thread and on three.
  void itsScoresAreTheNetworks() {
    const FeatureMatrix x = learner_fixture::dataset(1, 150, true, 8).matrix();
    const PamNetwork network(learner_fixture::weights(learner::pam(), 5));
    const PamByHand by_hand(network.weights());
    const std::vector<float> scores = network.scores(x);
    QCOMPARE(scores.size(), size_t{150});
    for (const size_t c : {0UL, 1UL, 2UL, 127UL, 128UL, 149UL}) {
      const double right = by_hand.score({x.data() + x.begins()[c] * kRowColumns, (x.begins()[c + 1] - x.begins()[c]) * kRowColumns});
      QVERIFY2(std::abs(scores[c] - right) < 1e-3 * std::max(1.0, std::abs(right)), qPrintable(QStringLiteral("%1: %2 and %3").arg(c).arg(scores[c]).arg(right)));
    }
    WorkerPool workers(3);
    QCOMPARE(network.scores(x, &workers), scores);
    QVERIFY(network.scores(FeatureMatrix(std::span<const FeatureRows>())).empty());
  }
  /// Steps that are not eight are no pattern.
  void halfAPatternIsNone() {
    FeatureRows rows = learner_fixture::dataset(1, 2, true, 8).tasks()[0].samples[1].rows;
    QVERIFY(rows.values[(rows.count - 1) * kRowColumns] == 1);
    FeatureRows half = rows, none = rows;
    half.count -= 3, none.count -= kPatternRows;
    for (FeatureRows* r : {&half, &none}) r->values.resize(r->count * kRowColumns);
    const PamNetwork network(learner_fixture::weights(learner::pam(), 6));
    const std::vector<FeatureRows> all = {rows, half, none};
    const std::vector<float> scores = network.scores(FeatureMatrix(all));
    QCOMPARE(scores[1], scores[2]);
    QVERIFY(scores[0] != scores[2]);
  }
};

QTEST_APPLESS_MAIN(PamNetworkTest)
#include "pam_network_test.moc"
