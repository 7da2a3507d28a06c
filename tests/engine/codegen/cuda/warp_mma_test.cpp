// SPDX-License-Identifier: Apache-2.0
// The lanes of a product by a warp, followed through what the PTX ISA says of ldmatrix and mma.sync, without a GPU.
#include "engine/codegen/cuda/warp_mma.h"

#include <QtTest>
#include <array>

#include "engine/ir/eval.h"
#include "engine/ir/visit.h"

using namespace tw;

namespace {

using Register = std::array<int, 4>;        ///< 4 bytes: 1, 2 or 4 elements
using Registers = std::array<Register, 4>;  ///< of a lane

/// ldmatrix.sync.aligned.m8n8.x4: lane 8 i + r names line r of tile i, 16 bytes long; of each tile a lane gets 4 neighbouring bytes of line lane / 4, from byte
/// 4 * (lane % 4) on. With .trans the tile, of 8 by 8 elements of 16 bits, is transposed first.
std::array<Registers, 32> ldmatrix(const std::vector<int>& shared, const std::array<int64_t, 32>& address, size_t bytes, bool trans) {
  std::array<Registers, 32> out{};
  for (size_t lane = 0; lane < 32; ++lane)
    for (size_t tile = 0; tile < 4; ++tile)
      for (size_t e = 0; e < 4 / bytes; ++e) {
        const size_t line = lane / 4, element = 4 / bytes * (lane % 4) + e;
        const size_t row = trans ? element : line, column = trans ? line : element;
        out[lane][tile][e] = shared.at(static_cast<size_t>(address[8 * tile + row]) + column);
      }
  return out;
}

/// Row and column of element i of a lane's operands, by the tables "Matrix fragments for mma.m16n8k8" (.tf32), "mma.m16n8k16 with floating point type" (.f16,
/// .bf16) and "mma.m16n8k32" (.s8, .u8) of the PTX ISA.
struct At {
  int row, column;
};
At place_in_a(int bytes, int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  switch (bytes) {
    case 4:
      return {i == 0 || i == 2 ? group : group + 8, i == 0 || i == 1 ? in_group : in_group + 4};
    case 2:
      return {(i >= 0 && i < 2) || (i >= 4 && i < 6) ? group : group + 8, in_group * 2 + (i & 1) + (i < 4 ? 0 : 8)};
    default:
      return {(i >= 0 && i < 4) || (i >= 8 && i < 12) ? group : group + 8, in_group * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  }
}
At place_in_b(int bytes, int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  switch (bytes) {
    case 4:
      return {i == 0 ? in_group : in_group + 4, group};
    case 2:
      return {in_group * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
    default:
      return {in_group * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
  }
}

/// mma.sync.aligned.m16n8k(32 / bytes).row.col; the sums of all three are c0 to c3 of "Matrix fragments for mma.m16n8k16".
void mma(int bytes, const std::array<Registers, 32>& a, const std::array<std::array<Register, 2>, 32>& b, std::array<std::array<int*, 4>, 32>& c) {
  int am[16][32] = {}, bm[32][8] = {};
  const int each = 4 / bytes;
  for (int lane = 0; lane < 32; ++lane) {
    const auto l = static_cast<size_t>(lane);
    const auto element = [&](const auto& registers, int i) { return registers[static_cast<size_t>(i / each)][static_cast<size_t>(i % each)]; };
    for (int i = 0; i < 4 * each; ++i) am[place_in_a(bytes, lane, i).row][place_in_a(bytes, lane, i).column] = element(a[l], i);
    for (int i = 0; i < 2 * each; ++i) bm[place_in_b(bytes, lane, i).row][place_in_b(bytes, lane, i).column] = element(b[l], i);
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int row = i < 2 ? lane >> 2 : (lane >> 2) + 8, column = lane % 4 * 2 + (i & 1);
      for (int k = 0; k < 32 / bytes; ++k) *c[static_cast<size_t>(lane)][static_cast<size_t>(i)] += am[row][k] * bm[k][column];
    }
}

int64_t value(const ir::Expr& e, const std::vector<std::pair<ir::Var, int64_t>>& vars) {
  ir::VarMap map;
  for (const auto& [v, n] : vars) map.emplace(v.get(), ir::index(n));
  ir::EvalCompiler compiler;
  const ir::EvalCode* code = compiler.compile(ir::substitute(e, map));
  ir::EvalState state = compiler.make_state();
  return ir::eval_int(*code, state);
}

}  // namespace

class WarpMmaTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void lanes_data() {
    QTest::addColumn<QString>("type");
    QTest::addColumn<bool>("a_by_depth");
    QTest::addColumn<bool>("b_by_depth");
    for (const char* type : {"float16", "float32", "int8"})
      for (const bool a : {false, true})
        for (const bool b : {false, true}) QTest::addRow("%s %d%d", type, a, b) << type << a << b;
  }
  /// What the code's addresses fetch, multiplied as the PTX ISA says, is the product, held where the local arrays have it.
  void lanes() {
    QFETCH(QString, type);
    QFETCH(bool, a_by_depth);
    QFETCH(bool, b_by_depth);
    const DType dtype = parse_dtype(type.toStdString()).value();
    const int bytes = dtype.bytes(), per_step = 32 / bytes;
    constexpr int kRows = 32, kColumns = 48, kDepth = 64, kStride = 80;
    std::vector<int> shared[2];
    for (size_t k = 0; k < 2; ++k)
      for (int i = 0; i < kStride * kDepth; ++i) shared[k].push_back((i * 37 + static_cast<int>(k) * 11) % 101 - 50);
    const ir::Buffer array = ir::make_buffer("X", dtype, {kStride * kDepth}, ir::Scope::shared);
    const tir::MmaOperand operand[2] = {{ir::load(array, {ir::index(0)}), kStride, a_by_depth}, {ir::load(array, {ir::index(0)}), kStride, b_by_depth}};
    const ir::Var lane = ir::make_var("lane"), tile = ir::make_var("tile"), step = ir::make_var("step");
    const auto element = [&](size_t k, int line, int term) {
      return shared[k].at(static_cast<size_t>(operand[k].by_depth ? term * kStride + line : line * kStride + term));
    };
    const auto fetch = [&](size_t k, int at_tile, int at_step) {
      const codegen::MmaSide side = k == 0 ? codegen::MmaSide::a : codegen::MmaSide::b;
      const auto at = [&](const ir::Expr& e, int64_t l) { return value(e, {{lane, l}, {tile, at_tile}, {step, at_step}}); };
      if (codegen::is_fetched(operand[k])) {
        const ir::Expr e = codegen::fetched_by(operand[k], side, ir::to_expr(lane), ir::to_expr(tile), ir::to_expr(step));
        std::array<int64_t, 32> address{};
        for (int64_t l = 0; l < 32; ++l) {
          address[static_cast<size_t>(l)] = at(e, l);
          if (address[static_cast<size_t>(l)] * bytes % 16 != 0) qFatal("lines of a tile begin at multiples of 16 bytes");
        }
        if (codegen::is_transposed(operand[k]) && bytes != 2) qFatal("ldmatrix transposes elements of 16 bits only");
        return ldmatrix(shared[k], address, static_cast<size_t>(bytes), codegen::is_transposed(operand[k]));
      }
      std::array<Registers, 32> out{};
      for (int part = 0; part < 4; ++part)
        for (int e = 0; e < 4 / bytes; ++e) {
          const ir::Expr held = codegen::held_by(operand[k], side, ir::to_expr(lane), ir::to_expr(tile), ir::to_expr(step), part, e);
          for (int64_t l = 0; l < 32; ++l)
            out[static_cast<size_t>(l)][static_cast<size_t>(part)][static_cast<size_t>(e)] = shared[k].at(static_cast<size_t>(at(held, l)));
        }
      return out;
    };
    std::vector<std::array<int, kRows * kColumns / 32>> sums(32);
    for (int at_step = 0; at_step < kDepth / per_step; ++at_step)
      for (int tall = 0; tall < kRows / 16; ++tall) {
        const auto a = fetch(0, tall, at_step);
        for (int wide = 0; wide < kColumns / 8; ++wide) {
          const auto both = fetch(1, wide / 2, at_step);
          std::array<std::array<Register, 2>, 32> b{};
          std::array<std::array<int*, 4>, 32> c{};
          for (size_t l = 0; l < 32; ++l) {
            const size_t half = static_cast<size_t>(wide % 2);
            b[l] = {both[l][2 * half], both[l][2 * half + 1]};
            for (size_t i = 0; i < 4; ++i)
              c[l][i] = &sums[l][static_cast<size_t>(value(codegen::sums_of(kColumns, ir::index(tall), ir::index(wide), static_cast<int>(i / 2)), {})) + i % 2];
          }
          mma(bytes, a, b, c);
        }
      }
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) {
        int want = 0;
        for (int k = 0; k < kDepth; ++k) want += element(0, i, k) * element(1, j, k);
        // Lane and place of a sum as tir::MmaNode says.
        const int at_lane = i % 8 * 4 + j % 8 / 2, place = (i / 8 * (kColumns / 8) + j / 8) * 2 + j % 2;
        QCOMPARE(sums[static_cast<size_t>(at_lane)][static_cast<size_t>(place)], want);
      }
  }
};

QTEST_APPLESS_MAIN(WarpMmaTest)
#include "warp_mma_test.moc"
