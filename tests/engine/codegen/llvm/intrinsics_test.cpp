// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "tests/engine/codegen/kernel_runner.h"

using namespace tw;
using namespace tw::codegen::testing;
using ir::Expr;
using ir::Intrinsic;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

/// A function, its true value, and how far float32 code may be from it in units of the last place. The C library's functions of vectors promise 4.
struct Row {
  Intrinsic function;
  double (*truth)(double);
  double ulps32, ulps64;
  double lo, hi;  ///< where random arguments are dense
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt(double x) { return 1 / std::sqrt(x); }

const Row kRows[] = {
    {Intrinsic::exp, std::exp, 4, 1, -110, 95},    {Intrinsic::log, std::log, 3, 1, 0, 50},         {Intrinsic::tanh, std::tanh, 4, 1, -11, 11},
    {Intrinsic::sigmoid, sigmoid, 4, 3, -100, 30}, {Intrinsic::erf, std::erf, 3, 1, -5, 5},         {Intrinsic::sqrt, std::sqrt, 0.51, 0, 0, 1e6},
    {Intrinsic::rsqrt, rsqrt, 1.6, 1, 0, 1e6},     {Intrinsic::fabs, std::fabs, 0, 0, -9, 9},       {Intrinsic::floor, std::floor, 0, 0, -9, 9},
    {Intrinsic::ceil, std::ceil, 0, 0, -9, 9},     {Intrinsic::round, std::nearbyint, 0, 0, -9, 9}, {Intrinsic::trunc, std::trunc, 0, 0, -9, 9},
    {Intrinsic::sin, std::sin, 4, 4, -9, 9},     {Intrinsic::cos, std::cos, 4, 4, -9, 9},       {Intrinsic::tan, std::tan, 4, 4, -1.5, 1.5},
    {Intrinsic::asin, std::asin, 4, 4, -1, 1},   {Intrinsic::acos, std::acos, 4, 4, -1, 1},     {Intrinsic::atan, std::atan, 4, 4, -9, 9},
    {Intrinsic::sinh, std::sinh, 4, 4, -9, 9},   {Intrinsic::cosh, std::cosh, 4, 4, -9, 9},     {Intrinsic::asinh, std::asinh, 4, 4, -9, 9},
    {Intrinsic::acosh, std::acosh, 4, 4, 1, 9},  {Intrinsic::atanh, std::atanh, 4, 4, -1, 1},
};

/// Corner cases, every order of magnitude of both signs, and numbers where the function is interesting.
std::vector<float> arguments(const Row& row) {
  std::vector<float> x = {0.0F,       -0.0F,     1.0F,   -1.0F,   0.5F,           -0.5F,         1.5F,           2.5F,       -2.5F,    kInfinity,
                          -kInfinity, kNoNumber, 1e-45F, -1e-45F, 1.1754944e-38F, 3.4028235e38F, -3.4028235e38F, 88.72283F,  88.7229F, -103.97F,
                          -87.4F,     0.625F,    0.92F,  4.0F,    1e30F,          -1e30F,        8388609.0F,     -8388607.5F};
  Rng rng(11);
  for (int exponent = -149; exponent <= 127; ++exponent)
    for (int k = 0; k < 8; ++k) x.push_back(static_cast<float>((rng.next() & 1 ? -1 : 1) * std::ldexp(1 + rng.uniform_real(), exponent)));
  while (x.size() < 16384) x.push_back(static_cast<float>(row.lo + (row.hi - row.lo) * rng.uniform_real()));
  return x;
}

/// Distance of `got` from the true value in units of the last place of type t there.
double ulps(DType t, double got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : kInfinity;
  const double rounded = round_to(t, want);
  if (got == rounded) return 0;
  if (std::isnan(got) || std::isinf(got) || std::isinf(rounded)) {
    // One step before overflow may round to infinity, and back.
    const double largest = t.bits == 64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
    const double g = std::isinf(got) ? std::copysign(largest, got) : got, w = std::isinf(rounded) ? std::copysign(largest, rounded) : rounded;
    return std::isnan(got) ? kInfinity : std::abs(g - w) <= largest * 1e-6 ? 1 : kInfinity;
  }
  const int digits = t.bits == 64 ? 52 : 23, lowest = t.bits == 64 ? -1022 : -126;
  const int exponent = want == 0 ? lowest : std::max(std::ilogb(want), lowest);
  return std::abs(got - want) / std::ldexp(1.0, exponent - digits);
}

struct Worst {
  double error = 0, at = 0, got = 0;
};

Worst worst_error(const Row& row, DType t, int lanes, const Target& target) {
  const std::vector<float> x = arguments(row);
  const auto n = static_cast<int64_t>(x.size());
  const auto A = ir::make_buffer("A", t, {n}), C = ir::make_buffer("C", t, {n});
  const tir::Func f = elementwise({A}, C, lanes, [&](const Expr& i) { return ir::call(row.function, {ir::load(A, {i})}); });
  std::vector<HostArray> args = {HostArray::make(t, {n}), HostArray::make(t, {n})};
  for (int64_t i = 0; i < n; ++i) args[0].set(i, x[i]);
  const auto done = run(f, args, target);
  Worst worst;
  if (!done) qWarning("%s", done.error().text().c_str());
  if (!done) worst.error = kInfinity;
  for (int64_t i = 0; done && i < n; ++i) {
    const double error = ulps(t, args[1].get(i), row.truth(args[0].get(i)));
    if (error > worst.error || std::isnan(error)) worst = {error, args[0].get(i), args[1].get(i)};
  }
  return worst;
}

}  // namespace

class IntrinsicsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void float32_data() {
    QTest::addColumn<int>("row");
    QTest::addColumn<int>("lanes");
    for (int r = 0; r < static_cast<int>(std::size(kRows)); ++r)
      for (const int lanes : {1, 2, 8, 16, 32}) QTest::addRow("%s x%d", ir::intrinsic_name(kRows[r].function), lanes) << r << lanes;
  }
  void float32() {
    QFETCH(int, row);
    QFETCH(int, lanes);
    const Worst w = worst_error(kRows[row], kFloat32, lanes, host_target());
    QVERIFY2(w.error <= kRows[row].ulps32, fmt::format("{} ulp at {:.9g}, which gives {:.9g}", w.error, w.at, w.got).c_str());
  }

  /// Without FMA and scalef the same functions take other roads. Any x86-64 machine runs this code.
  void float32_without_fma() {
    for (const Row& row : kRows) {
      const Worst w = worst_error(row, kFloat32, 4, *parse_target("x86-64-v2"));
      QVERIFY2(w.error <= row.ulps32, fmt::format("{}: {} ulp at {:.9g}, which gives {:.9g}", ir::intrinsic_name(row.function), w.error, w.at, w.got).c_str());
    }
  }

  void float64() {
    for (const Row& row : kRows) {
      const Worst w = worst_error(row, kFloat64, 8, host_target());
      QVERIFY2(w.error <= row.ulps64,
               fmt::format("{}: {} ulp at {:.17g}, which gives {:.17g}", ir::intrinsic_name(row.function), w.error, w.at, w.got).c_str());
    }
  }

  /// 16-bit floats are computed in float32 and rounded once.
  void sixteen_bits() {
    for (const DType t : {kFloat16, kBFloat16}) {
      for (const Intrinsic f : {Intrinsic::exp, Intrinsic::tanh, Intrinsic::sqrt, Intrinsic::sin}) {
        const auto A = ir::make_buffer("A", t, {64}), C = ir::make_buffer("C", t, {64});
        std::vector<HostArray> args = {HostArray::make(t, {64}), HostArray::make(t, {64})};
        for (int i = 0; i < 64; ++i) args[0].set(i, 0.1 * i);
        QVERIFY(run(elementwise({A}, C, 16, [&](const Expr& i) { return ir::call(f, {ir::load(A, {i})}); }), args, host_target()));
        double (*truth)(double) = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.function == f; })->truth;
        for (int i = 0; i < 64; ++i)
          QVERIFY(std::abs(args[1].get(i) - truth(args[0].get(i))) <= std::abs(truth(args[0].get(i))) * (t == kFloat16 ? 1.0 / 2000 : 1.0 / 250));
      }
    }
  }

  void two_arguments() {
    for (const DType t : {kFloat32, kFloat64}) {
      for (const Intrinsic f : {Intrinsic::pow, Intrinsic::fmod}) {
        const auto A = ir::make_buffer("A", t, {64}), B = ir::make_buffer("B", t, {64}), C = ir::make_buffer("C", t, {64});
        std::vector<HostArray> args = {HostArray::make(t, {64}), HostArray::make(t, {64}), HostArray::make(t, {64})};
        for (int i = 0; i < 64; ++i) args[0].set(i, 0.3 * i), args[1].set(i, 5.0 - 0.7 * (i % 9));
        QVERIFY(run(elementwise({A, B}, C, 8, [&](const Expr& i) { return ir::call(f, {ir::load(A, {i}), ir::load(B, {i})}); }), args, host_target()));
        for (int i = 0; i < 64; ++i) {
          const double want = f == Intrinsic::pow ? std::pow(args[0].get(i), args[1].get(i)) : std::fmod(args[0].get(i), args[1].get(i));
          QVERIFY(ulps(t, args[2].get(i), want) <= 4);
        }
      }
    }
  }

  void tests_of_values() {
    for (const DType t : {kFloat16, kBFloat16, kFloat32, kFloat64}) {
      const double values[] = {0, 1, kInfinity, -kInfinity, kNoNumber, -2.5, 300, -0.0};
      const auto A = ir::make_buffer("A", t, {8}), N = ir::make_buffer("N", kBool, {8});
      for (const Intrinsic f : {Intrinsic::isnan, Intrinsic::isinf}) {
        std::vector<HostArray> args = {HostArray::make(t, {8}), HostArray::make(kBool, {8})};
        for (int i = 0; i < 8; ++i) args[0].set(i, values[i]);
        QVERIFY(run(elementwise({A}, N, 8, [&](const Expr& i) { return ir::call(f, {ir::load(A, {i})}); }), args, host_target()));
        for (int i = 0; i < 8; ++i) QCOMPARE(args[1].get(i), static_cast<double>(f == Intrinsic::isnan ? std::isnan(values[i]) : std::isinf(values[i])));
      }
    }
    for (const auto& [floats, bits] : {std::pair(kFloat32, kUInt32), std::pair(kFloat64, kUInt64)}) {
      const auto F = ir::make_buffer("F", floats, {16}), B = ir::make_buffer("B", bits, {16}), G = ir::make_buffer("G", floats, {16});
      std::vector<HostArray> there = {HostArray::make(floats, {16}), HostArray::make(bits, {16})};
      for (int i = 0; i < 16; ++i) there[0].set(i, std::ldexp(i - 7.25, 3 * i - 20));
      QVERIFY(run(elementwise({F}, B, 16, [&](const Expr& i) { return ir::call(Intrinsic::float_bits, {ir::load(F, {i})}); }), there, host_target()));
      QCOMPARE(there[1].data, there[0].data);
      std::vector<HostArray> back = {there[1], HostArray::make(floats, {16})};
      QVERIFY(run(elementwise({B}, G, 16, [&](const Expr& i) { return ir::call(Intrinsic::bits_float, {ir::load(B, {i})}); }), back, host_target()));
      QCOMPARE(back[1].data, there[0].data);
    }
    const auto A = ir::make_buffer("A", kInt32, {8}), C = ir::make_buffer("C", kInt32, {8});
    std::vector<HostArray> args = {HostArray::make(kInt32, {8}), HostArray::make(kInt32, {8})};
    for (int i = 0; i < 8; ++i) args[0].set_int(i, i - 4);
    QVERIFY(run(elementwise({A}, C, 8, [&](const Expr& i) { return ir::call(Intrinsic::fabs, {ir::load(A, {i})}); }), args, host_target()));
    for (int i = 0; i < 8; ++i) QCOMPARE(args[1].get_int(i), std::abs(i - 4));
  }
};

QTEST_APPLESS_MAIN(IntrinsicsTest)
#include "intrinsics_test.moc"
