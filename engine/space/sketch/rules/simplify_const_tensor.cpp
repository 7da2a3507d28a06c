// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

namespace {

RuleFit fits_const_tensor(const SketchState& s, int stage) {
  return s.stage(stage).op.attrs.contains(te::kConstTensorLoops) && s.stage(stage).op.body ? RuleFit::apply_and_end : RuleFit::skip;
}

Derived write_out_const_loops(const SketchState& s, int stage) {
  SketchState next = s;
  const std::vector<int64_t> loops = s.stage(stage).op.attrs.at(te::kConstTensorLoops);
  const int count = static_cast<int>(s.stage(stage).iters.size());
  std::vector<int> outer, inner, written_out;
  int at = 0;
  for (int k = 0; k < count; ++k) {
    if (std::find(loops.begin(), loops.end(), k) != loops.end()) {
      next.apply(schedule::AnnotationStep{stage, at, schedule::Annotation::unroll});
      written_out.push_back(at++);
    } else {
      next.open_split(stage, at, 2);
      outer.push_back(at++);
      inner.push_back(at++);
    }
  }
  schedule::ReorderStep order{stage, outer};
  order.order.insert(order.order.end(), inner.begin(), inner.end());
  order.order.insert(order.order.end(), written_out.begin(), written_out.end());
  next.apply(order);
  return {{next, stage - 1}};
}

}  // namespace

SketchRule simplify_const_tensor_rule() {
  return {"simplify-const-tensor", true, true, fits_const_tensor, write_out_const_loops,
          "Writes out the loops over a small constant matrix, whose numbers then fold into the arithmetic, and tiles the others."};
}

}  // namespace tw::space
