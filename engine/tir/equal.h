// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tir/stmt.h"

namespace tw::tir {

/// Equality of two functions up to names of variables and buffers; origins are ignored.
bool structural_equal(const Func& a, const Func& b);

}  // namespace tw::tir
