// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Cuts loops where a guard of an imperfect split starts or stops to hold, so that the main part runs without it.
/// Rewrite: for i<n { if i*4+j < m { S } }  =>  for i<n0 { S }; for i in [n0, n) { if i*4+j < m { S } }
/// Guards are also that lanes are not turned around or kept between limits, as padding repeats what lies inside.
/// A parallel or bound loop stays one region: its body gets two versions instead, if need be by what was one of the loops that it was fused of.
/// Source: loop partitioning of Halide and TVM.
Func partition_loops(const Func& f, const Target& target);

}  // namespace tw::tir
