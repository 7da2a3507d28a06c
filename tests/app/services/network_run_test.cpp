// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/network_run.h"

#include <QtTest>
#include <cmath>

#include "engine/base/json.h"
#include "engine/measure/device.h"
#include "engine/target/target.h"

using namespace tw;
using namespace tw::app;

class NetworkRunTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void documentsAreRead() {
    const char* text = R"({"simulated": false, "latency": {"runs": 3, "min_s": 1e-3, "median_s": 2e-3, "max_s": 4e-3},
      "check": {"passed": false, "max_rel_error": null, "tolerance": 1e-4}, "profile": [{"median_s": 5e-4}, {"median_s": 6e-4}]})";
    const auto run = networkRunOf(parse_json(text).value());
    QVERIFY(run);
    QCOMPARE(run->runs, 3);
    QCOMPARE(run->least_s, 1e-3);
    QCOMPARE(run->median_s, 2e-3);
    QCOMPARE(run->most_s, 4e-3);
    QVERIFY(!run->passed && !run->simulated);
    QVERIFY(std::isinf(run->error));  // not a number: no error is small enough to be said
    QCOMPARE(run->allowed, 1e-4);
    QCOMPARE(run->calls_s, (std::vector<double>{5e-4, 6e-4}));
    for (const char* wrong : {"{}", "[]", R"({"simulated": 1, "latency": {}, "check": {}, "profile": []})"}) {
      const auto none = networkRunOf(parse_json(wrong).value());
      QVERIFY2(!none && none.error().code == ErrorCode::parse_error, wrong);
    }
  }

  /// What the program says of its failure comes back as it is, and a run that nobody waits for any more ends.
  void failuresAreSaid() {
    runtime::Executable nothing;
    nothing.target = host_target().str();
    const auto failed = runNetwork(nothing, measure::kLocalDevice, 1, {});
    QVERIFY(!failed);
    QVERIFY2(!failed.error().message.empty(), failed.error().message.c_str());
    StopSource stop;
    stop.request_stop();
    const auto stopped = runNetwork(nothing, measure::kLocalDevice, 1, stop.get_token());
    QVERIFY(!stopped);
  }
};

QTEST_GUILESS_MAIN(NetworkRunTest)
#include "network_run_test.moc"
