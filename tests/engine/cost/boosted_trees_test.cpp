// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/boosted_trees.h"

#include <QtTest>
#include <cmath>

#include "engine/base/rng.h"
#include "engine/cost/recall.h"

using namespace tw;
using namespace tw::cost;

namespace {

struct Data {
  std::vector<std::vector<float>> rows;
  std::vector<double> scores;
};

/// A smooth hill over two features, and one that says nothing.
Data hill(int count, uint64_t seed) {
  Rng rng(seed);
  Data d;
  for (int i = 0; i < count; ++i) {
    const double x = rng.uniform_real() * 4 - 2, y = rng.uniform_real() * 4 - 2;
    d.rows.push_back({static_cast<float>(x), static_cast<float>(y), static_cast<float>(rng.uniform_real())});
    d.scores.push_back(std::exp(-(x - 0.5) * (x - 0.5) - y * y));
  }
  return d;
}

}  // namespace

class BoostedTreesTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void orders_what_it_has_not_seen_data() {
    QTest::addColumn<int>("loss");
    QTest::newRow("rank") << static_cast<int>(Loss::rank);
    QTest::newRow("regression") << static_cast<int>(Loss::regression);
  }
  void orders_what_it_has_not_seen() {
    QFETCH(int, loss);
    const Data train = hill(400, 1), test = hill(300, 2);
    BoostingOptions o;
    o.loss = static_cast<Loss>(loss);
    const auto model = BoostedTrees::fit(FeatureMatrix(train.rows), train.scores, o);
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    QVERIFY(model->rounds() > 1);
    const auto predicted = model->predict(FeatureMatrix(test.rows));
    QVERIFY(predicted.has_value());
    const double recall = average_recall(test.scores, *predicted, 64);
    QVERIFY2(recall > 0.6, qPrintable(QString::number(recall)));  // chance: about 0.1
  }
  void regression_predicts_values() {
    const Data train = hill(400, 1);
    BoostingOptions o;
    o.loss = Loss::regression;
    const auto model = BoostedTrees::fit(FeatureMatrix(train.rows), train.scores, o);
    QVERIFY(model.has_value());
    const auto predicted = model->predict(FeatureMatrix(std::vector<std::vector<float>>{{0.5F, 0, 0.5F}, {-2, 2, 0.5F}}));
    QVERIFY(std::abs((*predicted)[0] - 1) < 0.2F && std::abs((*predicted)[1]) < 0.2F);
  }
  void same_data_same_model() {
    const Data d = hill(100, 3);
    const auto a = BoostedTrees::fit(FeatureMatrix(d.rows), d.scores, {}), b = BoostedTrees::fit(FeatureMatrix(d.rows), d.scores, {});
    QCOMPARE(*a->predict(FeatureMatrix(d.rows)), *b->predict(FeatureMatrix(d.rows)));
  }
  void short_and_long_rows_are_fitted() {
    const Data d = hill(100, 3);
    const auto model = BoostedTrees::fit(FeatureMatrix(d.rows), d.scores, {});
    std::vector<std::vector<float>> padded{{0.5F, 0, 0}, {0.5F}}, longer{{0.5F, 0, 0, 9, 9}};
    const auto p = model->predict(FeatureMatrix(padded));
    QCOMPARE((*p)[0], (*p)[1]);
    QCOMPARE((*model->predict(FeatureMatrix(longer)))[0], (*p)[0]);
    QVERIFY(model->predict(FeatureMatrix(std::vector<std::vector<float>>()))->empty());
  }
  void nothing_to_learn_from_is_an_error() {
    QCOMPARE(BoostedTrees::fit(FeatureMatrix(std::vector<std::vector<float>>()), {}, {}).error().code, ErrorCode::invalid_argument);
    const std::vector<double> one{1};
    QCOMPARE(BoostedTrees::fit(FeatureMatrix(std::vector<std::vector<float>>{{}}), one, {}).error().code, ErrorCode::invalid_argument);
  }
};

QTEST_APPLESS_MAIN(BoostedTreesTest)
#include "boosted_trees_test.moc"
