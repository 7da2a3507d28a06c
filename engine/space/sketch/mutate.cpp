// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/mutate.h"

namespace tw::space {

std::span<const MutationRule> mutation_rules() {
  static const MutationRule kRules[] = {tile_size_mutation(), auto_unroll_mutation(), compute_location_mutation(), parallel_mutation()};
  return kRules;
}

const MutationRule& random_mutation(const Target& target, Rng& rng) {
  const auto weight = [&](const MutationRule& r) { return target.gpu ? r.gpu_weight : r.cpu_weight; };
  double total = 0;
  for (const MutationRule& r : mutation_rules()) total += weight(r);
  double left = rng.uniform_real() * total;
  for (const MutationRule& r : mutation_rules())
    if (weight(r) > 0 && (left -= weight(r)) < 0) return r;
  return mutation_rules().front();
}

}  // namespace tw::space
