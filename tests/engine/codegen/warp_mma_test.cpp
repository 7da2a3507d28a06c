// SPDX-License-Identifier: Apache-2.0
// The lanes of a product by a warp, followed through what the PTX ISA says of ldmatrix and mma.sync, without a GPU.
#include "engine/codegen/cuda/warp_mma.h"

#include <QtTest>
#include <array>

#include "engine/ir/eval.h"

using namespace tw;

namespace {

using Registers = std::array<std::array<int, 2>, 4>;  ///< four registers of two 16-bit elements

/// ldmatrix.sync.aligned.m8n8.x4: lane 8 i + r names line r of tile i, eight elements long; of each tile a lane gets two neighbours of line lane / 4, from
/// element 2 * (lane % 4) on. With .trans the tile is transposed first.
std::array<Registers, 32> ldmatrix(const std::vector<int>& shared, const std::array<int64_t, 32>& address, bool trans) {
  std::array<Registers, 32> out{};
  for (size_t lane = 0; lane < 32; ++lane)
    for (size_t tile = 0; tile < 4; ++tile)
      for (size_t e = 0; e < 2; ++e) {
        const size_t line = lane / 4, element = 2 * (lane % 4) + e;
        const size_t row = trans ? element : line, column = trans ? line : element;
        out[lane][tile][e] = shared.at(static_cast<size_t>(address[8 * tile + row]) + column);
      }
  return out;
}

/// mma.sync.aligned.m16n8k16.row.col: the tables "Matrix fragments for mma.m16n8k16 with floating point type" of the PTX ISA, element by element.
void mma(const std::array<Registers, 32>& a, const std::array<std::array<std::array<int, 2>, 2>, 32>& b, std::array<std::array<int*, 4>, 32>& c) {
  int am[16][16] = {}, bm[16][8] = {};
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2, in_group = lane % 4;
    for (int i = 0; i < 8; ++i) {
      const int row = (i >= 0 && i < 2) || (i >= 4 && i < 6) ? group : group + 8;
      const int column = in_group * 2 + (i & 1) + (i < 4 ? 0 : 8);
      am[row][column] = a[static_cast<size_t>(lane)][static_cast<size_t>(i / 2)][static_cast<size_t>(i % 2)];
    }
    for (int i = 0; i < 4; ++i) {
      const int row = in_group * 2 + (i & 1) + (i < 2 ? 0 : 8), column = group;
      bm[row][column] = b[static_cast<size_t>(lane)][static_cast<size_t>(i / 2)][static_cast<size_t>(i % 2)];
    }
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int row = i < 2 ? lane >> 2 : (lane >> 2) + 8, column = lane % 4 * 2 + (i & 1);
      for (int k = 0; k < 16; ++k) *c[static_cast<size_t>(lane)][static_cast<size_t>(i)] += am[row][k] * bm[k][column];
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
    QTest::addColumn<bool>("a_by_depth");
    QTest::addColumn<bool>("b_by_depth");
    for (const bool a : {false, true})
      for (const bool b : {false, true}) QTest::addRow("%d%d", a, b) << a << b;
  }
  /// What the code's addresses fetch, multiplied as the PTX ISA says, is the product, held where the local arrays have it.
  void lanes() {
    QFETCH(bool, a_by_depth);
    QFETCH(bool, b_by_depth);
    constexpr int kRows = 32, kColumns = 48, kDepth = 32, kStride = 56;
    std::vector<int> shared[2];
    for (size_t k = 0; k < 2; ++k)
      for (int i = 0; i < kStride * 48; ++i) shared[k].push_back((i * 37 + static_cast<int>(k) * 11) % 101 - 50);
    const ir::Buffer array = ir::make_buffer("X", kFloat16, {kStride * 48}, ir::Scope::shared);
    const tir::MmaOperand operand[2] = {{ir::load(array, {ir::index(0)}), kStride, a_by_depth}, {ir::load(array, {ir::index(0)}), kStride, b_by_depth}};
    const ir::Var lane = ir::make_var("lane"), tile = ir::make_var("tile"), step = ir::make_var("step");
    const auto element = [&](size_t k, int line, int term) {
      return shared[k].at(static_cast<size_t>(operand[k].by_depth ? term * kStride + line : line * kStride + term));
    };
    const auto fetch = [&](size_t k, int at_tile, int at_step) {
      const ir::Expr e =
          codegen::fetched_by(operand[k], k == 0 ? codegen::MmaSide::a : codegen::MmaSide::b, ir::to_expr(lane), ir::to_expr(tile), ir::to_expr(step));
      std::array<int64_t, 32> address{};
      for (int64_t l = 0; l < 32; ++l) {
        address[static_cast<size_t>(l)] = value(e, {{lane, l}, {tile, at_tile}, {step, at_step}});
        if (address[static_cast<size_t>(l)] % 8 != 0) qFatal("lines of a tile begin at multiples of 16 bytes");
      }
      return ldmatrix(shared[k], address, codegen::is_transposed(operand[k]));
    };
    std::vector<std::array<int, kRows * kColumns / 32>> sums(32);
    for (int at_step = 0; at_step < kDepth / 16; ++at_step)
      for (int tall = 0; tall < kRows / 16; ++tall)
        for (int wide = 0; wide < kColumns / 8; ++wide) {
          const auto a = fetch(0, tall, at_step), both = fetch(1, wide / 2, at_step);
          std::array<std::array<std::array<int, 2>, 2>, 32> b{};
          std::array<std::array<int*, 4>, 32> c{};
          for (size_t l = 0; l < 32; ++l) {
            const size_t half = static_cast<size_t>(wide % 2);
            b[l] = {both[l][2 * half], both[l][2 * half + 1]};
            for (size_t i = 0; i < 4; ++i)
              c[l][i] = &sums[l][static_cast<size_t>(value(codegen::sums_of(kColumns, ir::index(tall), ir::index(wide), static_cast<int>(i / 2)), {})) + i % 2];
          }
          mma(a, b, c);
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
