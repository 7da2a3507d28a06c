// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/draft/nest.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tw::cost {

using schedule::Annotation;

Nest nest_of(int stage, const space::Program& program, const space::Evaluated& e) {
  const auto root_of = [&](int i) {
    for (int at = program.stages()[static_cast<size_t>(i)].at_loop; at >= 0; at = program.stages()[static_cast<size_t>(i)].at_loop)
      i = program.loops()[static_cast<size_t>(at)].stage;
    return i;
  };
  static constexpr std::array kBound = {Annotation::block_x, Annotation::block_y, Annotation::block_z, Annotation::thread_x, Annotation::thread_y, Annotation::thread_z};
  constexpr size_t kBlocks = 3;
  Nest out{.root = root_of(stage)};
  std::array<double, kBound.size()> extents;
  extents.fill(1);
  for (size_t i = 0; i < program.stages().size(); ++i) {
    const schedule::Stage& st = program.scheduled()[i];
    if (!schedule::has_loops(st) || root_of(static_cast<int>(i)) != out.root) continue;
    if (st.scope == ir::Scope::shared) out.shared_bytes += static_cast<double>(e.stages[i].bytes);
    const space::Program::Stage& own = program.stages()[i];
    for (int l = own.first_loop; l < own.first_loop + own.loops; ++l)
      for (size_t k = 0; k < kBound.size(); ++k)
        if (program.loops()[static_cast<size_t>(l)].annotation == kBound[k]) {
          out.bound = true;
          extents[k] = std::max(extents[k], static_cast<double>(e.loops[static_cast<size_t>(l)]));
        }
  }
  for (size_t k = 0; k < kBound.size(); ++k) (k < kBlocks ? out.grid : out.block) *= extents[k];
  return out;
}

double step_of(const ArrayAccess& a, const space::Program& program, int loop) {
  // A tile lies in the order of the loops that fill it.
  const bool tile = program.stages()[static_cast<size_t>(a.array)].at_loop >= 0;
  const std::vector<double> apart = tile ? std::vector<double>(a.indices.front().size(), 1) : neighbour_distances(program, a.array);
  double out = 0;
  for (const auto& indices : a.indices)
    for (size_t d = 0; d < indices.size(); ++d)
      for (const space::DigitSum::Term& t : indices[d].terms)
        if (t.digit.loop == loop && t.digit.div == 1) out = std::max(out, std::abs(static_cast<double>(t.coeff)) * apart[d]);
  return out;
}

double footprint(const ArrayAccess& a, const space::Program& program, const space::Evaluated& e, const std::vector<Around>& loops) {
  const std::vector<int64_t>& shape = program.scheduled()[static_cast<size_t>(a.array)].op.output->shape;
  double out = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t lo = 0, hi = 0;
    bool first = true;
    for (const auto& indices : a.indices) {
      const space::DigitSum& index = indices[d];
      int64_t from = index.constant, to = index.exact ? index.constant : index.constant + shape[d] - 1;
      for (const space::DigitSum::Term& t : index.terms) {
        if (std::none_of(loops.begin(), loops.end(), [&](const Around& l) { return l.loop == t.digit.loop; })) continue;
        const int64_t furthest = t.coeff * (t.digit.range - 1);
        (furthest > 0 ? to : from) += furthest;
      }
      lo = first ? from : std::min(lo, from);
      hi = first ? to : std::max(hi, to);
      first = false;
    }
    out *= static_cast<double>(std::min(hi - lo + 1, shape[d]));
  }
  return out;
}

}  // namespace tw::cost
