// SPDX-License-Identifier: Apache-2.0
// Everything that the compiler makes of the bundled networks reads back from its text: dags, and functions before and after every pass.
#include <QtTest>

#include "engine/api/compile.h"
#include "engine/api/explain.h"
#include "engine/base/rng.h"
#include "engine/lower/lower.h"
#include "engine/tune/candidate.h"
#include "tests/engine/api/tiny_network.h"
#include "tests/engine/lower/round_trip.h"

using namespace tw;

class RoundTripTest : public QObject {
  Q_OBJECT

  /// Empty, or what did not read back.
  static std::string problem(const records::Task& task, const std::vector<schedule::Step>& steps) {
    const auto s = schedule::Schedule::replay(task.dag, steps);
    if (!s) return s.error().text();
    const auto f = lower::lower(*s, "kernel");
    if (!f) return f.error().text();
    std::string found = tw::testing::round_trip_problem(*f);
    tir::PassHooks hooks;
    hooks.verify = true;
    hooks.after = [&](const tir::Pass& pass, const tir::Func&, const tir::Func& after, double, bool changed) {
      if (!changed || !found.empty()) return;
      found = tw::testing::round_trip_problem(after);
      if (!found.empty()) found = std::string("after ") + pass.name + ": " + found;
    };
    if (const auto done = tir::run_passes(*f, task.target, hooks); !done) return done.error().text();
    return found;
  }

 private Q_SLOTS:
  void networks_data() {
    QTest::addColumn<std::string>("name");
    for (const auto& m : frontends::zoo()) QTest::newRow(m.name) << std::string(m.name);
  }
  void networks() {
    QFETCH(std::string, name);
    const Target target = host_target();
    const api::Network network = api::testing::tiny_network(name, target);
    Rng rng(1);
    for (const api::NetworkTask& t : api::network_tasks(network, target)) {
      QCOMPARE(tw::testing::round_trip_problem(*t.task.dag), std::string());
      QCOMPARE(problem(t.task, tune::default_candidate(t.task).steps), std::string());
      if (t.space == "default") continue;
      for (int attempt = 0; attempt < 20; ++attempt) {
        const auto c = api::candidate_at(t.task, rng.range(0, t.space_size - 1));
        if (!c) continue;
        QCOMPARE(problem(t.task, c->steps), std::string());
        break;
      }
    }
  }
};

QTEST_APPLESS_MAIN(RoundTripTest)
#include "round_trip_test.moc"
