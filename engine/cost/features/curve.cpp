// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/curve.h"

#include <algorithm>
#include <cmath>

#include "engine/cost/features/itervar.h"
#include "engine/cost/features/knob.h"

namespace tw::cost {
namespace {

constexpr int kSamples = 20;

/// y at the last of the points with x at most `at`, and how far beyond it `at` is. Both curves are ascending and begin at 0.
void sample(const std::vector<double>& x, const std::vector<double>& y, std::vector<float>& out) {
  for (int at = 0; at < kSamples; ++at) {
    const auto place = static_cast<size_t>(std::upper_bound(x.begin(), x.end(), at) - x.begin()) - 1;
    out.push_back(static_cast<float>(y[place]));
    out.push_back(static_cast<float>(at - x[place]));
  }
}

/// The access that stands for an array, and how deep it is.
struct Representative {
  std::string key;
  int depth = -1;
};

}  // namespace

std::vector<float> curve_vector(const std::vector<LoopTouches>& loops) {
  std::map<std::string, int> depth;  // of each access: loops around it
  for (const LoopTouches& l : loops) {
    for (const auto& [key, touch] : l.touches) ++depth[key];
  }
  std::map<std::string, Representative> arrays;
  for (const LoopTouches& l : loops) {
    for (const auto& [key, touch] : l.touches) {
      Representative& r = arrays[touch.array];
      if (depth[key] >= r.depth) r = {key, depth[key]};
    }
  }
  std::vector<float> out;
  for (const auto& [array, representative] : arrays) {
    std::vector<double> reuse{0}, count{0}, iterations{0};
    for (const LoopTouches& l : loops) {
      const auto touch = l.touches.find(representative.key);
      if (touch == l.touches.end()) continue;
      reuse.push_back(std::log2(touch->second.reuse));
      count.push_back(std::log2(touch->second.count));
      iterations.push_back(std::log2(l.topdown));
    }
    for (auto* curve : {&reuse, &count, &iterations}) std::sort(curve->begin(), curve->end());
    sample(count, reuse, out);
    sample(reuse, count, out);
    sample(count, iterations, out);
    sample(iterations, count, out);
  }
  return out;
}

Expected<FeatureRows> curve_features(const FeatureInput& input) {
  TW_TRY(const tir::Func func, lowered_candidate(input));
  std::vector<float> out = curve_vector(loop_touches(func));
  append_other_knobs(input, out);
  return FeatureRows{std::move(out)};
}

}  // namespace tw::cost
