// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tir/stmt.h"

/// Matrix multiplication as the templates emit it, built by hand: a register tile of mr x nv vectors, unrolled, over a rolled k loop.
namespace tw::codegen::testing {

struct Tile {
  int mr, nv;
};

/// C[M, N] = A[M, K] * B, with B packed as [N / nr][K][nr] and nr = 16 nv; M and N are multiples of the tile. Flat indices.
inline tir::Func micro_gemm(Tile tile, int64_t M, int64_t N, int64_t K, tir::ForKind outer = tir::ForKind::serial) {
  using ir::Expr;
  const int lanes = 16;
  const int64_t nr = lanes * tile.nv;
  const auto A = ir::make_buffer("A", kFloat32, {M * K}), B = ir::make_buffer("B", kFloat32, {N * K}), C = ir::make_buffer("C", kFloat32, {M * N});
  const auto acc = ir::make_buffer("acc", kFloat32, {tile.mr * nr}, ir::Scope::local);
  const ir::Var j = ir::make_var("j"), i = ir::make_var("i"), k = ir::make_var("k");
  const Expr je = ir::to_expr(j), ie = ir::to_expr(i), ke = ir::to_expr(k);
  const auto vec = [&](Expr base) { return ir::ramp(std::move(base), ir::index(1), lanes); };
  std::vector<tir::Stmt> zero, fma, drain;
  for (int64_t r = 0; r < tile.mr; ++r) {
    for (int64_t v = 0; v < tile.nv; ++v) {
      const Expr slot = vec(ir::index(r * nr + v * lanes));
      zero.push_back(tir::store(acc, {slot}, ir::fimm(kFloat32.with_lanes(lanes), 0)));
      const Expr a = ir::broadcast(ir::load(A, {(ie * int64_t{tile.mr} + r) * K + ke}), lanes);
      const Expr b = ir::load(B, {vec((je * K + ke) * nr + v * lanes)});
      fma.push_back(tir::store(acc, {slot}, ir::load(acc, {slot}) + a * b));
      drain.push_back(tir::store(C, {vec((ie * int64_t{tile.mr} + r) * N + je * nr + v * lanes)}, ir::load(acc, {slot})));
    }
  }
  const tir::Stmt body =
      tir::alloc(acc, tir::seq({tir::seq(zero), tir::make_for(k, ir::index(0), ir::index(K), tir::ForKind::serial, tir::seq(fma)), tir::seq(drain)}));
  const tir::Stmt rows = tir::make_for(i, ir::index(0), ir::index(M / tile.mr), tir::ForKind::serial, body);
  return {"gemm", {A, B, C}, 1, tir::make_for(j, ir::index(0), ir::index(N / nr), outer, rows)};
}

}  // namespace tw::codegen::testing
