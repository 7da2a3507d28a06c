// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "engine/base/host_array.h"

namespace tw::graph {

/// How a large constant follows from others whose numbers it only moves. Passes turn and join weights; those are in memory once more only when somebody reads
/// them, which a network that is looked at never does.
struct Derivation {
  enum class Kind : uint8_t { transposed, joined } kind;
  std::vector<HostArray> of;     ///< one that is turned, or several that are joined
  std::vector<int64_t> numbers;  ///< the order of the dimensions, or the dimension along which they are joined
};

/// Dimensions in the order of `perm`: dimension d of the result is dimension perm[d] of the operand.
HostArray transposed(const HostArray& a, const std::vector<int64_t>& perm);
/// Arrays one after another along `dim`; all other extents are equal.
HostArray joined(const std::vector<HostArray>& parts, int64_t dim);

/// Of a constant that is made when it is read; null for others.
const Derivation* derivation_of(const HostArray& a);
/// What `d` describes. Null where numbers and arrays do not fit together.
std::optional<HostArray> derived(const Derivation& d);

}  // namespace tw::graph
