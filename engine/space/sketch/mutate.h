// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/space/sketch/draw.h"

/// Small changes of a schedule, for searches that breed. They work on any list of steps: one drawn from a sketch, of a record, or of a person.
/// Source: the mutations of Ansor (Zheng et al., OSDI 2020), with the weights of TVM 0.9.
namespace tw::space {

struct Mutation {
  const te::DagPtr& dag;
  const std::vector<schedule::Step>& parent;
  const Target& target;
  const DrawOptions& options;
  Rng& rng;
};

/// One row of the table.
struct MutationRule {
  const char* name;
  double cpu_weight, gpu_weight;  ///< how often it is drawn; 0: not for such targets
  /// The steps of a child, which need not apply: only a replay, or a program of their structure, says whether they do.
  /// Errors: not_applicable where there is nothing to change, illegal_schedule where the change is refused.
  Expected<std::vector<schedule::Step>> (*apply)(const Mutation&);
  const char* summary;  ///< one sentence
};
std::span<const MutationRule> mutation_rules();
/// One that fits the target, drawn by weight.
const MutationRule& random_mutation(const Target& target, Rng& rng);

/// For each stage what one of the parents has: lengths of splits and numbers of stores. Both are of one sketch: equal but for those.
/// Errors: not_applicable for other parents.
/// Source: node-based crossover of Ansor's paper, which TVM 0.9 leaves out.
Expected<schedule::Schedule> crossed(const schedule::Schedule& a, const schedule::Schedule& b, Rng& rng);

// Each in its file.
MutationRule tile_size_mutation();
MutationRule auto_unroll_mutation();
MutationRule compute_location_mutation();
MutationRule parallel_mutation();

}  // namespace tw::space
