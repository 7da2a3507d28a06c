// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>
#include <set>

#include "engine/cost/metrics.h"
#include "tests/engine/cost/model_fixture.h"

using namespace tw;
using namespace tw::cost;
using fixture::hills;

class RandomModelTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void knows_nothing_and_says_so_evenly() {
    const auto model = fixture::model("random");
    const Dataset data = hills(1, 400, 3, 1);
    QCOMPARE(model->predict(data.matrix()).error().code, ErrorCode::not_applicable);
    QVERIFY(model->fit(data, {1}));
    QCOMPARE(model->samples(), size_t{400});
    const std::vector<float> scores = *model->predict(data.matrix());
    QVERIFY(*std::min_element(scores.begin(), scores.end()) >= 0 && *std::max_element(scores.begin(), scores.end()) < 1);
    QCOMPARE(std::set<float>(scores.begin(), scores.end()).size(), scores.size());
    QVERIFY(std::abs(pairwise_accuracy(data.labels(), scores) - 0.5) < 0.1);
    const std::vector<float> margins(400, 2);
    QCOMPARE((*model->predict(data.matrix(), margins))[5], scores[5] + 2);
  }
  void seed_and_features_decide() {
    const auto a = fixture::model("random"), b = fixture::model("random");
    const Dataset data = hills(1, 5, 2, 1);
    QVERIFY(a->fit(data, {1}) && b->fit(data, {2}));
    QCOMPARE(*a->predict(data.matrix()), *a->predict(data.matrix()));
    QVERIFY(*a->predict(data.matrix()) != *b->predict(data.matrix()));
    // Not its neighbours, whose longer rows pad it.
    const std::vector<FeatureRows> together{{{1, 2}}, {{1, 2, 3, 4}}};
    QCOMPARE((*a->predict(FeatureMatrix(together)))[0], (*a->predict(FeatureMatrix(std::span(together).first(1))))[0]);
  }
};

QTEST_APPLESS_MAIN(RandomModelTest)
#include "random_test.moc"
