// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/knob.h"

#include <algorithm>
#include <array>

namespace tw::cost {
namespace {

/// AutoTVM's annotations in its order.
constexpr std::array kAnnotations{"none",        "vec",         "unroll",      "blockIdx.x", "blockIdx.y", "blockIdx.z",
                                  "threadIdx.x", "threadIdx.y", "threadIdx.z", "vthread",    "fuse"};

float other_value(const space::Knob& knob, int position) {
  const Json& value = knob.candidates[static_cast<size_t>(position)].other;
  if (value.is_boolean()) return value.get<bool>() ? 1.0F : 0.0F;
  return value.is_number() ? value.get<float>() : static_cast<float>(position);
}

}  // namespace

void append_other_knobs(const FeatureInput& input, std::vector<float>& out) {
  if (input.space == nullptr) return;
  const std::vector<int> positions = input.space->knob_positions(input.point);
  for (size_t k = 0; k < positions.size(); ++k) {
    const space::Knob& knob = input.space->knobs()[k];
    if (knob.kind == space::KnobKind::other) out.push_back(other_value(knob, positions[k]));
  }
}

Expected<FeatureRows> knob_features(const FeatureInput& input) {
  if (input.space == nullptr) return Error(ErrorCode::not_applicable, "Expected a point of a space, found a candidate without knobs");
  std::vector<float> out;
  const std::vector<int> positions = input.space->knob_positions(input.point);
  for (size_t k = 0; k < positions.size(); ++k) {
    const space::Knob& knob = input.space->knobs()[k];
    const space::KnobValue& value = knob.candidates[static_cast<size_t>(positions[k])];
    switch (knob.kind) {
      case space::KnobKind::split:
        for (const int64_t factor : value.split) out.push_back(static_cast<float>(factor));
        break;
      case space::KnobKind::reorder:
        for (const int axis : value.reorder) out.push_back(static_cast<float>(axis));
        break;
      case space::KnobKind::annotate:
        for (const std::string& word : value.annotate) {
          for (const char* known : kAnnotations) out.push_back(word == known ? 1.0F : 0.0F);
        }
        break;
      case space::KnobKind::other:
        out.push_back(other_value(knob, positions[k]));
        break;
    }
  }
  return FeatureRows{std::move(out)};
}

}  // namespace tw::cost
