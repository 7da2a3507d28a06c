// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/warp_path.h"

#include "engine/ir/visit.h"

namespace tw::simulate {

using target::kWarp;

WarpPath::WarpPath(const tir::Launch& launch) {
  for (size_t d = 0; d < 3; ++d) {
    coordinates_[d].extent = launch.grid[d];
    coordinates_[3 + d].extent = launch.block[d];
  }
  for (const tir::Launch::Coordinate& c : launch.coordinates)
    coordinates_[static_cast<size_t>(c.kind) - static_cast<size_t>(tir::ForKind::block_x)].var = c.var.get();
}

void WarpPath::enter(int64_t block, int warp, double share, bool first) {
  const auto extent = [&](size_t d) { return coordinates_[d].extent; };
  const int64_t bx = block % extent(0), by = block / extent(0) % extent(1), bz = block / extent(0) / extent(1);
  share_ = share;
  first_ = first;
  active = 0;
  epoch = 0;
  Lanes at[6];
  for (int lane = 0; lane < kWarp; ++lane) {
    const auto l = static_cast<size_t>(lane);
    const int64_t id = int64_t{warp} * kWarp + lane;
    if (id < extent(3) * extent(4) * extent(5)) active |= 1u << lane;
    at[0][l] = bx, at[1][l] = by, at[2][l] = bz;
    at[3][l] = id % extent(3);
    at[4][l] = id / extent(3) % extent(4);
    at[5][l] = id / extent(3) / extent(4) % extent(5);
  }
  for (size_t d = 0; d < coordinates_.size(); ++d)
    if (coordinates_[d].var) values.vars[coordinates_[d].var] = at[d];
}

void WarpPath::define(const tir::LetNode& n) {
  let_uses_[n.var.get()] = uses(n.value);
  values.vars[n.var.get()] = values.of(n.value);
}

const VarSet& WarpPath::uses(const ir::Expr& e) {
  const auto [it, made] = uses_.try_emplace(e.get());
  if (!made) return it->second;
  VarSet found;
  ir::walk(e, [&](const ir::Expr& x) {
    const auto* v = ir::as<ir::VarNode>(x);
    if (!v) return;
    if (const auto let = let_uses_.find(v); let != let_uses_.end())
      found.insert(let->second.begin(), let->second.end());
    else
      found.insert(v);
  });
  return it->second = std::move(found);
}

uint32_t WarpPath::where(const ir::Expr& cond) const {
  if (!cond->dtype.is_scalar()) return active;
  uint32_t taken = active;
  const Lanes c = values.of(cond);
  for (int lane = 0; lane < kWarp; ++lane)
    if (c[static_cast<size_t>(lane)] == 0) taken &= ~(1u << lane);
  return taken;
}

double WarpPath::repeats() const {
  double n = 1;
  for (const Turn& t : loops) n *= t.count;
  return n;
}

double WarpPath::copies() const {
  double n = 1;
  for (const Turn& t : loops)
    if (t.written_out) n *= t.count;
  return n;
}

double WarpPath::copies_of(const VarSet& used) const {
  double n = 1;
  for (const Turn& t : loops)
    if (t.written_out && used.contains(t.var)) n *= t.extent;
  return n;
}

}  // namespace tw::simulate
