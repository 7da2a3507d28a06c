// SPDX-License-Identifier: Apache-2.0
#include "engine/records/measure_result.h"
#include "engine/base/json.h"

#include <QtTest>
#include <cmath>

using namespace tw;
using namespace tw::records;

namespace {

MeasureResult timed(std::vector<double> samples, std::vector<bool> flags = {}) {
  MeasureResult r;
  r.status = Status::ok;
  r.samples_s = std::move(samples);
  r.sample_flags = std::move(flags);
  return r;
}

constexpr Status kAll[] = {Status::ok,         Status::lower_fail,  Status::build_fail, Status::build_timeout, Status::build_crash,
                           Status::load_fail,  Status::run_timeout, Status::run_crash,  Status::out_of_memory, Status::wrong_output,
                           Status::bad_timing, Status::infra,       Status::cancelled};

}  // namespace

class MeasureResultTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void names_round_trip() {
    for (const Status s : kAll) QVERIFY(status_from_name(status_name(s)) == s);
  }
  void the_machine_and_the_user_are_not_the_candidates_fault() {
    for (const Status s : kAll) {
      const bool expected = s != Status::ok && s != Status::infra && s != Status::cancelled;
      QCOMPARE(blames_candidate(s), expected);
    }
  }
  void the_estimator_is_the_least_unflagged_sample() {
    QCOMPARE(timed({3e-3, 1e-3, 2e-3}).seconds(), 1e-3);
    QCOMPARE(timed({3e-3, 1e-3, 2e-3}, {false, true, false}).seconds(), 2e-3);
    QCOMPARE(timed({3e-3, 1e-3}, {true, true}).seconds(), 1e-3);
    QVERIFY(std::isinf(timed({}).seconds()));
    MeasureResult failed = timed({1e-3});
    failed.status = Status::wrong_output;
    QVERIFY(std::isinf(failed.seconds()));
    QVERIFY(std::isinf(failed.median_s()));
  }
  void the_median_of_even_counts_is_the_middle() {
    QCOMPARE(timed({4, 1, 3}).median_s(), 3.0);
    QCOMPARE(timed({4, 1, 3, 2}).median_s(), 2.5);
    QCOMPARE(timed({4, 1, 100}, {false, false, true}).median_s(), 2.5);
  }
  void json_round_trips() {
    MeasureResult r = timed({1.25e-3, 1.5e-3, 9e-3}, {false, false, true});
    r.flagged = 1;
    r.inner = 40;
    r.verified = true;
    r.max_rel_error = 3e-7;
    r.build_s = 0.5;
    r.timestamp_s = 1655872996.1723332;
    const auto back = measure_result_from_json(to_json(r));
    QVERIFY(back);
    QCOMPARE(dump_json(to_json(*back)), dump_json(to_json(r)));
    QCOMPARE(back->samples_s, r.samples_s);
    QCOMPARE(back->sample_flags, r.sample_flags);
    QVERIFY(!back->verdict);
  }
  void verdicts_round_trip() {
    MeasureResult r = timed({2e-3});
    for (const double seconds : {1.5e-3, std::numeric_limits<double>::infinity()}) {
      r.verdict = Verdict{seconds, 0.7, 0.8};
      const auto back = measure_result_from_json(Json::parse(dump_json(to_json(r))));
      QVERIFY(back && back->verdict);
      QVERIFY(back->decided_s() == seconds);
      QCOMPARE(back->verdict->low, 0.7);
      QCOMPARE(back->verdict->high, 0.8);
    }
  }
  void bad_json_is_refused_data() {
    QTest::addColumn<QString>("json");
    QTest::addColumn<QString>("word");
    QTest::newRow("array") << "[]"
                           << "as an object, found array";
    QTest::newRow("no status") << R"({"samples_s":[]})"
                               << "key 'status'";
    QTest::newRow("unknown status") << R"({"status":"fine","samples_s":[]})"
                                    << "found 'fine'";
    QTest::newRow("type") << R"({"status":"ok","samples_s":["x"]})"
                          << "'samples_s' has another type";
    QTest::newRow("flag") << R"({"status":"ok","samples_s":[1],"flagged_samples":[1]})"
                          << "below 1, found 1";
    QTest::newRow("verdict") << R"({"status":"ok","samples_s":[1],"verdict":[1,"x",2]})"
                             << "[seconds or null, low, high]";
    QTest::newRow("int range") << R"({"status":"ok","samples_s":[1],"inner":99999999999})"
                               << "'inner' has another type";
  }
  void bad_json_is_refused() {
    QFETCH(QString, json);
    QFETCH(QString, word);
    const auto r = measure_result_from_json(Json::parse(json.toStdString()));
    QVERIFY(!r);
    QVERIFY2(r.error().message.find(word.toStdString()) != std::string::npos, r.error().message.c_str());
  }
};

QTEST_APPLESS_MAIN(MeasureResultTest)
#include "measure_result_test.moc"
