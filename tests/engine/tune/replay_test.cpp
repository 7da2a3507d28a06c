// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <map>
#include <set>

#include "engine/base/json.h"
#include "engine/measure/recorded_device.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::tune;
using namespace tw::tune::fixture;

/// Sessions on a device that replays the trials of another session.
class ReplayTest : public QObject {
  Q_OBJECT

  static std::shared_ptr<records::RecordedTrials> recorded(const records::Task& task, int64_t trials) {
    Session real;
    SessionOptions o = options(trials);
    o.finalists = 0;
    if (!real.run({{task, 1, {}}}, o)) return nullptr;
    auto table = std::make_shared<records::RecordedTrials>();
    for (const records::Record& r : real.store.records()) table->add(r);
    return table;
  }
  static void replay(Session& s, const std::shared_ptr<records::RecordedTrials>& trials) {
    measure::Device device = measure::recorded_device("recorded:memory", trials);
    s.builder = std::move(device.builder), s.runner = std::move(device.runner);
  }

 private Q_SLOTS:
  void everyTunerFindsEveryRecordedPoint_data() {
    QTest::addColumn<QString>("tuner");
    for (const StrategyDef& def : strategies())
      if (def.make_points) QTest::newRow(def.name) << QString::fromLatin1(def.name);
  }
  /// The space has millions of points, of which thirty were measured: those are proposed, each once, and no others.
  void everyTunerFindsEveryRecordedPoint() {
    QFETCH(QString, tuner);
    const records::Task task = dense(512, 512, 512);
    const auto trials = recorded(task, 31);
    QVERIFY(trials && trials->size() == 31);
    Session again;
    replay(again, trials);
    SessionOptions o = options(1000, 4);
    o.tuner = tuner.toStdString();
    o.tuner_params = tuner == QLatin1String("xgb") ? Json{{"plan_size", 8}, {"first_plan", 8}} : Json::object();
    o.seed = 7;
    const auto report = again.run({{task, 1, {}}}, o);
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    std::set<int64_t> points;
    for (const records::Record& r : again.store.records()) {
      QVERIFY(points.insert(r.candidate.index).second);
      const records::Record* before = trials->find(task.key, r.candidate);
      QVERIFY(before != nullptr);
      QCOMPARE(r.result.samples_s, before->result.samples_s);
      QCOMPARE(r.result.status, before->result.status);
    }
    QCOMPARE(points.size(), trials->size());
  }

  /// Schedules without a number are none of those that were recorded: only the default schedule is tried.
  void aTunerWithoutPointsFindsNone() {
    const records::Task task = dense(64, 64, 64);
    const auto trials = recorded(task, 20);
    QVERIFY(trials);
    Session again;
    replay(again, trials);
    SessionOptions o = options(50);
    o.tuner = "ansor";
    QVERIFY(again.run({{task, 1, {}}}, o));
    QCOMPARE(again.trials_of(0), int64_t{1});
  }

  /// A default schedule of which nothing is known does not end a session, and is nobody's fault.
  void whatWasNotRecordedIsNobodysFault() {
    const records::Task task = dense(64, 64, 64);
    const auto whole = recorded(task, 20);
    QVERIFY(whole);
    auto points = std::make_shared<records::RecordedTrials>();
    const std::string space = "dense_pack.cpu";
    for (const int64_t index : whole->points(task.key, space)) points->add(*whole->find(task.key, {space, index, {}, {}}));
    QVERIFY(points->size() > 5 && points->size() < whole->size());
    Session again;
    replay(again, points);
    const auto report = again.run({{task, 1, {}}}, options(50));
    QVERIFY(report);
    QCOMPARE(again.store.records()[0].result.status, records::Status::not_recorded);
    QCOMPARE(again.store.records().size(), points->size() + 1);
    QVERIFY(!std::isfinite(report->tasks[0].default_s));
    QVERIFY(std::isfinite(report->tasks[0].best_s));
  }

  void theSameSeedGivesTheSameReplay() {
    const records::Task task = dense(64, 64, 64);
    const auto trials = recorded(task, 40);
    QVERIFY(trials);
    Session a, b;
    replay(a, trials), replay(b, trials);
    QVERIFY(a.run({{task, 1, {}}}, options(20)));
    QVERIFY(b.run({{task, 1, {}}}, options(20)));
    QCOMPARE(a.trace(), b.trace());
    QCOMPARE(a.trials_of(0), int64_t{20});
  }
};

QTEST_APPLESS_MAIN(ReplayTest)
#include "replay_test.moc"
