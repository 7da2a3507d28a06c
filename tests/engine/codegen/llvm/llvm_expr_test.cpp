// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include <cmath>
#include <functional>
#include <limits>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "tests/engine/codegen/kernel_runner.h"

using namespace tw;
using namespace tw::codegen::testing;
using ir::BinaryOp;
using ir::Expr;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

const std::vector<DType> kInts = {kInt8, kInt16, kInt32, kInt64, kUInt8, kUInt16, kUInt32, kUInt64};
const std::vector<DType> kFloats = {kFloat16, kBFloat16, kFloat32, kFloat64};

HostArray array(DType t, const std::vector<double>& values) {
  HostArray a = HostArray::make(t, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) t.is_float() ? a.set(i, values[i]) : a.set_int(i, static_cast<int64_t>(values[i]));
  return a;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// a op b for every pair of numbers, scalar and in vectors of 16, against `expect` on the same numbers. All are compiled together.
class BinaryChecks {
 public:
  using Expect = std::function<double(double, double)>;

  void add(BinaryOp op, DType in, DType out, const std::vector<double>& values, Expect expect, double tolerance = 0) {
    const HostArray v = array(in, values);
    const auto n = static_cast<int64_t>(values.size() * values.size());
    HostArray a = HostArray::make(in, {n}), b = a;
    for (int64_t i = 0; i < n; ++i) {
      const auto size = static_cast<int64_t>(values.size()), bytes = int64_t{in.bytes()};
      std::memcpy(a.data.data() + i * bytes, v.data.data() + i / size * bytes, static_cast<size_t>(bytes));
      std::memcpy(b.data.data() + i * bytes, v.data.data() + i % size * bytes, static_cast<size_t>(bytes));
    }
    for (const int lanes : {1, 16}) {
      QVERIFY(n % lanes == 0);
      const auto A = ir::make_buffer("A", in, {n}), B = ir::make_buffer("B", in, {n}), C = ir::make_buffer("C", out, {n});
      jobs_.push_back({elementwise({A, B}, C, lanes, [&](const Expr& i) { return ir::binary(op, ir::load(A, {i}), ir::load(B, {i})); }),
                       {a, b, HostArray::make(out, {n})}});
      checks_.push_back({op, out, lanes, expect, tolerance});
    }
  }

  void run() {
    const auto done = run_all(jobs_, host_target());
    QVERIFY2(done, done ? "" : done.error().text().c_str());
    for (size_t j = 0; j < jobs_.size(); ++j) {
      const auto& [op, out, lanes, expect, tolerance] = checks_[j];
      const HostArray &a = jobs_[j].args[0], &b = jobs_[j].args[1], &c = jobs_[j].args[2];
      for (int64_t i = 0; i < c.num_elements(); ++i) {
        const double want = round_to(out, expect(a.get(i), b.get(i))), got = c.get(i);
        const bool ok = same(want, got) || std::abs(want - got) <= tolerance * std::abs(want);
        QVERIFY2(ok,
                 fmt::format("{} {} {} ({}, {} lanes) gives {}, not {}", a.get(i), ir::binary_op_name(op), b.get(i), a.dtype.name(), lanes, got, want).c_str());
      }
    }
  }

 private:
  struct Check {
    BinaryOp op;
    DType out;
    int lanes;
    Expect expect;
    double tolerance;
  };
  std::vector<Job> jobs_;
  std::vector<Check> checks_;
};

int64_t wrap(DType t, int64_t v) {
  HostArray a = HostArray::make(t, {1});
  a.set_int(0, v);
  return a.get_int(0);
}

/// `v` wrapped to type t, as a number.
double unwrap(DType t, int64_t v) { return t == kUInt64 ? static_cast<double>(static_cast<uint64_t>(v)) : static_cast<double>(wrap(t, v)); }

}  // namespace

class ExprTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void int_arithmetic() {
    BinaryChecks checks;
    for (const DType t : kInts) {
      const double lo = t.is_signed() ? -100 : 200, x = t.is_signed() ? -7 : 13;
      const std::vector<double> values = {0, 1, 2, 3, 7, 100, x, lo};
      checks.add(BinaryOp::add, t, t, values, [=](double a, double b) { return wrap(t, static_cast<int64_t>(a) + static_cast<int64_t>(b)); });
      checks.add(BinaryOp::sub, t, t, values, [=](double a, double b) { return unwrap(t, static_cast<int64_t>(a) - static_cast<int64_t>(b)); });
      checks.add(BinaryOp::mul, t, t, values, [=](double a, double b) { return wrap(t, static_cast<int64_t>(a) * static_cast<int64_t>(b)); });
      checks.add(BinaryOp::min, t, t, values, [](double a, double b) { return std::min(a, b); });
      checks.add(BinaryOp::max, t, t, values, [](double a, double b) { return std::max(a, b); });
      checks.add(BinaryOp::bit_xor, t, t, values, [=](double a, double b) { return wrap(t, static_cast<int64_t>(a) ^ static_cast<int64_t>(b)); });
    }
    checks.run();
  }

  void int_division_never_traps() {
    BinaryChecks checks;
    for (const DType t : kInts) {
      const double x = t.is_signed() ? -7 : 13, y = t.is_signed() ? -1 : 255;
      const std::vector<double> values = {0, 1, 2, 3, 7, 100, x, y};
      checks.add(BinaryOp::div, t, t, values, [=](double a, double b) { return b == 0 ? 0 : wrap(t, static_cast<int64_t>(std::trunc(a / b))); });
      const auto floor_quotient = [&](double a, double b) { return b == 0 ? 0.0 : std::floor(a / b); };
      checks.add(BinaryOp::floor_div, t, t, values, [=](double a, double b) { return wrap(t, static_cast<int64_t>(floor_quotient(a, b))); });
      checks.add(BinaryOp::floor_mod, t, t, values, [=](double a, double b) { return b == 0 ? 0 : a - b * floor_quotient(a, b); });
    }
    checks.run();
  }

  /// Every number divided by constants, which take other roads: shifts for powers of two, unsigned where the range allows.
  void division_by_constants() {
    for (const int64_t divisor : {1, 2, 3, 8, 10, -1, -2, -3, -8, -7}) {
      for (const int lanes : {1, 8}) {
        const int64_t n = 64;
        const auto A = ir::make_buffer("A", kInt64, {n}), Q = ir::make_buffer("Q", kInt64, {n * 3});
        HostArray a = HostArray::make(kInt64, {n});
        for (int64_t i = 0; i < n; ++i) a.set_int(i, i * 5 - 160);
        const ir::Var v = ir::make_var("i");
        const Expr first = ir::to_expr(v) * int64_t{lanes};
        const Expr at = lanes == 1 ? first : ir::ramp(first, ir::index(1), lanes);
        const Expr x = ir::load(A, {at}), d = ir::imm(kInt64.with_lanes(lanes), divisor);
        tir::Func f{"kernel",
                    {A, Q},
                    1,
                    tir::make_for(v, ir::index(0), ir::index(n / lanes), tir::ForKind::serial,
                                  tir::seq({tir::store(Q, {at}, ir::floor_div(x, d)), tir::store(Q, {at + ir::index(n)}, ir::floor_mod(x, d)),
                                            tir::store(Q, {at + ir::index(2 * n)}, ir::floor_mod(at, ir::imm(at->dtype, std::abs(divisor))))}))};
        std::vector<HostArray> args = {a, HostArray::make(kInt64, {3 * n})};
        QVERIFY(run(f, args, host_target()));
        for (int64_t i = 0; i < n; ++i) {
          const auto q = static_cast<int64_t>(std::floor(static_cast<double>(a.get_int(i)) / static_cast<double>(divisor)));
          QCOMPARE(args[1].get_int(i), q);
          QCOMPARE(args[1].get_int(n + i), a.get_int(i) - q * divisor);
          QCOMPARE(args[1].get_int(2 * n + i), i % std::abs(divisor));
        }
      }
    }
  }

  /// Consecutive numbers, whose vectors pass none, one or several multiples of the divisor.
  void ramps_divided_by_constants() {
    const int64_t n = 512, lanes = 16;
    for (const int64_t divisor : {5, 15, 16, 17, 31, 33, 257})
      for (const int64_t step : {1, 2, 3})
        for (const int64_t from : {-300, 0, 7}) {
          const auto Q = ir::make_buffer("Q", kInt64, {n * 2});
          const ir::Var v = ir::make_var("i");
          const Expr first = ir::to_expr(v) * lanes, at = ir::ramp(first, ir::index(1), lanes);
          const Expr x = ir::ramp(first * step + from, ir::index(step), lanes), d = ir::broadcast(ir::index(divisor), lanes);
          const tir::Func f{"kernel", {Q}, 1,
                            tir::make_for(v, ir::index(0), ir::index(n / lanes), tir::ForKind::serial,
                                          tir::seq({tir::store(Q, {at}, ir::floor_div(x, d)), tir::store(Q, {ir::ramp(first + n, ir::index(1), lanes)}, ir::floor_mod(x, d))}))};
          std::vector<HostArray> args = {HostArray::make(kInt64, {2 * n})};
          QVERIFY(run(f, args, host_target()));
          for (int64_t i = 0; i < n; ++i) {
            const int64_t number = i * step + from;
            const auto q = static_cast<int64_t>(std::floor(static_cast<double>(number) / static_cast<double>(divisor)));
            QCOMPARE(args[0].get_int(i), q);
            QCOMPARE(args[0].get_int(n + i), number - q * divisor);
          }
        }
  }

  void shifts() {
    BinaryChecks checks;
    checks.add(BinaryOp::shl, kInt32, kInt32, {0, 1, 2, 5, 31, 32, 33, 40},
               [](double a, double b) { return b > 31 ? 0 : wrap(kInt32, static_cast<int64_t>(a) << static_cast<int64_t>(b)); });
    checks.add(BinaryOp::shr, kUInt32, kUInt32, {0, 1, 2, 5, 31, 32, 4000000000.0, 40},
               [](double a, double b) { return b > 31 ? 0 : static_cast<double>(static_cast<uint32_t>(a) >> static_cast<uint32_t>(b)); });
    checks.add(BinaryOp::shr, kInt32, kInt32, {0, 1, 2, 5, 31, 32, 1000000, 40},
               [](double a, double b) { return static_cast<double>(static_cast<int64_t>(a) >> static_cast<int64_t>(std::min(b, 63.0))); });
    checks.run();
  }

  void float_arithmetic() {
    BinaryChecks checks;
    for (const DType t : kFloats) {
      const std::vector<double> values = {0, 1, -2.5, 3.140625, kInf, -kInf, kNan, 0.0078125};
      const double tolerance = t.bits == 64 ? 0 : t.bits == 32 ? 1e-7 : 1e-3;
      checks.add(
          BinaryOp::add, t, t, values, [](double a, double b) { return a + b; }, tolerance);
      checks.add(
          BinaryOp::sub, t, t, values, [](double a, double b) { return a - b; }, tolerance);
      checks.add(
          BinaryOp::mul, t, t, values, [](double a, double b) { return a * b; }, tolerance);
      checks.add(
          BinaryOp::div, t, t, values, [](double a, double b) { return a / b; }, tolerance);
      checks.add(BinaryOp::min, t, t, values, [](double a, double b) { return a < b ? a : b; });
      checks.add(BinaryOp::max, t, t, values, [](double a, double b) { return a > b ? a : b; });
    }
    checks.run();
  }

  /// With a constant the other operand's NaN stays: relu and clamping do not hide one.
  void clamping_keeps_nan() {
    const auto A = ir::make_buffer("A", kFloat32, {4}), C = ir::make_buffer("C", kFloat32, {4});
    for (const bool constant_first : {false, true}) {
      std::vector<HostArray> args = {array(kFloat32, {kNan, -1, 3, 9}), HostArray::make(kFloat32, {4})};
      const auto clamp = [&](const Expr& i) {
        const Expr x = ir::load(A, {i}), lo = ir::fimm(kFloat32.with_lanes(4), 0), hi = ir::fimm(kFloat32.with_lanes(4), 6);
        return constant_first ? ir::min(hi, ir::max(lo, x)) : ir::min(ir::max(x, lo), hi);
      };
      QVERIFY(run(elementwise({A}, C, 4, clamp), args, host_target()));
      QVERIFY(std::isnan(args[1].get(0)));
      QCOMPARE(args[1].get(1), 0.0);
      QCOMPARE(args[1].get(2), 3.0);
      QCOMPARE(args[1].get(3), 6.0);
    }
  }

  void comparisons() {
    BinaryChecks checks;
    std::vector<DType> types = kInts;
    types.insert(types.end(), kFloats.begin(), kFloats.end());
    for (const DType t : types) {
      std::vector<double> values = {0, 1, 2, 3, 100, 127, 5, 6};
      if (t.is_signed() || t.is_float()) values[6] = -3;
      if (t.is_float()) values[7] = kNan;
      if (!t.is_signed() && t.is_int()) values[7] = 200;
      checks.add(BinaryOp::lt, t, kBool, values, [](double a, double b) { return a < b; });
      checks.add(BinaryOp::le, t, kBool, values, [](double a, double b) { return a <= b; });
      checks.add(BinaryOp::eq, t, kBool, values, [](double a, double b) { return a == b; });
      checks.add(BinaryOp::ne, t, kBool, values, [](double a, double b) { return a != b; });
    }
    checks.run();
  }

  void logic() {
    BinaryChecks checks;
    const std::vector<double> values = {0, 1, 0, 1};
    checks.add(BinaryOp::and_, kBool, kBool, values, [](double a, double b) { return a != 0 && b != 0; });
    checks.add(BinaryOp::or_, kBool, kBool, values, [](double a, double b) { return a != 0 || b != 0; });
    checks.add(BinaryOp::eq, kBool, kBool, values, [](double a, double b) { return a == b; });
    checks.add(BinaryOp::lt, kBool, kBool, values, [](double a, double b) { return a < b; });
    checks.run();
  }

  /// All pairs of types; floats to integers saturate and NaN gives 0.
  void casts() {
    std::vector<DType> types = kInts;
    types.insert(types.end(), kFloats.begin(), kFloats.end());
    types.push_back(kBool);
    for (const DType from : types) {
      std::vector<double> values = {0, 1, 2, 3, 100, 127, 77, 5, 6, 7, 8, 9, 10, 11, 12, 13};
      if (from.is_float()) values = {0, -0.5, 0x1p63 - 0x1p39, 1.75, -1.75, 1e30, -1e30, kInf, -kInf, kNan, 300, -300, 65504, 0x1p31 - 0x1p7, 0x1p31, -0x1p31 - 0x1p8};
      if (from.is_signed()) values[3] = -3, values[4] = -128;
      const HostArray a = array(from, values);
      std::vector<Job> jobs;
      for (const DType to : types)
        for (const int lanes : {1, 16}) {
          const auto A = ir::make_buffer("A", from, {16}), C = ir::make_buffer("C", to, {16});
          jobs.push_back(
              {elementwise({A}, C, lanes, [&](const Expr& i) { return ir::cast(to.with_lanes(lanes), ir::load(A, {i})); }), {a, HostArray::make(to, {16})}});
        }
      const auto done = run_all(jobs, host_target());
      QVERIFY2(done, done ? "" : done.error().text().c_str());
      for (const Job& job : jobs) {
        const DType to = job.args[1].dtype;
        for (int64_t i = 0; i < 16; ++i) {
          const double x = a.get(i), got = job.args[1].get(i);
          double want = x;
          if (to.is_bool())
            want = x != 0;
          else if (to.is_float())
            want = round_to(to, x);
          else if (!from.is_float())
            want = unwrap(to, a.get_int(i));
          else if (std::isnan(x))
            want = 0;
          else
            want = std::clamp(std::trunc(x), to.is_signed() ? -std::ldexp(1.0, to.bits - 1) : 0.0,
                              std::ldexp(1.0, to.is_signed() ? to.bits - 1 : to.bits) - (to.bits == 64 ? 0 : 1));
          QVERIFY2(same(want, got), fmt::format("{} of {} as {} gives {}, not {}", x, from.name(), to.name(), got, want).c_str());
        }
      }
    }
  }

  /// Doubles that a float would round onto the middle between two 16-bit numbers.
  void sixteen_bit_rounding_of_doubles() {
    for (const DType t : {kFloat16, kBFloat16}) {
      const int64_t n = 4096;
      HostArray a = HostArray::make(kFloat64, {n});
      Rng rng(11);
      for (int64_t i = 0; i < n; ++i) {
        const double middle = std::ldexp(static_cast<double>(2 * rng.range(256, 4096) + 1), static_cast<int>(rng.range(-28, 4)));
        a.set(i, (i % 2 ? -1 : 1) * middle * (1 + std::ldexp(static_cast<double>(rng.range(-1, 1)), -40)));
      }
      const auto A = ir::make_buffer("A", kFloat64, {n}), C = ir::make_buffer("C", t, {n});
      for (const int lanes : {1, 16}) {
        const tir::Func f = elementwise({A}, C, lanes, [&](const Expr& i) { return ir::cast(t.with_lanes(lanes), ir::load(A, {i})); });
        std::vector<HostArray> args = {a, HostArray::make(t, {n})};
        QVERIFY(run(f, args, host_target()));
        for (int64_t i = 0; i < n; ++i) QVERIFY(same(args[1].get(i), round_to(t, a.get(i))));
      }
    }
  }

  /// Rounding at the store, ties to even, against the host's own conversions.
  void sixteen_bit_rounding() {
    for (const DType t : {kFloat16, kBFloat16}) {
      const int64_t n = 4096;
      HostArray a = HostArray::make(kFloat32, {n});
      Rng rng(7);
      for (int64_t i = 0; i < n; ++i) {
        const auto bits = static_cast<uint32_t>(rng.next());
        std::memcpy(a.data.data() + 4 * i, &bits, 4);
      }
      const auto A = ir::make_buffer("A", kFloat32, {n}), C = ir::make_buffer("C", t, {n});
      const tir::Func f = elementwise({A}, C, 16, [&](const Expr& i) { return ir::cast(t.with_lanes(16), ir::load(A, {i})); });
      std::vector<HostArray> args = {a, HostArray::make(t, {n})};
      QVERIFY(run(f, args, host_target()));
      for (int64_t i = 0; i < n; ++i) QVERIFY(same(args[1].get(i), round_to(t, a.get(i))));
    }
  }

  /// A scalar select takes one branch only, so its other branch may lie outside the array.
  void select_is_lazy() {
    const auto A = ir::make_buffer("A", kFloat32, {8}), C = ir::make_buffer("C", kFloat32, {16});
    HostArray a = array(kFloat32, {1, 2, 3, 4, 5, 6, 7, 8});
    for (const int lanes : {1, 16}) {
      const tir::Func f = elementwise({A}, C, lanes, [&](const Expr& i) {
        const Expr shift = ir::imm(i->dtype, 100000000), zero = ir::zero(kFloat32.with_lanes(lanes));
        const Expr inside = i < ir::imm(i->dtype, 8);
        const Expr far = ir::load(A, {i * shift});  // in bounds for i = 0 only
        return ir::select(inside && ir::load(A, {i}) < ir::constant(kFloat32.with_lanes(lanes), 4),
                          ir::select(ir::equal(i, ir::zero(i->dtype)), far, ir::load(A, {i})), zero);
      });
      std::vector<HostArray> args = {a, HostArray::make(kFloat32, {16})};
      const auto done = run(f, args, host_target());
      QVERIFY2(done, done ? "" : done.error().text().c_str());
      for (int i = 0; i < 16; ++i) QCOMPARE(args[1].get(i), i < 3 ? i + 1.0 : 0.0);
    }
  }

  void not_and_ramps() {
    const auto C = ir::make_buffer("C", kInt64, {32});
    const tir::Func f = elementwise({}, C, 16, [&](const Expr& i) {
      const Expr odd = ir::equal(ir::floor_mod(i, ir::imm(i->dtype, 2)), ir::imm(i->dtype, 1));
      return ir::select(ir::logical_not(odd), ir::ramp(ir::index(100), ir::index(-3), 16), ir::broadcast(ir::index(5), 16));
    });
    std::vector<HostArray> args = {HostArray::make(kInt64, {32})};
    QVERIFY(run(f, args, host_target()));
    for (int64_t i = 0; i < 32; ++i) QCOMPARE(args[0].get_int(i), i % 2 ? 5 : 100 - 3 * (i % 16));
  }
};

QTEST_APPLESS_MAIN(ExprTest)
#include "llvm_expr_test.moc"
