// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/itervar.h"

#include <cmath>

#include "engine/cost/features/knob.h"
#include "engine/lower/lower.h"

namespace tw::cost {
namespace {

constexpr int kKinds = 11;

/// Place of a loop's kind among AutoTVM's: blocks x, y, z, threads x, y, z, unrolled, vectorised, parallel, serial, virtual thread.
int kind_place(tir::ForKind kind) {
  switch (kind) {
    case tir::ForKind::block_x:
      return 0;
    case tir::ForKind::block_y:
      return 1;
    case tir::ForKind::block_z:
      return 2;
    case tir::ForKind::thread_x:
      return 3;
    case tir::ForKind::thread_y:
      return 4;
    case tir::ForKind::thread_z:
      return 5;
    case tir::ForKind::unrolled:
    case tir::ForKind::unrolled_explicit:
      return 6;
    case tir::ForKind::vectorized:
      return 7;
    case tir::ForKind::parallel:
      return 8;
    case tir::ForKind::serial:
      return 9;
    case tir::ForKind::vthread:
      return 10;
  }
  TW_UNREACHABLE("kind of loop");
}

float scaled(double x) { return static_cast<float>(x < 0 ? -std::log2(1 - x) : std::log2(1 + x)); }

}  // namespace

Expected<tir::Func> lowered_candidate(const FeatureInput& input) {
  TW_TRY(const schedule::Schedule schedule, input.schedule());
  return lower::lower(schedule, "candidate");
}

std::vector<float> itervar_vector(const std::vector<LoopTouches>& loops) {
  std::vector<float> out;
  for (const LoopTouches& l : loops) {
    out.insert(out.end(), {scaled(l.extent), static_cast<float>(l.level), scaled(l.topdown), scaled(l.bottomup)});
    for (int k = 0; k < kKinds; ++k) out.push_back(k == kind_place(l.kind) ? 1.0F : 0.0F);
    out.insert(out.end(), {scaled(l.adds), scaled(l.muls), scaled(l.divs)});
    for (const auto& [key, t] : l.touches) out.insert(out.end(), {scaled(t.stride), scaled(t.count), scaled(t.reuse)});
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
