// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>

#include "engine/cost/metrics.h"
#include "tests/engine/cost/model_fixture.h"

using namespace tw;
using namespace tw::cost;
using fixture::hills;

class BoostedTreesTest : public QObject {
  Q_OBJECT

  static std::unique_ptr<CostModel> trees(const Json& given = Json::object()) { return fixture::model("boosted-trees", given); }
  static std::vector<float> fitted(CostModel& model, const Dataset& train, const FeatureMatrix& x, uint64_t seed = 0) {
    const auto done = model.fit(train, {seed});
    if (!done) qFatal("%s", done.error().text().c_str());
    return model.predict(x).value();
  }

 private Q_SLOTS:
  void orders_what_it_has_not_seen_data() {
    QTest::addColumn<QString>("loss");
    QTest::addColumn<QString>("method");
    QTest::addColumn<int>("rows");
    for (const char* loss : {"rank", "reg"})
      for (const char* method : {"exact", "hist"})
        for (const int rows : {1, 6}) QTest::addRow("%s %s %d", loss, method, rows) << loss << method << rows;
  }
  void orders_what_it_has_not_seen() {
    QFETCH(QString, loss);
    QFETCH(QString, method);
    QFETCH(int, rows);
    const Dataset train = hills(2, 300, rows, 1), test = hills(1, 300, rows, 2);
    const auto model = trees({{"loss", loss.toStdString()}, {"tree_method", method.toStdString()}, {"max_depth", 5}, {"patience", 40}});
    const std::vector<float> predicted = fitted(*model, train, test.matrix());
    const double recall = average_recall(test.labels(), predicted, 64), pairs = pairwise_accuracy(test.labels(), predicted);
    QVERIFY2(recall > 0.55 && pairs > 0.8, qPrintable(QString("%1 %2").arg(recall).arg(pairs)));  // chance: about 0.1 and 0.5
  }
  void regression_predicts_values_data() {
    QTest::addColumn<int>("rows");
    QTest::newRow("one row") << 1;
    QTest::newRow("many rows") << 25;  // without a bound on their common step these would overshoot for ever
  }
  void regression_predicts_values() {
    QFETCH(int, rows);
    const Dataset train = hills(1, 600, rows, 1), test = hills(1, 200, rows, 2);
    const auto model = trees({{"loss", "reg"}, {"patience", 300}, {"rounds", 300}, {"recall_top", 600}, {"max_depth", 4}});
    const std::vector<float> learned = fitted(*model, train, train.matrix());
    QVERIFY2(r_squared(train.labels(), learned) > 0.9, qPrintable(QString::number(r_squared(train.labels(), learned))));
    const std::vector<float> predicted = *model->predict(test.matrix());
    QVERIFY2(r_squared(test.labels(), predicted) > 0.6, qPrintable(QString::number(r_squared(test.labels(), predicted))));
  }
  /// A candidate is worth the sum of its rows, so two of the same row are worth twice as much.
  void rows_add_up() {
    const auto model = trees({{"loss", "reg"}});
    const std::vector<FeatureRows> candidates{{{0.5F, 0, 0.5F}}, {{0.5F, 0, 0.5F, 0.5F, 0, 0.5F}, 2}};
    const std::vector<float> predicted = fitted(*model, hills(1, 300, 4, 1), FeatureMatrix(candidates));
    QVERIFY(predicted[0] > 0);
    QCOMPARE(predicted[1], 2 * predicted[0]);
  }
  void what_is_fast_weighs_more() {
    const Dataset train = hills(1, 400, 3, 1);
    const auto error_of_the_fast = [&](double least_weight) {
      const auto model = trees({{"loss", "reg"}, {"rounds", 20}, {"patience", 20}, {"max_depth", 2}, {"least_weight", least_weight}});
      const std::vector<float> predicted = fitted(*model, train, train.matrix());
      const std::vector<double> labels = train.labels();
      double sum = 0;
      for (size_t i = 0; i < labels.size(); ++i)
        if (labels[i] > 0.6) sum += (labels[i] - predicted[i]) * (labels[i] - predicted[i]);
      return sum;
    };
    QVERIFY(error_of_the_fast(0) < error_of_the_fast(1));
  }
  void same_data_same_model_data() {
    QTest::addColumn<QString>("method");
    QTest::addColumn<int>("rows");
    for (const char* method : {"exact", "hist"})
      for (const int rows : {1, 4}) QTest::addRow("%s %d", method, rows) << method << rows;
  }
  void same_data_same_model() {
    QFETCH(QString, method);
    QFETCH(int, rows);
    const Dataset train = hills(2, 100, rows, 3);
    const Json params = {{"tree_method", method.toStdString()}};
    const FeatureMatrix x = train.matrix();
    QCOMPARE(fitted(*trees(params), train, x, 7), fitted(*trees(params), train, x, 7));
    // XGBoost's own losses draw nothing at random.
    QCOMPARE(fitted(*trees(params), train, x, 7) == fitted(*trees(params), train, x, 8), rows == 1);
  }
  void learns_on_from_more() {
    const Dataset few = hills(1, 150, 4, 1);
    Dataset more = few;
    const Dataset extra = hills(1, 100, 4, 9), test = hills(1, 300, 4, 2);
    for (const Dataset::Sample& s : extra.tasks()[0].samples) more.add("0", s.rows, s.speed);
    const Json growing = {{"loss", "reg"}, {"growth", 30}, {"patience", 30}, {"rounds", 60}};
    const auto grown = trees(growing), stays = trees(growing), anew = trees({{"loss", "reg"}, {"patience", 30}, {"rounds", 60}});
    const std::vector<float> before = fitted(*grown, few, test.matrix());
    QCOMPARE(fitted(*stays, few, test.matrix()), before);
    const std::vector<float> after = fitted(*grown, more, test.matrix());
    QCOMPARE(grown->samples(), size_t{250});
    const double few_right = pairwise_accuracy(test.labels(), before), more_right = pairwise_accuracy(test.labels(), after);
    QVERIFY2(more_right > few_right, qPrintable(QString("%1 %2").arg(few_right).arg(more_right)));
    QVERIFY(after != fitted(*anew, more, test.matrix()));
    // When the data has doubled it begins from nothing.
    for (const Dataset::Sample& s : extra.tasks()[0].samples) more.add("0", s.rows, s.speed);
    QCOMPARE(fitted(*grown, more, test.matrix()), fitted(*anew, more, test.matrix()));
  }
  void margins_are_added_to() {
    const Dataset train = hills(1, 200, 3, 1);
    const std::vector<double> labels = train.labels();
    const std::vector<float> known(labels.begin(), labels.end());  // another model that knows everything
    const auto model = trees({{"loss", "reg"}, {"rounds", 5}, {"patience", 5}});
    QVERIFY(model->fit(train, {0, known}));
    const std::vector<float> predicted = *model->predict(train.matrix(), known);
    QVERIFY(rmse(labels, predicted) < 1e-3);
    QVERIFY(rmse(labels, *model->predict(train.matrix())) > 0.1);
  }
  void short_and_long_rows_are_fitted() {
    const auto model = trees();
    const std::vector<FeatureRows> padded{{{0.5F, 0, 0}}, {{0.5F}}}, longer{{{0.5F, 0, 0, 9, 9}}};
    const std::vector<float> p = fitted(*model, hills(1, 100, 1, 3), FeatureMatrix(padded));
    QCOMPARE(p[0], p[1]);
    QCOMPARE((*model->predict(FeatureMatrix(longer)))[0], p[0]);
    QVERIFY(model->predict(FeatureMatrix(std::span<const FeatureRows>{}))->empty());
  }
  void nothing_to_learn_from_is_an_error() {
    const auto model = trees();
    QCOMPARE(model->fit({}, {}).error().code, ErrorCode::invalid_argument);
    Dataset empty_rows;
    empty_rows.add("t", {{}}, 1);
    QVERIFY(model->fit(hills(1, 20, 1, 1), {}));
    QCOMPARE(model->fit(empty_rows, {}).error().code, ErrorCode::invalid_argument);
    QCOMPARE(model->samples(), size_t{0});
    QCOMPARE(model->predict(hills(1, 1, 1, 1).matrix()).error().code, ErrorCode::not_applicable);
  }
  void a_stop_ends_fitting() {
    StopSource stop;
    stop.request_stop();
    const auto model = trees({{"rounds", 100'000}, {"patience", 100'000}});
    QVERIFY(model->fit(hills(1, 50, 1, 1), {0, {}, stop.get_token()}));
    QCOMPARE(model->samples(), size_t{50});
  }
};

QTEST_APPLESS_MAIN(BoostedTreesTest)
#include "boosted_trees_test.moc"
