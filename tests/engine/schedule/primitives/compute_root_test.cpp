// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

namespace {

/// y[i] = sum over r of 2 x[i + r]; stages: 0 x, 1 twice, 2 y.
te::DagPtr windows_of_sums() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {9}, kFloat32);
  const te::Tensor t = b.compute("twice", {9}, [&](const te::Indices& i) { return x.at(i) * ir::fimm(kFloat32, 2); });
  return std::move(b).finish({b.reduce("y", {7}, {3}, te::Reducer::sum, [&](const te::Indices& i, const te::Indices& r) { return t(i[0] + r[0]); })});
}

}  // namespace

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
  void takes_a_stage_out_of_its_readers() {
    const schedule::Schedule whole(windows_of_sums());
    const schedule::Schedule inlined = whole.apply(schedule::ComputeInlineStep{1}).value();
    const schedule::Schedule back = inlined.apply(schedule::ComputeRootStep{1}).value();
    QCOMPARE(tir::print(lower::lower(back, "f").value()), tir::print(lower::lower(whole, "f").value()));
    QVERIFY(tir::print(lower::lower(inlined, "f").value()) != tir::print(lower::lower(back, "f").value()));
  }
  void refusals() {
    QVERIFY(has(schedule::Schedule(row_sums()).apply(schedule::ComputeRootStep{0}).error().text(),
                "Expected a computed stage for 'compute_root', found the placeholder 'x'"));
  }
};

QTEST_APPLESS_MAIN(ComputeRootTest)
#include "compute_root_test.moc"
