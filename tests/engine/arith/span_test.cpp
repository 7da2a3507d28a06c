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
    arith::Span between = span(at(w) * 2);  // five values up to 8, of which three others are no part
    QVERIFY(arith::unite(between, span(at(k) * 4)));
    QCOMPARE(between.hi, 8);
    QCOMPARE(between.count, 8);
    QVERIFY(arith::unite(between, span(at(k) * 4)));
    QCOMPARE(between.count, 9);
  }

  /// Against all values of both: never too few, unless there are as many between the same ends.
  void unionsOfRandomSums() {
    Rng rng(9);
    for (int n = 0; n < 1000; ++n) {
      arith::Analyzer facts;
      std::set<int64_t> values;
      const auto random = [&] {
        const ir::Var a = ir::make_var("a"), b = ir::make_var("b");
        const int64_t shift = rng.range(-3, 3), as = rng.range(1, 4), bs = rng.range(1, 9), an = rng.range(1, 5), bn = rng.range(1, 4);
        facts.bind(a.get(), {0, an - 1});
        facts.bind(b.get(), {0, bn - 1});
        for (int64_t i = 0; i < an; ++i)
          for (int64_t j = 0; j < bn; ++j) values.insert(shift + i * as + j * bs);
        return arith::span_of(ir::to_expr(a) * as + ir::to_expr(b) * bs + ir::index(shift), {}, facts).value();
      };
      arith::Span one = random();
      const arith::Span other = random();
      const int64_t apart = other.fixed.constant - one.fixed.constant;
      const bool alike = one.lo == other.lo + apart && one.hi == other.hi + apart && one.count == other.count;
      QVERIFY(arith::unite(one, other));
      QCOMPARE(one.fixed.constant + one.lo, *values.begin());
      QCOMPARE(one.fixed.constant + one.hi, *values.rbegin());
      QVERIFY(one.count <= one.extent() && (alike || one.count >= static_cast<int64_t>(values.size())));
    }
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
