// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/draft/draft.h"

#include <QtTest>

#include "tests/engine/cost/model_fixture.h"

using namespace tw;
using namespace tw::cost;

class SymbolsModelTest : public QObject {
  Q_OBJECT

  /// A row of a kernel that computes and copies nothing but takes so long by our formula, in so many blocks by the release's.
  static FeatureRows row(float seconds, float blocks) {
    FeatureRows r{std::vector<float>(kDraftColumns, 0), 1};
    r.values[0] = 1000, r.values[1] = 1000 * 256 * blocks, r.values[6] = 5, r.values[8] = blocks, r.values[9] = 256;
    r.values[kSymbols] = seconds;
    return r;
  }

 private Q_SLOTS:
  void its_scores_are_those_of_the_formula() {
    Dataset data;
    for (int i = 1; i <= 4; ++i) data.add("t", row(static_cast<float>(5 - i), static_cast<float>(i)), i);
    const auto own = fixture::model("symbols"), release = fixture::model("symbols", {{"formula", "k80"}});
    QVERIFY(!own->predict(data.matrix()));
    QVERIFY(own->fit(data, {}) && release->fit(data, {}));
    QCOMPARE(*own->predict(data.matrix()), (std::vector<float>{1.0F / 4, 1.0F / 3, 1.0F / 2, 1}));
    const std::vector<float> said = *release->predict(data.matrix());
    QVERIFY(std::is_sorted(said.rbegin(), said.rend()));  // more work takes longer
    const std::vector<float> margins(4, 1);
    QCOMPARE((*own->predict(data.matrix(), margins)).back(), 2.0F);
  }
};

QTEST_APPLESS_MAIN(SymbolsModelTest)
#include "symbols_test.moc"
