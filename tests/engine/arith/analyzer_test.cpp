// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <map>

#include "engine/arith/analyzer.h"
#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/ir/print.h"
#include "engine/ir/visit.h"

using namespace tw;
using ir::BinaryOp;
using ir::Expr;

namespace {

using Values = std::map<const ir::VarNode*, int64_t>;

int64_t evaluate(const Expr& e, const Values& values) {
  if (const auto v = ir::as_int(e)) return *v;
  if (const auto* v = ir::as<ir::VarNode>(e)) return values.at(v);
  if (const auto* s = ir::as<ir::SelectNode>(e)) return evaluate(s->cond, values) ? evaluate(s->if_true, values) : evaluate(s->if_false, values);
  const auto* b = ir::as<ir::BinaryNode>(e);
  const int64_t x = evaluate(b->a, values), y = evaluate(b->b, values);
  switch (b->op) {
    case BinaryOp::add:
      return x + y;
    case BinaryOp::sub:
      return x - y;
    case BinaryOp::mul:
      return x * y;
    case BinaryOp::floor_div:
      return floor_div_int(x, y);
    case BinaryOp::floor_mod:
      return floor_mod_int(x, y);
    case BinaryOp::min:
      return std::min(x, y);
    case BinaryOp::max:
      return std::max(x, y);
    case BinaryOp::lt:
      return x < y;
    case BinaryOp::le:
      return x <= y;
    case BinaryOp::eq:
      return x == y;
    case BinaryOp::ne:
      return x != y;
    default:
      TW_UNREACHABLE("operator of the test");
  }
}

Expr random_expr(Rng& rng, const std::vector<ir::Var>& vars, int depth) {
  if (depth == 0 || rng.uniform(5) == 0) return rng.uniform(3) == 0 ? ir::index(rng.range(-20, 20)) : ir::to_expr(vars[rng.uniform(vars.size())]);
  const Expr a = random_expr(rng, vars, depth - 1);
  switch (rng.uniform(8)) {
    case 0:
    case 1:
      return a + random_expr(rng, vars, depth - 1);
    case 2:
      return a - random_expr(rng, vars, depth - 1);
    case 3:
      return a * rng.range(-4, 8);
    case 4:
      return ir::floor_div(a, ir::index(rng.range(1, 12)));
    case 5:
      return ir::floor_mod(a, ir::index(rng.range(1, 12)));
    case 6:
      return rng.uniform(2) ? ir::min(a, random_expr(rng, vars, depth - 1)) : ir::max(a, random_expr(rng, vars, depth - 1));
    default:
      return ir::select(a < random_expr(rng, vars, depth - 1), random_expr(rng, vars, depth - 1), a);
  }
}

}  // namespace

class AnalyzerTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void keepsValuesAndIsIdempotent();
  void boundsHold();
  void cancelsFusedLoops();
  void usesFacts();
  void takesNearMultiplesOut();
  void nestedLimitsAreSimplifiedOnce();
  void numbersOfUsersDoNotOverflow();
  void provesOnlyWhatHolds();
};

void AnalyzerTest::keepsValuesAndIsIdempotent() {
  for (int seed = 0; seed < 3000; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    const std::vector<ir::Var> vars{ir::make_var("i"), ir::make_var("j"), ir::make_var("k")};
    arith::Analyzer analyzer;
    std::vector<std::pair<int64_t, int64_t>> ranges;
    for (const ir::Var& v : vars) {
      const int64_t lo = rng.range(-6, 3);
      ranges.emplace_back(lo, lo + rng.range(0, 15));
      analyzer.bind(v.get(), {ranges.back().first, ranges.back().second});
    }
    const Expr e = random_expr(rng, vars, 4);
    const Expr s = analyzer.simplify(e);
    const QString text = QString::fromStdString(fmt::format("seed {}: {} => {}", seed, ir::print(e), ir::print(s)));
    const Expr again = analyzer.simplify(s);
    QVERIFY2(arith::same_atom(again, s), qPrintable(text + QString::fromStdString(" => " + ir::print(again))));
    for (int k = 0; k < 20; ++k) {
      Values values;
      for (size_t v = 0; v < vars.size(); ++v) values[vars[v].get()] = rng.range(ranges[v].first, ranges[v].second);
      QVERIFY2(evaluate(e, values) == evaluate(s, values), qPrintable(text));
    }
  }
}

