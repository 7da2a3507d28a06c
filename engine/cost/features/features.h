// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "engine/base/expected.h"
#include "engine/space/sketch/program.h"
#include "engine/space/template.h"

namespace tw::cost {

/// A candidate of a tuning task: a schedule, given by its steps or by a point of its template's space.
struct FeatureInput {
  const te::DagPtr& dag;
  const Target& target;
  const space::Template* space_template = nullptr;
  const space::ConfigSpace* space = nullptr;         ///< null for candidates that are no point of a space; they have no knobs
  int64_t point = -1;                                ///< of `space`
  const std::vector<schedule::Step>* steps = nullptr;  ///< null: those that the template makes of the point

  /// Errors: why the template refuses the point or a step is illegal.
  Expected<schedule::Schedule> schedule() const;
};

/// What describes one candidate: rows of equal length, one after the other.
struct FeatureRows {
  std::vector<float> values;
  size_t count = 1;  ///< rows; at least 1

  size_t columns() const { return values.size() / count; }
  friend bool operator==(const FeatureRows&, const FeatureRows&) = default;
};

enum class RowsPer : uint8_t { candidate, store };

/// One kind of feature.
struct FeatureDef {
  const char* name;  ///< as in the tuner's parameter
  int version;       ///< goes up when a number changes its meaning: models that learned from another version are refused
  RowsPer rows_per;  ///< one row for a candidate, or one for each of its stores, whose predictions add up
  size_t columns;    ///< of a row; 0: candidates differ, by their loops or their space
  /// Numbers that describe the candidate. Errors: why it cannot be lowered, or not_applicable for a candidate without knobs where these are all that is looked at.
  Expected<FeatureRows> (*extract)(const FeatureInput& input);
  const char* summary;  ///< one sentence
  const char* source;
  /// The same of a schedule's program, where the features need no more: null for others.
  FeatureRows (*of_program)(const space::Program& program, const space::Evaluated& e, const Target& target) = nullptr;
};
/// What `of_program` says of a candidate whose regions are lowering's. Errors: why it cannot be lowered.
Expected<FeatureRows> by_program(const FeatureInput& input, FeatureRows (*of_program)(const space::Program&, const space::Evaluated&, const Target&));

const std::vector<FeatureDef>& features();
const FeatureDef* find_feature(std::string_view name);

}  // namespace tw::cost
