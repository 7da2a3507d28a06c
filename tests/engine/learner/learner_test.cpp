// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/learner.h"

#include <QtTest>
#include <thread>

#include "engine/process/find_program.h"
#include "tests/engine/learner/learner_fixture.h"

using namespace tw;
using namespace tw::learner;

namespace {

/// A dataset as the process takes it.
struct Told {
  explicit Told(const cost::Dataset& data) : x(data.matrix()), begins(x.begins().begin(), x.begins().end()) {
    for (const double l : data.labels()) labels.push_back(static_cast<float>(l));
    for (const size_t size : data.group_sizes()) tasks.insert(tasks.end(), size, tasks.empty() ? 0U : tasks.back() + 1);
  }
  std::span<const float> rows() const { return {x.data(), x.rows() * kRowColumns}; }
  FitData fit() const { return {rows(), begins, labels, tasks}; }

  cost::FeatureMatrix x;
  std::vector<uint32_t> begins, tasks;
  std::vector<float> labels;
};

FitOptions quick(uint64_t seed = 1) {
  FitOptions o;
  o.epochs = 4, o.batch = 64, o.seed = seed;
  return o;
}

}  // namespace

class LearnerTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void theProgramIsFoundOrSaidToBeMissing() {
    const auto missing = find_program("/nowhere/tw-learner");
    QVERIFY(!missing);
    QCOMPARE(missing.error().code, ErrorCode::not_found);
    QVERIFY(!missing.error().notes.empty() && missing.error().notes.front().find("installers/learner") != std::string::npos);
    Learner learner({.program = "/nowhere/tw-learner"});
    const Told told(learner_fixture::dataset(1, 4, false, 1));
    QCOMPARE(learner.fit(mlp(), {}, told.fit(), quick()).error().code, ErrorCode::not_found);
  }

  /// Equal seeds give equal weights; every epoch is told; losses go down.
  void itFits() {
    TW_NEEDS_LEARNER;
    const Told told(learner_fixture::dataset(2, 60, true, 1));
    for (const Network* network : {&mlp(), &pam()}) {
      Learner learner;
      int epochs = 0;
      FitOptions o = quick();
      o.epochs = 12;
      const auto fitted = learner.fit(*network, {}, told.fit(), o, {}, [&](int epoch, int of, double) { QVERIFY(epoch == ++epochs && of == 12); });
      QVERIFY2(fitted, fitted ? "" : fitted.error().text().c_str());
      QCOMPARE(epochs, 12);
      QCOMPARE(fitted->losses.size(), size_t{12});
      QVERIFY(fitted->losses.back() < fitted->losses.front());
      QCOMPARE(fitted->weights.size(), network->elements());
      QCOMPARE(learner.fit(*network, {}, told.fit(), o)->weights, fitted->weights);
      o.seed = 2;
      QVERIFY(learner.fit(*network, {}, told.fit(), o)->weights != fitted->weights);
      QVERIFY2(learner.about()["started_s"].get<double>() > 0, "it says how long it took to start");
    }
  }
  void everyLossIsMinimised_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : loss_names()) QTest::newRow(name) << name;
  }
  void everyLossIsMinimised() {
    TW_NEEDS_LEARNER;
    QFETCH(QString, name);
    const Told told(learner_fixture::dataset(3, 50, false, 2));
    Learner learner;
    for (const bool across : {false, true}) {
      FitOptions o = quick();
      o.loss = *find_loss(name.toStdString()), o.epochs = 15, o.across_tasks = across;
      const auto fitted = learner.fit(mlp(), {}, told.fit(), o);
      QVERIFY(fitted);
      QVERIFY2(fitted->losses.back() < fitted->losses.front(), qPrintable(QStringLiteral("%1 to %2").arg(fitted->losses.front()).arg(fitted->losses.back())));
    }
  }
  /// The greatest of each column, or its mean and deviation; kept where it says something.
  void theNormaliserIsOfTheData() {
    TW_NEEDS_LEARNER;
    const Told told(learner_fixture::dataset(1, 20, true, 3));
    Learner learner;
    const auto of = [](const std::vector<float>& weights, const char* tensor, size_t column) { return weights[pam().offset(tensor) + column]; };
    FitOptions o = quick();
    o.epochs = 0;
    o.standardises = false;
    const std::vector<float> divided = learner.fit(pam(), {}, told.fit(), o)->weights;
    float greatest = 0, of_steps = 0;
    double sum = 0, squares = 0, rows = 0;
    for (size_t r = 0; r < told.x.rows(); ++r) {
      const float* row = told.x.data() + r * kRowColumns;
      const double x = row[1 + 9];
      if (row[0] == 0) greatest = std::max(greatest, row[1 + 9]), sum += x, squares += x * x, ++rows;
      if (row[0] == 1) of_steps = std::max(of_steps, row[1 + kStatementColumns + 4]);
    }
    QCOMPARE(of(divided, "normaliser.rows", 9), greatest);
    QCOMPARE(of(divided, "normaliser.rows_shift", 9), 0.0F);
    QCOMPARE(of(divided, "normaliser.pattern", 4), of_steps);
    o.standardises = true;
    std::vector<float> standard = learner.fit(pam(), {}, told.fit(), o)->weights;
    const double mean = sum / rows;
    QVERIFY(std::abs(of(standard, "normaliser.rows_shift", 9) - mean) < 1e-4);
    QVERIFY(std::abs(of(standard, "normaliser.rows", 9) - std::sqrt(squares / rows - mean * mean)) < 1e-4);
    o.keeps_normaliser = true;
    const std::vector<float> before = pam().initial(1);
    QCOMPARE(learner.fit(pam(), before, told.fit(), o)->weights, before);
    // One column that never changed before.
    const std::vector<float> right = standard;
    standard[pam().offset("normaliser.rows") + 9] = 1e6F, standard[pam().offset("normaliser.rows_shift") + 9] = 3;
    standard[pam().offset("normaliser.rows") + 8] = 7;
    const std::vector<float> after = learner.fit(pam(), standard, told.fit(), o)->weights;
    QCOMPARE(of(after, "normaliser.rows", 9), of(right, "normaliser.rows", 9));
    QCOMPARE(of(after, "normaliser.rows", 8), 7.0F);
  }
  /// Little data makes as many steps as it is told, and the mean of the last ones is not what the last one left.
  void stepsAndTheirMean() {
    TW_NEEDS_LEARNER;
    const Told told(learner_fixture::dataset(1, 20, false, 3));
    Learner learner;
    FitOptions o = quick();
    o.least_steps = 9;  // of one batch each
    const auto last = learner.fit(mlp(), {}, told.fit(), o);
    QCOMPARE(last->losses.size(), size_t{9});
    o.average = 0.5;
    const auto mean = learner.fit(mlp(), {}, told.fit(), o);
    QCOMPARE(mean->losses, last->losses);
    QVERIFY(mean->weights != last->weights);
  }
  /// A stop ends a fit with what was learned by then, and the process answers the next question.
  void aStopEndsAFit() {
    TW_NEEDS_LEARNER;
    const Told told(learner_fixture::dataset(2, 400, true, 4));
    Learner learner;
    StopSource source;
    FitOptions o = quick();
    o.epochs = 100'000;
    const auto fitted = learner.fit(pam(), {}, told.fit(), o, source.get_token(), [&](int epoch, int, double) {
      if (epoch == 2) source.request_stop();
    });
    QVERIFY2(fitted, fitted ? "" : fitted.error().text().c_str());
    QVERIFY(fitted->losses.size() >= 2 && fitted->losses.size() < 10'000);
    const pid_t pid = learner.pid();
    QVERIFY(learner.predict(pam(), fitted->weights, 1, told.rows(), told.begins, false, 1));
    QCOMPARE(learner.pid(), pid);
  }
  /// Killed in the middle of a fit: the call says so, the next one starts another; after some deaths in a row no more.
  void itsDeathIsAnError() {
    TW_NEEDS_LEARNER;
    const Told told(learner_fixture::dataset(2, 200, true, 5));
    Learner learner;
    FitOptions o = quick();
    o.epochs = 100'000;
    for (int death = 0; death < 3; ++death) {
      const auto fitted = learner.fit(pam(), {}, told.fit(), o, {}, [&](int epoch, int, double) {
        if (epoch == 1) learner_fixture::end_process(learner.pid());
      });
      QVERIFY(!fitted);
      QCOMPARE(fitted.error().code, ErrorCode::crash);
      QVERIFY2(fitted.error().message.find("SIGKILL") != std::string::npos, fitted.error().text().c_str());
      QCOMPARE(learner.pid(), -1);
    }
    QCOMPARE(learner.fit(mlp(), {}, told.fit(), quick()).error().code, ErrorCode::infrastructure);
    Learner other;
    QVERIFY(!other.fit(mlp(), {}, told.fit(), o, {}, [&](int, int, double) { learner_fixture::end_process(other.pid()); }));
    QVERIFY(other.fit(mlp(), {}, told.fit(), quick()));
  }
  /// What it lacks memory for ends it with that reason.
  void itsMemoryIsLimited() {
    TW_NEEDS_LEARNER;
    const Told told(learner_fixture::dataset(4, 2000, true, 6));
    Learner learner({.memory_bytes = int64_t{8} << 20});
    const auto fitted = learner.fit(pam(), {}, told.fit(), quick());
    QVERIFY(!fitted);
    QVERIFY2(fitted.error().code == ErrorCode::out_of_memory, fitted.error().text().c_str());
  }
  /// Weights of another version are refused with a sentence, and the process lives.
  void otherWeightsAreRefused() {
    TW_NEEDS_LEARNER;
    const Told told(learner_fixture::dataset(1, 8, false, 7));
    Learner learner;
    const std::vector<float> fewer(100);
    const auto fitted = learner.fit(mlp(), fewer, told.fit(), quick());
    QVERIFY(!fitted);
    QCOMPARE(fitted.error().code, ErrorCode::version);
    QVERIFY(learner.pid() > 0);
    QVERIFY(!learner.predict(mlp(), fewer, 3, told.rows(), told.begins, false, 1));
    QVERIFY(learner.fit(mlp(), {}, told.fit(), quick()));
  }
};

QTEST_GUILESS_MAIN(LearnerTest)
#include "learner_test.moc"
