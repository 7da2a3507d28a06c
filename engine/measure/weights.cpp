// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/weights.h"

namespace tw::measure {

records::Weights weights_in_network(const Target& target, int64_t constant_bytes) {
  return constant_bytes <= target.kept_bytes() ? records::Weights::warm : records::Weights::cold;
}

}  // namespace tw::measure
