// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/lower/gpu_schedules.h"
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class PipelineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void refusals() {
    Builder number(row_sums());
    number.compute_at(1, 2, number.loops(2)[0]);
    number.pipeline(1, 1);
    QVERIFY(has(refusal(std::move(number)), "Expected 2 to 16 arrays for 'pipeline', found 1"));
    Builder root(row_sums());
    root.pipeline(1, 2);
    QVERIFY(has(refusal(std::move(root)), "Expected a stage that is computed inside a loop for 'pipeline', found 'row_sum'"));
    // Without threads there is nobody to copy for.
    Builder alone(row_sums());
    alone.compute_at(1, 2, alone.loops(2)[0]);
    alone.pipeline(1, 2);
    QVERIFY(has(refusal(std::move(alone)), "Expected a stage that a block of threads shares for 'pipeline', found 'row_sum'"));
  }
  void copies_run_ahead() {
    const std::string text = lowered(tiled_matmul({.k = 16, .pipeline = 3}));
    QVERIFY(has(text, "A_shared = T.alloc_buffer((3, "));
    QVERIFY(has(text, "with T.async_copies():"));
  }
};

QTEST_APPLESS_MAIN(PipelineTest)
#include "pipeline_test.moc"