void AnalyzerTest::boundsHold() {
  for (int seed = 0; seed < 2000; ++seed) {
    Rng rng(static_cast<uint64_t>(seed) + 99);
    const std::vector<ir::Var> vars{ir::make_var("i"), ir::make_var("j")};
    arith::Analyzer analyzer;
    for (const ir::Var& v : vars) analyzer.bind(v.get(), {-3, 9});
    const Expr e = random_expr(rng, vars, 4);
    const arith::Bounds b = analyzer.bounds(e);
    for (int64_t i = -3; i <= 9; ++i)
      for (int64_t j = -3; j <= 9; ++j) {
        const int64_t v = evaluate(e, {{vars[0].get(), i}, {vars[1].get(), j}});
        QVERIFY2(b.lo <= v && v <= b.hi,
                 qPrintable(QString::fromStdString(fmt::format("seed {}: {} = {} outside [{}, {}]", seed, ir::print(e), v, b.lo, b.hi))));
      }
  }
}

/// The index of a fused and flattened loop is the loop itself.
void AnalyzerTest::cancelsFusedLoops() {
  const ir::Var f = ir::make_var("f"), v = ir::make_var("v");
  const Expr fe = ir::to_expr(f), ve = ir::to_expr(v);
  arith::Analyzer a;
  a.bind(f.get(), {0, 6 * 7 * 5 - 1});
  a.bind(v.get(), {0, 15});
  const Expr x = ir::floor_div(fe, ir::index(35)), rest = ir::floor_mod(fe, ir::index(35));
  QVERIFY(a.simplify((x * 7 + ir::floor_div(rest, ir::index(5))) * 5 + ir::floor_mod(rest, ir::index(5))).get() == f.get());
  QVERIFY(arith::same_atom(a.simplify(ir::floor_div(fe * 16 + ve, ir::index(16))), fe));
  QVERIFY(arith::same_atom(a.simplify(ir::floor_mod(fe * 32 + ve, ir::index(16))), ve));
  // Three loops that were fused and split into vectors, two of which are no multiples of them.
  arith::Analyzer vectors;
  vectors.bind(f.get(), {0, 783});
  vectors.bind(v.get(), {0, 15});
  const Expr y = fe * 16 + ve;
  const Expr apart =
      ir::floor_div(y, ir::index(784)) * 784 + ir::floor_mod(ir::floor_div(y, ir::index(28)), ir::index(28)) * 28 + ir::floor_mod(y, ir::index(28));
  QCOMPARE(ir::print(vectors.simplify(apart)), ir::print(y));
  // Each by itself first, as they are where an array has several dimensions.
  const Expr each = vectors.simplify(ir::floor_div(y, ir::index(784))) * 784 +
                    vectors.simplify(ir::floor_mod(ir::floor_div(y, ir::index(28)), ir::index(28))) * 28 + vectors.simplify(ir::floor_mod(y, ir::index(28)));
  QCOMPARE(ir::print(vectors.simplify(each)), ir::print(y));
  // Loops over other dimensions than those that the number is taken apart into, some of whose divisions come out even.
  const ir::Var k = ir::make_var("k");
  const Expr ke = ir::to_expr(k);
  arith::Analyzer reshaped;
  for (const auto& [var, extent] : {std::pair(f, 42), std::pair(v, 28), std::pair(k, 128)}) reshaped.bind(var.get(), {0, extent - 1});
  const Expr t = fe * 3584 + ve * 128 + ke;
  Expr joined = ir::index(0);
  for (const auto& [stride, extent] : {std::pair(784, 192), std::pair(28, 28), std::pair(1, 28)})
    joined = joined + reshaped.simplify(ir::floor_mod(ir::floor_div(t, ir::index(stride)), ir::index(extent))) * stride;
  QCOMPARE(ir::print(reshaped.simplify(joined)), ir::print(t));
  // What is left of a division whose other part came out of it even, in the order in which it is met.
  vectors.bind(k.get(), {0, 1448});
  const Expr parts = fe * 23184 + ke * 16 + ve;
  Expr taken = vectors.simplify(ir::floor_div(parts, ir::index(984))) * 984 + vectors.simplify(ir::floor_mod(parts, ir::index(24)));
  taken = ir::floor_mod(fe * 966 + ir::floor_div(ke * 16 + ve, ir::index(24)), ir::index(41)) * 24 + taken;
  QCOMPARE(ir::print(vectors.simplify(taken)), ir::print(vectors.simplify(parts)));
  // Another remainder is not the rest of that division.
  const Expr other = ir::floor_mod(fe * 966 + ir::floor_div(ke * 16 + ve + 1, ir::index(24)), ir::index(41)) * 24 + ir::floor_div(parts, ir::index(984)) * 984 +
                     ir::floor_mod(parts, ir::index(24));
  QVERIFY(ir::print(vectors.simplify(other)) != ir::print(vectors.simplify(parts)));
  // A vector of 16 lies inside each 64.
  QCOMPARE(ir::print(a.simplify(ir::floor_div(fe * 16 + ve, ir::index(64)))), ir::print(ir::floor_div(fe, ir::index(4))));
  QCOMPARE(ir::print(a.simplify(ir::floor_mod(fe * 16 + ve, ir::index(64)))), ir::print(ir::floor_mod(fe, ir::index(4)) * 16 + ve));
}

