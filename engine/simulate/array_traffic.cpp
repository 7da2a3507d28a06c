// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/array_traffic.h"

#include <algorithm>

#include "engine/arith/analyzer.h"

namespace tw::simulate {

Place place_of(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices, DType t) {
  ir::Expr flat = ir::index(0);
  int lanes = t.lanes;
  bool together = true;
  for (size_t d = 0; d < indices.size(); ++d) {
    ir::Expr i = indices[d];
    if (const auto* r = ir::as<ir::RampNode>(i)) {
      together = ir::is_int(r->stride, 1) && d + 1 == indices.size();
      i = r->base;
    } else if (const auto* b = ir::as<ir::BroadcastNode>(i)) {
      i = b->value;
    }
    flat = d == 0 ? i : flat * buffer->shape[d] + i;
  }
  const int element = buffer->dtype.bytes();
  if (!together || lanes * element > 16) return {flat, element, lanes};
  return {flat, lanes * element, 1};
}

void ArraysTouched::add(const ir::Buffer& buffer, const Place& place, const VarSet& used, const WarpPath& path) {
  double inside = static_cast<double>(place.bytes) / buffer->dtype.bytes() * place.pieces, all = inside;
  arith::Analyzer block, grid;
  for (const Turn& t : path.loops) {
    if (used.contains(t.var)) inside *= t.extent, all *= t.extent;
    for (arith::Analyzer* a : {&block, &grid}) a->bind(t.var, {0, static_cast<int64_t>(t.extent) - 1});
  }
  for (size_t d = 0; d < 6; ++d) {
    const Coordinate& c = path.coordinates()[d];
    if (!c.var) continue;
    const bool here = used.contains(c.var);
    if (here) all *= static_cast<double>(c.extent);
    if (here && d >= 3) inside *= static_cast<double>(c.extent);
    grid.bind(c.var, {0, c.extent - 1});
    block.bind(c.var, d >= 3 ? arith::Bounds{0, c.extent - 1} : arith::Bounds{0, 0});
  }
  auto it = std::find_if(touched_.begin(), touched_.end(), [&](const Touched& t) { return t.buffer.same_as(buffer); });
  if (it == touched_.end()) it = touched_.insert(it, Touched{buffer});
  it->block_elements += inside;
  it->elements += all;
  for (size_t d = 0; d < 3; ++d) it->depends[d] = it->depends[d] || (path.coordinates()[d].var && used.contains(path.coordinates()[d].var));
  const auto widen = [&](const arith::Bounds& b, int64_t& low, int64_t& high) {
    const int64_t from = b.finite() ? std::max<int64_t>(0, b.lo) : 0, to = b.finite() ? std::min(b.hi, buffer->num_elements() - 1) : buffer->num_elements() - 1;
    if (high < low)
      low = from, high = to;
    else
      low = std::min(low, from), high = std::max(high, to);
  };
  widen(block.bounds(place.base), it->block_low, it->block_high);
  widen(grid.bounds(place.base), it->low, it->high);
}

std::vector<ArrayTraffic> ArraysTouched::traffic() const {
  std::vector<ArrayTraffic> out;
  for (const Touched& t : touched_) {
    const auto bytes = [&](double elements, int64_t low, int64_t high) {
      return static_cast<int64_t>(std::min(elements, static_cast<double>(high - low + 1))) * t.buffer->dtype.bytes();
    };
    ArrayTraffic a{.name = t.buffer->name, .bytes = bytes(t.elements, t.low, t.high), .block_bytes = bytes(t.block_elements, t.block_low, t.block_high)};
    std::copy(std::begin(t.depends), std::end(t.depends), std::begin(a.depends));
    out.push_back(a);
  }
  return out;
}

}  // namespace tw::simulate
