// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/index.h"

#include <QtTest>

#include "engine/base/rng.h"
#include "engine/codegen/code_size.h"
#include "engine/ir/visit.h"

using namespace tw;
using namespace tw::codegen;
using ir::BinaryOp;
using ir::Expr;

namespace {

/// The value of an index expression made of constants after substitution.
int64_t value_of(const Expr& e) {
  if (const auto v = ir::as_int(e)) return *v;
  const Expr folded = ir::map_children(e, [](const Expr& x) { return ir::index(value_of(x)); });
  const auto* n = ir::as<ir::BinaryNode>(folded);
  return n == nullptr ? *ir::as_int(folded) : *ir::as_int(ir::binary(n->op, n->a, n->b));
}

Expr random_index(Rng& rng, const std::vector<ir::Var>& vars, int depth) {
  if (depth == 0) return rng.uniform(3) == 0 ? ir::index(rng.range(-5, 9)) : ir::to_expr(vars[rng.uniform(vars.size())]);
  const Expr a = random_index(rng, vars, depth - 1);
  switch (rng.uniform(7)) {
    case 0:
      return a * rng.range(-4, 8);
    case 1:
      return ir::floor_div(a, ir::index(rng.range(1, 6)));
    case 2:
      return ir::floor_mod(a, ir::index(rng.range(1, 6)));
    case 3:
      return ir::min(a, random_index(rng, vars, depth - 1));
    case 4:
      return a - random_index(rng, vars, depth - 1);
    default:
      return a + random_index(rng, vars, depth - 1);
  }
}

}  // namespace

class IndexTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Random expressions at random points: values lie in the interval, are multiples of the divisor and equal the linear form; decided conditions hold.
  void facts_are_true() {
    Rng rng(5);
    int decided_conditions = 0;
    for (int round = 0; round < 2000; ++round) {
      std::vector<ir::Var> vars = {ir::make_var("a"), ir::make_var("b"), ir::make_var("c")};
      Ranges ranges;
      for (const ir::Var& v : vars) {
        const int64_t lo = rng.range(-8, 8);
        ranges[v.get()] = {lo, lo + rng.range(0, 9)};
      }
      const Expr e = random_index(rng, vars, 3), f = random_index(rng, vars, 2);
      const auto range = interval_of(e, ranges);
      QVERIFY(range);
      const Expr cond = ir::binary(std::array{BinaryOp::lt, BinaryOp::le, BinaryOp::eq, BinaryOp::ne}[rng.uniform(4)], e, f);
      const auto known = decided(cond, ranges);
      decided_conditions += known.has_value();
      Ranges then = ranges, otherwise = ranges;
      narrow(then, cond, true);
      narrow(otherwise, cond, false);
      const LinearIndex linear = linear_index(e);
      for (int sample = 0; sample < 12; ++sample) {
        ir::VarMap at;
        std::vector<int64_t> point;
        for (const ir::Var& v : vars) {
          point.push_back(rng.range(ranges[v.get()].lo, ranges[v.get()].hi));
          at.insert_or_assign(v.get(), ir::index(point.back()));
        }
        const auto value = [&](const Expr& x) { return value_of(ir::substitute(x, at)); };
        const int64_t x = value(e);
        QVERIFY(range->lo <= x && x <= range->hi);
        if (const int64_t d = known_divisor(e); d != 0)
          QCOMPARE(x % d, 0);
        else
          QCOMPARE(x, 0);
        int64_t sum = linear.constant;
        for (const auto& t : linear.terms) sum += t.coefficient * value(t.atom);
        QCOMPARE(sum, x);
        const bool holds = value(cond) != 0;
        if (known) QCOMPARE(holds, *known);
        for (size_t k = 0; k < vars.size(); ++k) {
          const Interval narrowed = (holds ? then : otherwise)[vars[k].get()];
          QVERIFY(narrowed.lo <= point[k] && point[k] <= narrowed.hi);
        }
      }
    }
    QVERIFY(decided_conditions > 100);
  }

  void whatFitsHalfOfTheBits() {
    const Expr stored = ir::cast(ir::kIndex, ir::to_expr(ir::make_var("s", kInt32))), wide = ir::to_expr(ir::make_var("w")), zero = ir::index(0);
    const auto from_end = [&](const Expr& x, int64_t n) { return ir::select(x < zero, x + n, x); };
    QVERIFY(fits_half(stored));
    QVERIFY(fits_half(ir::index(INT32_MAX)) && !fits_half(ir::index(int64_t{INT32_MAX} + 1)));
    QVERIFY(!fits_half(stored + 1) && !fits_half(wide));
    QVERIFY(fits_half(ir::min(ir::max(from_end(stored, 128), zero), ir::index(127))));
    QVERIFY(!fits_half(from_end(stored, -1)) && !fits_half(from_end(wide, 128)) && !fits_half(ir::select(zero < stored, stored + 128, stored)));
    QVERIFY(!fits_half(ir::select(wide < zero, stored + 128, stored)) && !fits_half(ir::min(stored, wide)));
  }

  void narrowing() {
    const ir::Var v = ir::make_var("v");
    const auto after = [&](const Expr& cond, bool holds) {
      Ranges r = {{v.get(), {0, 100}}};
      narrow(r, cond, holds);
      return r[v.get()];
    };
    const Expr x = ir::to_expr(v);
    QCOMPARE(after(x < ir::index(10), true).hi, 9);
    QCOMPARE(after(x < ir::index(10), false).lo, 10);
    QCOMPARE(after(x <= ir::index(10), true).hi, 10);
    QCOMPARE(after(x <= ir::index(10), false).lo, 11);
    QCOMPARE(after(ir::index(10) < x, true).lo, 11);
    QCOMPARE(after(ir::index(10) < x, false).hi, 10);
    QCOMPARE(after(ir::index(5) <= x && x < ir::index(7), true).lo, 5);
    QCOMPARE(after(ir::index(5) <= x && x < ir::index(7), true).hi, 6);
    QCOMPARE(after(ir::index(5) <= x && x < ir::index(7), false).hi, 100);
    QCOMPARE(after(x < ir::index(5) || ir::index(7) < x, false).lo, 5);
    QCOMPARE(after(x < ir::index(5) || ir::index(7) < x, false).hi, 7);
  }

  void ramps() {
    const ir::Var v = ir::make_var("v");
    const Expr r = ir::ramp(ir::to_expr(v), ir::index(1), 8);
    const auto sum = as_ramp(r * ir::index(3) + ir::index(5) - ir::ramp(ir::index(0), ir::index(2), 8));
    QVERIFY(sum);
    QVERIFY(ir::is_int(sum->stride, 1));
    QVERIFY(!as_ramp(ir::floor_div(r, ir::imm(r->dtype, 2))));
    QVERIFY(!as_ramp(r * r));
    QVERIFY(!as_ramp(ir::to_expr(v)));
    QVERIFY(ir::is_int(as_ramp(ir::broadcast(ir::to_expr(v), 4))->stride, 0));
  }

  /// A loop ends a run of straight-line code; unrolled bodies add up.
  void code_sizes() {
    const auto C = ir::make_buffer("C", kFloat32, {8});
    const tir::Stmt one = tir::store(C, {ir::index(0)}, ir::fimm(kFloat32, 1) + ir::fimm(kFloat32, 2));
    const tir::Stmt loop = tir::make_for(ir::make_var("i"), ir::index(0), ir::index(100), tir::ForKind::serial, tir::seq({one, one, one}));
    const CodeSize size = code_size({"f", {C}, 1, tir::seq({one, loop, one})});
    QCOMPARE(size.block_stores, 3);
    QCOMPARE(size.nodes, 5 * 4 + 2);
    const tir::Func large{"f", {C}, 1, tir::seq(std::vector<tir::Stmt>(kMaxBlockStores + 1, one))};
    const auto refused = check_code_size(large);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::resource_limit);
  }

  /// Lanes of sums, multiples, quotients and remainders, whose bases are known to be multiples or not; and the pieces they fall into.
  void lanes_of_vectors() {
    const ir::Var i = ir::make_var("i");
    const auto v = ir::ramp(ir::to_expr(i) * int64_t{16}, ir::index(1), 16);
    const auto all = [](int64_t value) { return ir::broadcast(ir::index(value), 16); };
    const auto check = [&](const Expr& e, int pieces, const std::function<int64_t(int64_t)>& value) {
      const auto lanes = lane_offsets(e);
      QVERIFY(lanes.has_value());
      for (const int64_t at : {0, 3}) {
        const int64_t base = value_of(ir::substitute(lanes->base, {{i.get(), ir::index(at)}}));
        for (int64_t k = 0; k < 16; ++k) QCOMPARE(base + lanes->offsets[static_cast<size_t>(k)], value(16 * at + k));
      }
      QCOMPARE(piece_length(lanes->offsets), pieces);
    };
    check(ir::floor_div(v, all(8)) * all(24) + all(5), 8, [](int64_t k) { return k / 8 * 24 + 5; });
    check(ir::floor_mod(v, all(4)), 4, [](int64_t k) { return k % 4; });
    check(ir::floor_div(v, all(8)) * all(40) - ir::floor_mod(v, all(8)) * all(-1), 8, [](int64_t k) { return k / 8 * 40 + k % 8; });
    check(v * all(3), 0, [](int64_t k) { return k * 3; });
    check(ir::floor_div(v, all(32)), 8, [](int64_t k) { return k / 32; });
    check(ir::floor_mod(v, all(48)), 8, [](int64_t k) { return k % 48; });
    QVERIFY(!lane_offsets(ir::floor_div(v, all(24))));
    QVERIFY(!lane_offsets(ir::floor_mod(v + ir::broadcast(ir::to_expr(i), 16), all(8))));
    QVERIFY(!lane_offsets(v * v));
  }
};

QTEST_APPLESS_MAIN(IndexTest)
#include "index_test.moc"
