// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class ComputeRootTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void takes_a_stage_out_of_a_loop() {
    Builder b(row_sums());
    const std::string before = lowered(Builder(b));
    b.compute_at(1, 2, b.loops(2)[0]);
    const schedule::Schedule inside = std::move(b).finish().value();
    const schedule::Schedule back = inside.apply(schedule::ComputeRootStep{1}).value();
    QVERIFY(back.stages()[1].location == schedule::ComputeLocation::root && !back.stages()[1].at_iter);
    QCOMPARE(tir::print(lower::lower(back, "f").value()), before);
  }
  void refusals() {
    QVERIFY(has(schedule::Schedule(row_sums()).apply(schedule::ComputeRootStep{0}).error().text(),
                "Expected a computed stage for 'compute_root', found the placeholder 'x'"));
  }
};

QTEST_APPLESS_MAIN(ComputeRootTest)
#include "compute_root_test.moc"
