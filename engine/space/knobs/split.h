// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/config_space.h"

namespace tw::space {

/// Candidates of a split of an axis into `options.num_outputs` loops, in AutoTVM's order: the innermost factor varies slowest.
/// Every candidate starts with -1, except those of policy "candidate", which are taken as given.
std::vector<KnobValue> enumerate_split(int64_t extent, const SplitOptions& options);

/// All divisors of n, ascending.
std::vector<int64_t> divisors(int64_t n);

/// `split` with its first factor replaced by ceil(extent / product of the others) if that is -1.
std::vector<int64_t> resolve_split(int64_t extent, const std::vector<int64_t>& split);

/// Order in which CPython walks set(divisors) | set(powers of two); policy "verbose" inherits it, and with it the meaning of an index.
/// Source: the open-addressing scheme of CPython 3.7 to 3.12 sets (tables of 2^k slots, runs of ten linear probes, perturbed jumps).
std::vector<int64_t> python_union_order(const std::vector<int64_t>& a, const std::vector<int64_t>& b);

}  // namespace tw::space
