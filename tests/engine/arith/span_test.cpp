// SPDX-License-Identifier: Apache-2.0
#include "engine/arith/span.h"

#include <QtTest>
#include <set>

#include "engine/base/rng.h"
#include "engine/ir/print.h"

using namespace tw;

class SpanTest : public QObject {
  Q_OBJECT
  const ir::Var h = ir::make_var("h"), k = ir::make_var("k"), w = ir::make_var("w"), o = ir::make_var("o");

  /// h runs over 56 values, k over 3, w over 5, o stands still.
  arith::Span span(const ir::Expr& e) const {
    arith::Analyzer facts;
    facts.bind(h.get(), {0, 55});
    facts.bind(k.get(), {0, 2});
    facts.bind(w.get(), {0, 4});
    facts.bind(o.get(), {0, 9});
    return arith::span_of(e, {o.get()}, facts).value();
  }
  ir::Expr at(const ir::Var& v) const { return ir::to_expr(v); }

 private Q_SLOTS:
  void sumsAreCountedOnce() {
    QCOMPARE(span(at(h) + at(k)).count, 58);
    QCOMPARE(span(at(h) * 2 + at(k)).count, 113);
    QCOMPARE(span(at(h) * 2 + at(k)).extent(), 113);
    QCOMPARE(span(at(h) * 2 + at(k) * 2).count, 58);  // every other one
    QCOMPARE(span(at(h) * 2 + at(k) * 2).extent(), 115);
    QCOMPARE(span(at(h) * 4 + at(k)).count, 56 * 3);
    QCOMPARE(span(at(h) * 4).count, 56);
    // Rows of a tile in a flat array, under taps: sets that lie apart.
    QCOMPARE(span(at(h) * 100 + at(k) * 100 + at(w)).count, 58 * 5);
    QCOMPARE(span(at(h) - at(k)).lo, -2);
    QCOMPARE(span(at(h) - at(k)).count, 58);
    QCOMPARE(span(at(o) * 7 + 3).count, 1);
    const arith::Span moved = span(at(o) * 8 + at(k) + 5);
    QCOMPARE(moved.count, 3);
    QCOMPARE(ir::print(moved.fixed.to_expr()), ir::print(at(o) * 8 + 5));
  }

  void fusedLoopsAreOneRun() {
    const ir::Expr f = at(h);
    QCOMPARE(span(ir::floor_div(f, ir::index(8)) * 8 + ir::floor_mod(f, ir::index(8))).count, 56);
    QCOMPARE(span(ir::floor_div(f, ir::index(8))).count, 7);
    QCOMPARE(span(ir::floor_mod(f, ir::index(8))).count, 8);
  }

  void arraysNeverStandStill() {
    const ir::Buffer rows = ir::make_buffer("rows", kInt64, {4});
    QVERIFY(!arith::span_of(ir::load(rows, {at(o)}), {o.get()}, arith::Analyzer()));
  }

  void unionsHoldWhatLiesBetween() {
    arith::Span a = span(at(o) + at(k));
    QVERIFY(arith::unite(a, span(at(o) + at(k) + 10)));
    QCOMPARE(a.lo, 0);
    QCOMPARE(a.hi, 12);
    QCOMPARE(a.count, 6);
    QVERIFY(arith::unite(a, span(at(o) + 5)));
    QCOMPARE(a.count, 7);
    QVERIFY(!arith::unite(a, span(at(o) * 2)));
    QCOMPARE(a.hi, 12);
    arith::Span same = span(at(k));
    QVERIFY(arith::unite(same, span(at(k))));
    QCOMPARE(same.count, 3);
  }

  /// Against all values of random sums: the interval is exact, the count mostly, and never too small.
  void spansOfRandomSums() {
    Rng rng(5);
    int exact = 0;
    constexpr int kCases = 500;
    for (int n = 0; n < kCases; ++n) {
      const ir::Var vars[] = {ir::make_var("a"), ir::make_var("b"), ir::make_var("c")};
      arith::Analyzer facts;
      ir::Expr e = ir::index(rng.range(-5, 5));
      int64_t extents[3], steps[3];
      for (int i = 0; i < 3; ++i) {
        extents[i] = rng.range(1, 6);
        steps[i] = rng.range(-4, 9);
        facts.bind(vars[i].get(), {0, extents[i] - 1});
        e = e + ir::to_expr(vars[i]) * steps[i];
      }
      const int64_t base = arith::Analyzer().linear(e).constant;
      std::set<int64_t> values;
      for (int64_t a = 0; a < extents[0]; ++a)
        for (int64_t b = 0; b < extents[1]; ++b)
          for (int64_t c = 0; c < extents[2]; ++c) values.insert(base + a * steps[0] + b * steps[1] + c * steps[2]);
      const arith::Span s = arith::span_of(e, {}, facts).value();
      QCOMPARE(s.fixed.constant + s.lo, *values.begin());
      QCOMPARE(s.fixed.constant + s.hi, *values.rbegin());
      QVERIFY(s.count >= static_cast<int64_t>(values.size()) && s.count <= s.extent());
      exact += s.count == static_cast<int64_t>(values.size());
    }
    QVERIFY2(exact > kCases * 7 / 10, qPrintable(QString::number(exact)));
  }
};

QTEST_APPLESS_MAIN(SpanTest)
#include "span_test.moc"
