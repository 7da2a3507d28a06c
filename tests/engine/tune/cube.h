// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json.h"
#include "engine/space/config_space.h"

namespace tw::tune::fixture {

/// `knobs` knobs "k0", "k1", ... with the values 0 to side - 1 each: a space whose best point a test can name.
inline space::ConfigSpace cube(int side, int knobs) {
  space::ConfigSpace s;
  std::vector<Json> values;
  for (int i = 0; i < side; ++i) values.push_back(i);
  for (int k = 0; k < knobs; ++k) s.define_knob("k" + std::to_string(k), values);
  return s;
}

}  // namespace tw::tune::fixture