/// Rows that padding shifts by one against each other, as relative positions in attention: 63 * i is 64 * i - i.
void AnalyzerTest::takesNearMultiplesOut() {
  const ir::Var i = ir::make_var("i"), j = ir::make_var("j");
  const Expr ie = ir::to_expr(i), je = ir::to_expr(j);
  arith::Analyzer a;
  a.bind(i.get(), {0, 31});
  a.bind(j.get(), {0, 31});
  QCOMPARE(ir::print(a.simplify(ir::floor_div(ie * 63 + je + 31, ir::index(64)))), ir::print(ie));
  QCOMPARE(ir::print(a.simplify(ir::floor_mod(ie * 63 + je + 31, ir::index(64)))), ir::print(a.simplify(je - ie + 31)));
  QCOMPARE(ir::print(a.simplify(ir::floor_div(ie * -65 - je - 1, ir::index(64)))), ir::print(a.simplify(ie * -1 - 1)));
  a.bind(j.get(), {0, 33});  // the last one reaches the next row
  QVERIFY(ir::print(a.simplify(ir::floor_div(ie * 63 + je + 31, ir::index(64)))) != ir::print(ie));
}

void AnalyzerTest::usesFacts() {
  const ir::Var i = ir::make_var("i"), n = ir::make_var("n");
  const Expr ie = ir::to_expr(i), ne = ir::to_expr(n);
  arith::Analyzer a;
  const size_t mark = a.push_fact(ie < ne);
  QVERIFY(a.prove(ie < ne));
  QVERIFY(a.prove(ie - 3 <= ne - 1));
  QVERIFY(!a.prove(ie < ne - 1));
  a.pop_facts(mark);
  QVERIFY(!a.prove(ie < ne));
}

/// Without what was found before, each level would double the time.
void AnalyzerTest::nestedLimitsAreSimplifiedOnce() {
  const ir::Var i = ir::make_var("i");
  arith::Analyzer a;
  a.bind(i.get(), {0, 100});
  Expr e = ir::to_expr(i);
  for (int64_t k = 0; k < 100; ++k) e = ir::max(ir::min(e + ir::index(k % 3), ir::index(90 - k % 5)), ir::index(k % 7));
  QVERIFY(a.bounds(a.simplify(e)).hi <= 90);
}

/// Whose products and differences have no 64 bits.
void AnalyzerTest::numbersOfUsersDoNotOverflow() {
  const ir::Var i = ir::make_var("i");
  const Expr ie = ir::to_expr(i);
  arith::Analyzer a;
  for (const int64_t c : {int64_t{1} << 32, int64_t{3037000500}}) {
    const Expr twice = ir::floor_div(ir::floor_div(ie, ir::index(c)), ir::index(c));
    QCOMPARE(ir::print(a.simplify(twice)), ir::print(twice));
  }
  a.bind(i.get(), {0, 9});
  QVERIFY(!a.prove(ie < ir::index(INT64_MIN)));
  QVERIFY(a.decided(ir::index(INT64_MIN) <= ie) != std::optional(false));
}

void AnalyzerTest::provesOnlyWhatHolds() {
  for (int seed = 0; seed < 3000; ++seed) {
    Rng rng(static_cast<uint64_t>(seed) + 5000);
    const std::vector<ir::Var> vars{ir::make_var("i"), ir::make_var("j")};
    arith::Analyzer a;
    for (const ir::Var& v : vars) a.bind(v.get(), {0, 7});
    const Expr x = random_expr(rng, vars, 3), y = random_expr(rng, vars, 3);
    const Expr fact = random_expr(rng, vars, 2) <= random_expr(rng, vars, 2);
    a.push_fact(fact);
    const Expr cond = rng.uniform(2) ? x < y : ir::equal(x, y);
    if (ir::as_int(cond) || !a.prove(cond)) continue;
    for (int64_t i = 0; i <= 7; ++i)
      for (int64_t j = 0; j <= 7; ++j) {
        const Values values{{vars[0].get(), i}, {vars[1].get(), j}};
        if (evaluate(fact, values)) QVERIFY2(evaluate(cond, values), qPrintable(QString::fromStdString(fmt::format("seed {}: {}", seed, ir::print(cond)))));
      }
  }
}

QTEST_APPLESS_MAIN(AnalyzerTest)
#include "analyzer_test.moc"
