// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/lower/gpu_schedules.h"
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class TensorizeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void products_are_those_of_warps() { QVERIFY(has(lowered(warp_matmul({})), "T.warp_mma(")); }
  void refusals() {
    Builder float64(matrix_product());
    float64.tensorize(2, float64.loops(2)[0]);
    QVERIFY(has(refusal(std::move(float64)),
                "Expected a cache in registers that is computed inside a loop, with neither layout, gaps nor padding, for 'tensorize', found stage 'c'"));
    Builder loops(matrix_product());
    loops.tensorize(2, loops.loops(2)[1]);
    QVERIFY(has(refusal(std::move(loops)),
                "Expected a loop over rows with a loop over columns and one over terms inside, innermost, for 'tensorize', found stage 'c'"));
    Builder sums(row_sums());
    sums.tensorize(1, sums.loops(1)[0]);
    QVERIFY(has(refusal(std::move(sums)), "Expected a sum of products of two arrays"));
  }
};

QTEST_APPLESS_MAIN(TensorizeTest)
#include "tensorize_test.moc"
