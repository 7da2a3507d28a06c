// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Every access gets one index, in elements, row-major over the buffer's shape.
/// Rewrite: A[i, j]  =>  A[i*m + j];  A[f // m, f % m]  =>  A[f]
Func flatten_storage(const Func& f, const Target& target);

}  // namespace tw::tir
