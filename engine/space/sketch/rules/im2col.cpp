// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

namespace {

RuleFit fits_im2col(const SketchState& s, int stage) {
  const te::Op& op = s.stage(stage).op;
  // Of one tap a convolution is a product as it stands.
  const auto taps = std::count_if(op.reduce_axes.begin(), op.reduce_axes.end(), [](const te::Axis& a) { return a.extent > 1; });
  if (s.options().exact || op.tag != "conv2d" || taps < 2 || s.is_cache_written(stage) || axis_of_blocked_constants(s, stage) >= 0 || reads_border(s, stage)) return RuleFit::skip;
  return s.schedule().apply(schedule::Im2colStep{stage}) ? RuleFit::apply : RuleFit::skip;
}

Derived unroll_windows(const SketchState& s, int stage) {
  SketchState next = s;
  const auto before = s.schedule().stages().size();
  next.apply(schedule::Im2colStep{stage});
  return {{next, stage + static_cast<int>(next.schedule().stages().size() - before)}};  // the copy of the product
}

}  // namespace

SketchRule im2col_rule() {
  return {"im2col", true, false, fits_im2col, unroll_windows, "Computes a convolution as one product of matrices, of windows and of filters."};
}

}  // namespace tw::space
