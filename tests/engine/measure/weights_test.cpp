// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/weights.h"

#include <QtTest>

#include "engine/base/json.h"
#include "tests/engine/measure/fixtures.h"

using namespace tw;
using measure::BuildOutcome;
using records::Weights;

class WeightsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void small_networks_keep_their_weights() {
    Target t = *parse_target("znver4");
    t.cores = 2;
    QCOMPARE(measure::weights_in_network(t, 0), Weights::warm);
    QCOMPARE(measure::weights_in_network(t, t.kept_bytes()), Weights::warm);
    QCOMPARE(measure::weights_in_network(t, t.kept_bytes() + 1), Weights::cold);
  }

  /// The worker does as it is told, and the trial says so.
  void trials_are_timed_as_asked() {
    measure::WorkerOptions options;
    options.worker_path = TW_BIN_DIR "/tw-worker";
    options.jobs = 1;
    const auto builder = std::move(*measure::local_builder(options));
    const auto runner = std::move(*measure::local_runner(options));
    te::DagBuilder b;  // reads 4 MiB of constants and does little with them
    const te::Tensor w = b.placeholder("w", {1024, 1024}, kFloat32, te::Role::constant);
    const te::Tensor y = b.reduce("y", {1024}, {1024}, te::Reducer::sum, [&](const te::Indices& i, const te::Indices& r) { return w(r[0], i[0]); });
    Target target = host_target();
    target.cores = 1;
    const records::Task task = records::make_task("sum", std::move(b).finish({y}), target);
    const std::vector<records::Candidate> candidates(1);
    const std::vector<BuildOutcome> builds = builder->build(task, candidates, {});
    for (const Weights w : {Weights::cold, Weights::warm}) {
      measure::RunOptions run;
      run.weights = w;
      const records::MeasureResult r = runner->run(task, builds, run, {})[0];
      QVERIFY2(r.ok() && r.verified, r.message.c_str());
      QCOMPARE(r.weights, w);
      const auto back = records::measure_result_from_json(to_json(r));
      QVERIFY(back && back->weights == w);
    }
  }
  void names() {
    for (const Weights w : {Weights::unknown, Weights::cold, Weights::warm}) QCOMPARE(records::weights_from_name(records::weights_name(w)), w);
  }
};

QTEST_APPLESS_MAIN(WeightsTest)
#include "weights_test.moc"
