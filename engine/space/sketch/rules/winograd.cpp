// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

namespace {

/// Sides of the tiles that pay: larger ones lose too many digits.
constexpr int64_t kSides[] = {2, 4};

RuleFit fits_winograd(const SketchState& s, int stage) {
  const te::Op& op = s.stage(stage).op;
  if (s.options().exact || op.tag != "conv2d" || op.reduce_axes.empty() || s.is_cache_written(stage) || axis_of_blocked_constants(s, stage) >= 0 || reads_border(s, stage)) return RuleFit::skip;
  return s.schedule().apply(schedule::WinogradStep{stage, kSides[0]}) ? RuleFit::apply : RuleFit::skip;
}

Derived transform(const SketchState& s, int stage) {
  Derived out;
  const auto before = s.schedule().stages().size();
  for (const int64_t side : kSides) {
    const schedule::WinogradStep step{stage, side};
    if (!s.schedule().apply(step)) continue;  // there are only transforms of a few points
    SketchState next = s;
    next.apply(step);
    out.emplace_back(next, stage + static_cast<int>(next.schedule().stages().size() - before));  // the last transform
  }
  return out;
}

}  // namespace

bool reads_border(const SketchState& s, int stage) {
  const std::set<int> sources = s.access().producers(stage);
  return std::any_of(sources.begin(), sources.end(), [&](int i) { return s.stage(i).op.tag == "pad"; });
}

SketchRule winograd_rule() {
  return {"winograd", true, false, fits_winograd, transform, "Computes a convolution of small windows from transformed tiles of 2 x 2 or 4 x 4 results, with fewer products."};
}

}  // namespace tw::space
