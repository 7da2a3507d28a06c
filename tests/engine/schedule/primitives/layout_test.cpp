// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class LayoutTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void blocks_of_an_array() {
    Builder b(matrix_product());
    b.layout(1, {{0, 0}, {1, 0}, {1, 4}});
    QVERIFY(has(lowered(std::move(b)), "b[r0, j // 4, j % 4]"));
  }
  void refusals() {
    const auto of = [](std::vector<schedule::LayoutStep::Piece> pieces) {
      return schedule::Schedule(matrix_product()).apply(schedule::LayoutStep{1, std::move(pieces)}).error().text();
    };
    QVERIFY(has(of({{0, 0}}), "Expected exactly one derived piece for dimension 1 of 'b' for 'layout', found 0"));
    QVERIFY(has(of({{0, 4}, {0, 0}, {1, 0}}), "Expected the derived piece of dimension 0 of 'b' first for 'layout'"));
    QVERIFY(has(of({{0, 0}, {2, 0}}), "Expected pieces of the 2 dimensions of 'b' for 'layout', found (2, 0)"));
  }
};

QTEST_APPLESS_MAIN(LayoutTest)
#include "layout_test.moc"
