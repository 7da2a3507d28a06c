// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/eval.h"

#include <QtTest>
#include <cmath>

#include "engine/base/host_array.h"
#include "engine/ir/print.h"
#include "tests/engine/ir/random_expr.h"

using namespace tw;
using namespace tw::ir;

class EvalTest : public QObject {
  Q_OBJECT

  Var i_ = make_var("i"), j_ = make_var("j"), k_ = make_var("k");

  /// Value of an integer expression with i = 3, j = -2, k = 7.
  int64_t value(const Expr& e) const {
    EvalCompiler compiler;
    const int i = compiler.bind(i_.get()), j = compiler.bind(j_.get()), k = compiler.bind(k_.get());
    const EvalCode* code = compiler.compile(e);
    EvalState s = compiler.make_state();
    s.vars[static_cast<size_t>(i)].i = 3;
    s.vars[static_cast<size_t>(j)].i = -2;
    s.vars[static_cast<size_t>(k)].i = 7;
    const int64_t v = eval_int(*code, s);
    return s.error ? INT64_MIN : v;
  }

 private Q_SLOTS:
  void folding_is_evaluation() {
    static constexpr BinaryOp kOps[] = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::div, BinaryOp::floor_div, BinaryOp::floor_mod,
                                        BinaryOp::min, BinaryOp::max, BinaryOp::eq,  BinaryOp::ne,  BinaryOp::lt,        BinaryOp::le};
    const int64_t numbers[] = {INT64_MIN, -7, -2, -1, 0, 1, 2, 7, INT64_MAX};
    for (const BinaryOp op : kOps)
      for (const int64_t a : numbers)
        for (const int64_t b : numbers) {
          const auto folded = as_int(binary(op, index(a), index(b)));
          if (!folded) continue;
          EvalCompiler compiler;
          const int x = compiler.bind(i_.get()), y = compiler.bind(j_.get());
          const EvalCode* code = compiler.compile(binary(op, to_expr(i_), to_expr(j_)));
          EvalState s = compiler.make_state();
          s.vars[static_cast<size_t>(x)].i = a;
          s.vars[static_cast<size_t>(y)].i = b;
          QCOMPARE(eval_int(*code, s), *folded);
        }
  }
  void integers_stay_in_their_type() {
    Rng rng(5);
    RandomExpr random(rng, {i_, j_, k_}, {});
    for (int n = 0; n < 3000; ++n) {
      const Expr e = random.make(random.any_type(), 5);
      if (e->dtype.is_float()) continue;
      const int64_t v = value(e);
      if (v != INT64_MIN) QVERIFY2(wrap_int(e->dtype, v) == v, print(e).c_str());
    }
  }
  void known_ranges_do_not_change_positions() {
    Rng rng(9);
    const Buffer b = make_buffer("b", kFloat32, {40, 30});
    RandomExpr random(rng, {i_, j_, k_}, {});
    int inside = 0;
    for (int n = 0; n < 4000; ++n) {
      const auto linear = [&] {
        return to_expr(i_) * rng.range(-1, 6) + to_expr(j_) * rng.range(0, 3) + (rng.uniform(2) ? to_expr(k_) - 1 : index(rng.range(-2, 9)));
      };
      const std::vector<Expr> indices{linear(), rng.uniform(8) ? linear() : floor_mod(linear(), index(30))};
      EvalCompiler plain, ranged;
      const int vars[] = {plain.bind(i_.get()), plain.bind(j_.get()), plain.bind(k_.get())};
      ranged.bind(i_.get(), 0, 5);
      ranged.bind(j_.get(), 1, 3);
      ranged.bind(k_.get(), 1, 4);
      const EvalCode *p = plain.compile_position(b, indices, "read of"), *q = ranged.compile_position(b, indices, "read of");
      for (int trial = 0; trial < 5; ++trial) {
        EvalState s = plain.make_state(), t = ranged.make_state();
        const int64_t values[] = {rng.range(0, 4), rng.range(1, 3), rng.range(1, 4)};
        for (int v = 0; v < 3; ++v) s.vars[static_cast<size_t>(vars[v])].i = t.vars[static_cast<size_t>(vars[v])].i = values[v];
        const int64_t x = eval_int(*p, s), y = eval_int(*q, t);
        QCOMPARE(t.error.has_value(), s.error.has_value());
        if (!s.error) QCOMPARE(y, x);
        inside += !s.error;
      }
    }
    QVERIFY(inside > 1000);
  }
  void vector_lanes() {
    EvalCompiler compiler;
    const Var v = make_var("v", kInt32.with_lanes(4));
    const int base = compiler.bind(i_.get()), lanes = compiler.bind(v.get());
    const EvalCode* code = compiler.compile(cast(kInt32.with_lanes(4), ramp(to_expr(i_), index(-3), 4)) * to_expr(v));
    EvalState s = compiler.make_state();
    s.vars[static_cast<size_t>(base)].i = 10;
    for (int l = 0; l < 4; ++l) s.vars[static_cast<size_t>(lanes + l)].i = l + 1;
    const int64_t expected[] = {10, 14, 12, 4};
    for (s.lane = 0; s.lane < 4; ++s.lane) QCOMPARE(eval_int(*code, s), expected[s.lane]);
  }
  void minimum_and_maximum_keep_nan() {
    QVERIFY(std::isnan(nan_min(NAN, 1)) && std::isnan(nan_min(1, NAN)) && std::isnan(nan_max(NAN, 1)) && std::isnan(nan_max(1, NAN)));
    QCOMPARE(nan_min(1, 2), 1.0);
    QCOMPARE(nan_max(-INFINITY, 2), 2.0);
  }
  /// As a processor divides: sums are not rounded, quotients are.
  void quotients_round() {
    EvalCompiler compiler;
    const Var x = make_var("x", kFloat32);
    const int slot = compiler.bind(x.get());
    const EvalCode *third = compiler.compile(to_expr(x) / fimm(kFloat32, 3)), *more = compiler.compile(to_expr(x) + fimm(kFloat32, 1e-9));
    EvalState s = compiler.make_state();
    s.vars[static_cast<size_t>(slot)].f = 1;
    QCOMPARE(eval_float(*third, s), static_cast<double>(1.0F / 3.0F));
    QVERIFY(eval_float(*more, s) > 1);
  }
  void stores_round() {
    for (const DType t : {kFloat16, kBFloat16, kFloat32, kFloat64, kInt8, kUInt16, kInt32, kUInt64, kBool}) {
      HostArray a = HostArray::make(t, {3});
      EvalArray array{make_buffer("a", t, {3}), a.data.data()};
      EvalValue v;
      if (t.is_float())
        v.f = 1.0 / 3;
      else
        v.i = 0x1234567890;
      store_element(array, 1, v);
      if (t.is_float())
        QCOMPARE(a.get(1), round_to(t, 1.0 / 3));
      else
        QCOMPARE(a.get_int(1), wrap_int(t, 0x1234567890));
      QCOMPARE(a.get(0), 0.0);
      QCOMPARE(a.get(2), 0.0);
    }
  }
};

QTEST_APPLESS_MAIN(EvalTest)
#include "eval_test.moc"
