// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/mlp.h"

#include <QtTest>

#include "tests/engine/learner/learner_fixture.h"

using namespace tw;
using namespace tw::cost;

namespace {

using learner::kHidden;

/// The same computed number by number in double.
class ByHand {
 public:
  explicit ByHand(const Mlp& mlp, const learner::Network& network) : network_(network), weights_(mlp.weights()) {}

  double score(std::span<const float> rows) const {
    std::vector<double> sum(kHidden, 0);
    for (size_t r = 0; r < rows.size() / network_.columns; ++r) {
      const float* row = &rows[r * network_.columns];
      if (network_.kinds && row[0] != 0) continue;
      std::vector<double> x;
      for (size_t c = 0; c < network_.statement; ++c) x.push_back((row[network_.first() + c] - double{weight("normaliser.rows_shift", c)}) / weight("normaliser.rows", c));
      x = relu(dense("segment_encoder.2", relu(dense("segment_encoder.0", x))));
      for (size_t c = 0; c < x.size(); ++c) sum[c] += x[c];
    }
    for (const char* layer : {"l0", "l1"}) {
      const std::vector<double> more = relu(dense(layer, sum));
      for (size_t c = 0; c < sum.size(); ++c) sum[c] += more[c];
    }
    return dense("decoder", sum)[0];
  }

 private:
  float weight(const std::string& tensor, size_t i) const { return weights_[network_.offset(tensor) + i]; }
  std::vector<double> dense(const std::string& layer, const std::vector<double>& x) const {
    std::vector<double> y;
    const size_t outputs = network_.tensor(layer + ".bias").elements();
    const float *w = &weights_[network_.offset(layer + ".weight")], *bias = &weights_[network_.offset(layer + ".bias")];
    for (size_t o = 0; o < outputs; ++o) {
      double sum = bias[o];
      for (size_t i = 0; i < x.size(); ++i) sum += w[o * x.size() + i] * x[i];
      y.push_back(sum);
    }
    return y;
  }
  static std::vector<double> relu(std::vector<double> x) {
    for (double& v : x) v = std::max(v, 0.0);
    return x;
  }

  const learner::Network& network_;
  const std::vector<float>& weights_;
};

/// With a normaliser as data has them.
std::vector<float> weights(const learner::Network& network, uint64_t seed) {
  std::vector<float> out = network.initial(seed);
  Rng rng(seed);
  for (size_t c = 0; c < network.statement; ++c) out[network.offset("normaliser.rows") + c] = static_cast<float>(1 + rng.uniform_real() * 9);
  for (size_t c = 0; c < network.statement; ++c) out[network.offset("normaliser.rows_shift") + c] = static_cast<float>(rng.uniform_real());
  return out;
}

const learner::Network& network_of(bool felix) { return felix ? learner::felix() : learner::mlp(); }
FeatureMatrix candidates(bool felix, int count, uint64_t seed) {
  return (felix ? learner_fixture::felix_dataset(1, count, seed) : learner_fixture::dataset(1, count, true, seed)).matrix();
}

}  // namespace

class MlpTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void itsScoresAreTheNetworks_data() {
    QTest::addColumn<bool>("felix");
    QTest::newRow("TenSet's") << false;
    QTest::newRow("Felix's") << true;
  }
  /// More candidates than are computed at a time, TenSet's with steps of patterns among their rows.
  void itsScoresAreTheNetworks() {
    QFETCH(bool, felix);
    const FeatureMatrix x = candidates(felix, 300, 5);
    const Mlp mlp(network_of(felix), weights(network_of(felix), 3));
    const std::vector<float> scores = mlp.scores(x);
    QCOMPARE(scores.size(), size_t{300});
    const ByHand by_hand(mlp, network_of(felix));
    QCOMPARE(mlp.scored(x).scores, scores);
    for (const size_t c : {0UL, 1UL, 127UL, 128UL, 255UL, 299UL}) {
      const double right = by_hand.score({x.data() + x.begins()[c] * x.columns(), (x.begins()[c + 1] - x.begins()[c]) * x.columns()});
      QVERIFY2(std::abs(scores[c] - right) < 1e-4, qPrintable(QStringLiteral("%1: %2 and %3").arg(c).arg(scores[c]).arg(right)));
    }
    QVERIFY(mlp.scores(FeatureMatrix(std::span<const FeatureRows>())).empty());
  }
  void itsGradientIsTheSlope_data() { itsScoresAreTheNetworks_data(); }
  /// A small step of a number changes the score by its derivative.
  void itsGradientIsTheSlope() {
    QFETCH(bool, felix);
    const FeatureMatrix x = candidates(felix, 3, 6);
    const Mlp mlp(network_of(felix), weights(network_of(felix), 4));
    const ByHand by_hand(mlp, network_of(felix));
    const std::vector<float> gradient = mlp.scored(x).gradient;
    QCOMPARE(gradient.size(), x.rows() * x.columns());
    double largest = 0;
    for (size_t c = 0; c < x.candidates(); ++c) {
      std::vector<float> rows(x.data() + x.begins()[c] * x.columns(), x.data() + x.begins()[c + 1] * x.columns());
      for (const size_t at : {1UL, 7UL, 100UL, network_of(felix).statement - 1}) {
        const float before = rows[at], step = 1e-3F;
        rows[at] = before + step;
        const double after = by_hand.score(rows);
        rows[at] = before - step;
        const double slope = (after - by_hand.score(rows)) / (2.0 * step);
        rows[at] = before;
        const double said = gradient[x.begins()[c] * x.columns() + at];
        QVERIFY2(std::abs(said - slope) < 2e-4, qPrintable(QStringLiteral("%1 %2: %3 and %4").arg(c).arg(at).arg(said).arg(slope)));
        largest = std::max(largest, std::abs(said));
      }
      if (!felix) QCOMPARE(gradient[x.begins()[c] * x.columns()], 0.0F);  // what a row is, is no number to change
    }
    QVERIFY(largest > 1e-3);
  }
  /// Columns that are the same in all candidates, each place of a row its own: scores and slopes by the others are as if nobody had said so, and there are none by them.
  void whatIsFixed() {
    constexpr size_t kRows = 3, kColumns = learner::kFelixRowColumns;
    Rng rng(8);
    std::vector<char> fixed;
    std::vector<float> shared;
    for (size_t k = 0; k < kRows * kColumns; ++k) {
      fixed.push_back(rng.uniform_real() < 0.7);
      shared.push_back(static_cast<float>(rng.uniform_real() * 20));
    }
    std::vector<FeatureRows> rows(150, {shared, kRows});
    for (FeatureRows& r : rows)
      for (size_t k = 0; k < fixed.size(); ++k)
        if (!fixed[k]) r.values[k] = static_cast<float>(rng.uniform_real() * 20);
    FeatureMatrix x(rows);
    const Mlp mlp(learner::felix(), weights(learner::felix(), 5));
    const Mlp::Scored whole = mlp.scored(x);
    x.fix(fixed);
    const Mlp::Scored found = mlp.scored(x);
    const std::vector<float> scores = mlp.scores(x);
    double largest = 0;
    for (size_t c = 0; c < rows.size(); ++c) {
      QVERIFY(std::abs(found.scores[c] - whole.scores[c]) < 1e-4);
      QCOMPARE(scores[c], found.scores[c]);
      for (size_t k = 0; k < fixed.size(); ++k) {
        const float said = found.gradient[c * fixed.size() + k], right = whole.gradient[c * fixed.size() + k];
        if (fixed[k]) QCOMPARE(said, 0.0F);
        else QVERIFY2(std::abs(said - right) < 1e-4, qPrintable(QStringLiteral("%1 %2: %3 and %4").arg(c).arg(k).arg(said).arg(right)));
        largest = std::max<double>(largest, std::abs(said));
      }
    }
    QVERIFY(largest > 1e-3);
  }
};

QTEST_APPLESS_MAIN(MlpTest)
#include "mlp_test.moc"
