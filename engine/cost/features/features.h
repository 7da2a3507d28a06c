// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "engine/base/expected.h"
#include "engine/space/template.h"

namespace tw::cost {

/// A candidate of a tuning task: a point of its template's space.
struct FeatureInput {
  const te::DagPtr& dag;
  const Target& target;
  const space::Template& space_template;
  const space::ConfigSpace& space;
  int64_t point;
};

/// One kind of feature.
struct FeatureDef {
  const char* name;  ///< as in the tuner's parameter
  /// Numbers that describe the candidate; candidates of one task may differ in length. Errors: why the point cannot be lowered.
  Expected<std::vector<float>> (*extract)(const FeatureInput& input);
  const char* summary;  ///< one sentence
  const char* source;
};
const std::vector<FeatureDef>& features();
const FeatureDef* find_feature(std::string_view name);

}  // namespace tw::cost
