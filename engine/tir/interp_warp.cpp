// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/interp_warp.h"

#include <fmt/format.h>

#include <utility>

namespace tw::tir {

void CopiesUnderWay::end() {
  groups_[thread_].push_back(std::move(*group_));
  group_.reset();
}

void CopiesUnderWay::add(ir::EvalArray& array, size_t number, int64_t position, ir::EvalValue v) {
  array.written[position] = 0;
  group_->push_back({number, position, v});
}

bool CopiesUnderWay::wait(size_t thread, int pending, ir::EvalState& state, const std::function<void()>& stored) {
  std::deque<std::vector<Copy>>& groups = groups_[thread];
  for (; groups.size() > static_cast<size_t>(pending); groups.pop_front())
    for (const Copy& c : groups.front()) {
      ir::EvalArray& array = state.arrays[c.array];
      if (array.written[c.position])
        state.fail(ErrorCode::wrong_result,
                   fmt::format("Expected no store to element {} of '{}' while a copy to it is under way, found one", c.position, array.buffer->name), "");
      if (array.touched && !state.error) ir::note_write(array, c.position, state);
      if (state.error) return false;
      stored();
      ir::store_element(array, c.position, c.value);
    }
  return true;
}

void multiply_as_lane(const MmaNode& n, int64_t lane, const WarpTiles& at, const WarpTiles& first, ir::EvalArray& sums, ir::EvalArray& a, ir::EvalArray& b,
                      ir::EvalState& state) {
  const DType type_a = a.buffer->dtype, type_b = b.buffer->dtype;
  if (at.a * type_a.bytes() % kMmaLine != 0 || at.b * type_b.bytes() % kMmaLine != 0)
    return state.fail(ErrorCode::wrong_result,
                      fmt::format("Expected tiles that begin at multiples of {} elements, found {} and {}", kMmaLine / type_a.bytes(), at.a, at.b), "");
  if (at.a != first.a || at.b != first.b)
    return state.fail(ErrorCode::wrong_result,
                      fmt::format("Expected the threads of a warp to multiply the same tiles, found those at {} and {} in the first, {} and {} in thread {}",
                                  first.a, first.b, at.a, at.b, lane),
                      "");
  // Terms of the tile's line i, found in the array or not.
  const auto fetch = [&](ir::EvalArray& array, const MmaOperand& o, int64_t begin, int64_t i, std::vector<ir::EvalValue>& out) {
    for (int64_t k = 0; k < n.depth && !state.error; ++k) {
      const int64_t p = begin + (o.by_depth ? k * o.stride + i : i * o.stride + k);
      if (p < 0 || p >= array.buffer->num_elements())
        state.fail(ErrorCode::wrong_result, fmt::format("Expected a tile inside '{}', found its element {}", array.buffer->name, p), "");
      else
        out.push_back(ir::load_element(array, p, state, ""));
      if (!state.error && array.buffer->dtype == kFloat32) out.back().f = static_cast<double>(tf32(static_cast<float>(out.back().f)));
    }
  };
  std::vector<ir::EvalValue> row_terms, column_terms;
  for (int64_t i = lane / 4; i < n.rows; i += 8) fetch(a, n.a, at.a, i, row_terms);
  for (int64_t j = 0; j < n.columns / 8; ++j)
    for (int64_t c = 0; c < 2; ++c) fetch(b, n.b, at.b, j * 8 + lane % 4 * 2 + c, column_terms);
  for (int64_t i = 0; i < n.rows / 8 && !state.error; ++i)
    for (int64_t j = 0; j < n.columns / 4 && !state.error; ++j) {
      const int64_t place = at.sums + i * (n.columns / 4) + j;
      ir::EvalValue sum = ir::load_element(sums, place, state, "");
      for (int64_t k = 0; k < n.depth; ++k) {
        const ir::EvalValue x = row_terms[static_cast<size_t>(i * n.depth + k)], y = column_terms[static_cast<size_t>(j * n.depth + k)];
        if (type_a.is_float())
          sum.f += x.f * y.f;
        else
          sum.i = ir::wrap_int(kInt32, sum.i + x.i * y.i);
      }
      ir::store_element(sums, place, sum);
    }
}

}  // namespace tw::tir
