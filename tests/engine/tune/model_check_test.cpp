// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/model_check.h"

#include <QtTest>
#include <cmath>

using namespace tw;
using namespace tw::tune;

class ModelCheckTest : public QObject {
  Q_OBJECT

  static records::Record trial(double seconds, std::optional<double> score, int64_t samples = 10) {
    records::Record r;
    r.result.status = seconds > 0 ? records::Status::ok : records::Status::run_crash;
    r.result.verified = true;
    if (seconds > 0) r.result.samples_s = {seconds};
    if (score) r.prediction = records::Prediction{*score, samples, "m"};
    return r;
  }
  static ModelCheck check(const std::vector<records::Record>& trials) {
    const std::span<const records::Record> one[] = {trials};
    return check_models(one);
  }

 private Q_SLOTS:
  void nothingWasPredicted() {
    QCOMPARE(check({trial(1, {}), trial(2, {})}).trials, int64_t{0});
    QCOMPARE(check({trial(1, 0.5)}).trials, int64_t{0});  // nothing to compare it with
    QVERIFY(model_check_text({}).empty());
  }
  /// Speeds 1, 1/2, 1/4 of the fastest, said in order; then a fit that has two of three pairs wrong.
  void ordersAndFavourites() {
    const ModelCheck right = check({trial(1, 1.0), trial(2, 0.5), trial(4, 0.25)});
    QCOMPARE(right.trials, int64_t{3});
    QCOMPARE(right.pairs, 1.0);
    QCOMPARE(right.best_of_1, 1.0);
    QCOMPARE(right.rmse, 0.0);
    QCOMPARE(right.r_squared, 1.0);
    const ModelCheck wrong = check({trial(1, 0.0), trial(2, 0.5), trial(4, 0.25)});
    QVERIFY(std::abs(wrong.pairs - 1.0 / 3) < 1e-9);
    QCOMPARE(wrong.best_of_1, 0.5);
    QCOMPARE(wrong.best_of_8, 1.0);
    QVERIFY(std::abs(wrong.rmse - std::sqrt(1.0 / 3)) < 1e-6);
    QVERIFY(model_check_text(wrong).find("33 % of pairs") != std::string::npos);
    QVERIFY(model_check_text(wrong).find("RMSE") != std::string::npos);
    ModelCheck orders = wrong;
    orders.scores_are_speeds = false;
    QVERIFY(model_check_text(orders).find("RMSE") == std::string::npos);
  }
  /// Scores of different fits are not compared, failures count as slowest, and what was not predicted still says how fast the task can be.
  void groups() {
    const ModelCheck c = check({trial(1, 0.1, 10), trial(2, 0.05, 10), trial(1, 0.9, 20), trial(2, 0.95, 20)});
    QCOMPARE(c.trials, int64_t{4});
    QCOMPARE(c.pairs, 0.5);
    const ModelCheck failed = check({trial(1, 0.5), trial(0, 0.9)});
    QCOMPARE(failed.pairs, 0.0);
    const ModelCheck known = check({trial(1, {}), trial(2, 0.5), trial(4, 0.25)});
    QCOMPARE(known.rmse, 0.0);
  }
};

QTEST_APPLESS_MAIN(ModelCheckTest)
#include "model_check_test.moc"
