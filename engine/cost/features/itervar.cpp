// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/itervar.h"

#include "engine/cost/features/knob.h"
#include "engine/lower/lower.h"

namespace tw::cost {
Expected<tir::Func> lowered_candidate(const FeatureInput& input) {
  TW_TRY(const schedule::Schedule schedule, input.schedule());
  return lower::lower(schedule, "candidate");
}

std::vector<float> itervar_vector(const std::vector<LoopTouches>& loops) {
  std::vector<float> out;
  for (const LoopTouches& l : loops) {
    out.insert(out.end(), {log_scaled(l.extent), static_cast<float>(l.level), log_scaled(l.topdown), log_scaled(l.bottomup)});
    for (int k = 0; k < kLoopKinds; ++k) out.push_back(k == loop_kind_place(l.kind) ? 1.0F : 0.0F);
    out.insert(out.end(), {log_scaled(l.adds), log_scaled(l.muls), log_scaled(l.divs)});
    for (const auto& [key, t] : l.touches) out.insert(out.end(), {log_scaled(t.stride), log_scaled(t.count), log_scaled(t.reuse)});
  }
  return out;
}

Expected<FeatureRows> itervar_features(const FeatureInput& input) {
  TW_TRY(const tir::Func func, lowered_candidate(input));
  std::vector<float> out = itervar_vector(loop_touches(func));
  append_other_knobs(input, out);
  return FeatureRows{std::move(out)};
}

}  // namespace tw::cost
