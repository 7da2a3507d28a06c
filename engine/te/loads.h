// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/te/dag.h"

namespace tw::te {

/// Whether every read of a verified dag is certainly inside its array: by the extents of the axes, and by the conditions of the selections around it.
/// Indices that arrays hold have to be limited by min and max. Errors: invalid_argument naming the op (as verify() does), the read and how far it reaches.
Expected<void> check_loads(const Dag& dag);

}  // namespace tw::te
