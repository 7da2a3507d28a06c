// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/footprints.h"

#include <QtTest>

#include "engine/lower/lower.h"

using namespace tw;

class FootprintsTest : public QObject {
  Q_OBJECT

  static double elements(const tir::LoopFootprint& l, const char* array) {
    for (const auto& [buffer, n] : l.arrays)
      if (buffer->name == array) return n;
    return -1;
  }
  /// Rows of an image under three taps; `padded`: the image is as long as the result, and what is outside of it counts as zero.
  static tir::Func window(bool padded) {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {padded ? 56 : 58, 4}, kFloat32), w = b.placeholder("w", {3}, kFloat32);
    const te::Tensor y = b.reduce("y", {56, 4}, {3}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) {
      if (!padded) return x(s[0] + r[0], s[1]) * w(r[0]);
      const ir::Expr row = s[0] + r[0] - 1;
      return ir::select(ir::index(0) <= row && row < ir::index(56), x(row, s[1]), ir::fimm(kFloat32, 0)) * w(r[0]);
    });
    return lower::lower(schedule::Schedule(std::move(b).finish({y})), "f").value();
  }

 private Q_SLOTS:
  void rowsUnderTapsAreCountedOnce() {
    const auto loops = tir::loop_footprints(window(false));
    QCOMPARE(loops.size(), size_t{3});
    QCOMPARE(elements(loops[0], "x"), 58.0 * 4);
    QCOMPARE(elements(loops[0], "w"), 3.0);
    QCOMPARE(elements(loops[0], "y"), 56.0 * 4);
    QCOMPARE(elements(loops[1], "x"), 3.0 * 4);
    QCOMPARE(elements(loops[2], "x"), 3.0);
    QCOMPARE(elements(loops[2], "y"), 1.0);
    QCOMPARE(loops[2].iterations, 56.0 * 4 * 3);
    QCOMPARE(loops[2].level, 2);
    QCOMPARE(loops[2].extent, int64_t{3});
  }
  void whatIsOutsideOfAnArrayIsNotTouched() { QCOMPARE(elements(tir::loop_footprints(window(true))[0], "x"), 56.0 * 4); }

  void accessesOfAnArrayAreUnited() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {40}, kFloat32), n = b.placeholder("n", {8}, kInt64), t = b.placeholder("t", {100}, kFloat32);
    const te::Tensor y = b.compute("y", {8}, [&](const te::Indices& i) { return x(i[0]) + x(i[0] + 2) + x(i[0] + 30) + t(n(i[0])); });
    const auto loops = tir::loop_footprints(lower::lower(schedule::Schedule(std::move(b).finish({y})), "f").value());
    QCOMPARE(elements(loops[0], "x"), 8.0 + 2 + 8);
    QCOMPARE(elements(loops[0], "n"), 8.0);
    QCOMPARE(elements(loops[0], "t"), 100.0);  // anything
  }
};

QTEST_APPLESS_MAIN(FootprintsTest)
#include "footprints_test.moc"
