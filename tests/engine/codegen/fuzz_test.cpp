// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include <cmath>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/tir/interp.h"
#include "engine/tir/print.h"
#include "tests/engine/codegen/kernel_runner.h"

using namespace tw;
using namespace tw::codegen::testing;
using ir::BinaryOp;
using ir::Expr;
using ir::Intrinsic;

namespace {

constexpr int64_t kSize = 48;

/// Random expressions over three arrays, at a scalar or vector index. Comparisons are between integers only, so that rounding cannot decide.
struct Generator {
  Rng& rng;
  int lanes;
  Expr at;
  ir::Buffer floats, ints, bools;

  bool chance(int percent) { return rng.uniform(100) < static_cast<uint64_t>(percent); }
  template <class T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[rng.uniform(list.size())];
  }

  /// An index inside the array for every lane.
  Expr index(int depth) {
    switch (rng.uniform(depth > 0 ? 6 : 2)) {
      case 0:
        return at;
      case 1:
        return ir::imm(at->dtype, rng.range(0, kSize - 1));
      case 2:
        return ir::imm(at->dtype, kSize - 1) - at;
      case 3:
        return ir::floor_mod(at * rng.range(1, 9) + rng.range(0, 99), ir::imm(at->dtype, kSize));
      case 4:
        return ir::floor_div(at + rng.range(0, 40), ir::imm(at->dtype, rng.range(2, 5)));
      default:
        return ir::min(index(0), ir::floor_mod(ir::cast(at->dtype, integer(depth - 1)), ir::imm(at->dtype, kSize)));
    }
  }
  Expr integer(int depth) {
    const DType t = kInt32.with_lanes(lanes);
    if (depth == 0 || chance(15)) return chance(70) ? ir::load(ints, {index(depth)}) : ir::imm(t, rng.range(-9, 9));
    switch (rng.uniform(5)) {
      case 0:
        return ir::binary(pick({BinaryOp::div, BinaryOp::floor_div, BinaryOp::floor_mod}), integer(depth - 1), ir::imm(t, pick<int64_t>({1, 2, 3, 8, -3, 7})));
      case 1:
        return ir::select(boolean(depth - 1), integer(depth - 1), integer(depth - 1));
      case 2:
        return ir::cast(t, boolean(depth - 1));
      case 3:
        return ir::call(Intrinsic::fabs, {integer(depth - 1)});
      default:
        return ir::binary(
            pick({BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::min, BinaryOp::max, BinaryOp::bit_and, BinaryOp::bit_or, BinaryOp::bit_xor}),
            integer(depth - 1), integer(depth - 1));
    }
  }
  Expr boolean(int depth) {
    if (depth == 0 || chance(15)) return ir::load(bools, {index(depth)});
    switch (rng.uniform(3)) {
      case 0:
        return ir::logical_not(boolean(depth - 1));
      case 1:
        return ir::binary(pick({BinaryOp::and_, BinaryOp::or_}), boolean(depth - 1), boolean(depth - 1));
      default:
        return ir::binary(pick({BinaryOp::lt, BinaryOp::le, BinaryOp::eq, BinaryOp::ne}), integer(depth - 1), integer(depth - 1));
    }
  }
  Expr real(int depth) {
    const DType t = kFloat32.with_lanes(lanes);
    if (depth == 0 || chance(15)) return chance(80) ? ir::load(floats, {index(depth)}) : ir::fimm(t, 0.25 * static_cast<double>(rng.range(-8, 8)));
    switch (rng.uniform(5)) {
      case 0:
        return ir::select(boolean(depth - 1), real(depth - 1), real(depth - 1));
      case 1:
        return ir::call(pick({Intrinsic::tanh, Intrinsic::sigmoid, Intrinsic::fabs, Intrinsic::erf}), {real(depth - 1)});
      case 2:
        return ir::cast(t, integer(depth - 1)) * ir::fimm(t, 0x1p-10);
      default:
        return ir::binary(pick({BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::min, BinaryOp::max}), real(depth - 1), real(depth - 1));
    }
  }
};

}  // namespace

class FuzzTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Random functions give what the interpreter gives, at both levels, as scalars and in vectors.
  void against_the_interpreter_data() {
    QTest::addColumn<int>("seed");
    for (int seed = 1; seed <= 40; ++seed) QTest::addRow("seed %d", seed) << seed;
  }
  void against_the_interpreter() {
    QFETCH(int, seed);
    Rng rng(static_cast<uint64_t>(seed));
    const int lanes = std::array{1, 4, 16}[seed % 3];
    const auto F = ir::make_buffer("F", kFloat32, {kSize}), I = ir::make_buffer("I", kInt32, {kSize}), B = ir::make_buffer("B", kBool, {kSize});
    const auto OF = ir::make_buffer("OF", kFloat32, {kSize}), OI = ir::make_buffer("OI", kInt32, {kSize}), OB = ir::make_buffer("OB", kBool, {kSize});
    const ir::Var i = ir::make_var("i");
    const Expr first = ir::to_expr(i) * int64_t{lanes};
    Generator g{rng, lanes, lanes == 1 ? first : ir::ramp(first, ir::index(1), lanes), F, I, B};
    const tir::Stmt stores = tir::seq({tir::store(OF, {g.at}, g.real(4)), tir::store(OI, {g.at}, g.integer(4)), tir::store(OB, {g.at}, g.boolean(4))});
    Target target = host_target();
    target.cores = 2;
    const tir::Func f{"kernel",
                      {F, I, B, OF, OI, OB},
                      3,
                      tir::make_for(i, ir::index(0), ir::index(kSize / lanes), seed % 2 ? tir::ForKind::serial : tir::ForKind::parallel, stores)};
    std::vector<HostArray> args;
    for (const ir::Buffer& p : f.params) args.push_back(HostArray::make(p->dtype, p->shape));
    for (int64_t k = 0; k < kSize; ++k) {
      args[0].set(k, std::round(64 * rng.normal()) / 32);
      args[1].set_int(k, rng.range(-1000, 1000));
      args[2].set_int(k, rng.range(0, 1));
    }
    std::vector<HostArray> expected = args;
    const auto oracle = tir::interpret(f, expected);
    QVERIFY2(oracle, oracle ? "" : (oracle.error().text() + tir::print(f)).c_str());
    for (const auto opt : {codegen::OptLevel::tuning, codegen::OptLevel::full}) {
      std::vector<HostArray> got = args;
      const auto done = run(f, got, target, opt);
      QVERIFY2(done, done ? "" : done.error().text().c_str());
      for (size_t a = 3; a < 6; ++a)
        for (int64_t k = 0; k < kSize; ++k) {
          const double want = expected[a].get(k), have = got[a].get(k);
          const bool ok = have == want || (a == 3 && std::abs(have - want) <= 1e-4 * std::max(1.0, std::abs(want)));
          QVERIFY2(ok, fmt::format("{}[{}] is {}, the interpreter says {}\n{}", f.params[a]->name, k, have, want, tir::print(f)).c_str());
        }
    }
  }
};

QTEST_APPLESS_MAIN(FuzzTest)
#include "fuzz_test.moc"
