// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/rules/rules.h"
#include "engine/te/landings.h"

namespace tw::space::rules {

using schedule::Builder;
using schedule::Stage;

namespace {

/// Places below which each looks through all updates in vectors. Of 400 updates in rows of 1, 16 and 64 numbers, the search takes 6.4, 0.8 and 1.2 times as long as updates one by one
/// with 16 places, and 26, 3.5 and 4.7 times with 63 (one thread of an Intel Xeon with AVX-512).
constexpr int64_t kFewPlaces = 16;

}  // namespace

std::vector<const ir::BufferNode*> schedule_scatters(Builder& b, const Target& target) {
  std::vector<const ir::BufferNode*> done;
  for (int i = 0; b.ok() && i < b.num_stages(); ++i) {
    const Stage& st = b.at(i);
    if (!schedule::has_loops(st) || !st.layout.empty() || is_output(b, i)) continue;
    const auto found = te::landings_of(st.op);
    if (!found) continue;
    const te::Op op = st.op;
    int64_t places = 1;
    for (const size_t k : found->places) places *= op.axes[k].extent;
    if (places < kFewPlaces) continue;
    const auto is_place = [&](size_t k) { return std::find(found->places.begin(), found->places.end(), k) != found->places.end(); };
    const std::vector<ir::Var> loops = b.loops(i);
    // Updates come one after the other; around them goes what lies before the places, inside what lies behind them.
    std::vector<ir::Var> shared, inside, search, vectors;
    for (size_t k = 0; k < op.axes.size(); ++k)
      if (!is_place(k)) (k < found->places.front() ? shared : inside).push_back(loops[k]);
    for (const size_t k : found->places) search.push_back(loops[k]);
    if (found->same_for_last) {
      const int64_t v = vector_length(op.axes.back().extent, target.lanes(op.output->dtype));
      const auto parts = b.split(i, inside.back(), {v});
      inside.back() = parts[0];
      if (v > 1) b.vectorize(i, parts[1]);
      vectors.push_back(parts[1]);
    }
    if (shared.empty() && !inside.empty() && target.cores > 1) {
      const int64_t extent =
          std::find_if(b.at(i).iters.begin(), b.at(i).iters.end(), [&](const schedule::Iter& it) { return it.var.same_as(inside.front()); })->extent;
      const auto pieces = b.split(i, inside.front(), {(extent + target.cores - 1) / target.cores});
      shared.push_back(pieces[0]);
      inside.front() = pieces[1];
    }
    std::vector<ir::Var> order = shared;
    order.insert(order.end(), loops.begin() + static_cast<std::ptrdiff_t>(op.axes.size()), loops.end());
    for (const auto* part : {&inside, &search, &vectors}) order.insert(order.end(), part->begin(), part->end());
    b.reorder(i, order);
    parallelize(b, i, shared, iterations(op) / places);
    done.push_back(b.at(i).op.output.get());
  }
  return done;
}

}  // namespace tw::space::rules
