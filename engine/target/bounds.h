// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"

/// What no machine of a target exceeds, for telling times apart that cannot be: generous, where a processor is known by its instructions alone.
namespace tw::target {

/// Float32 operations a second. A processor's cores do two fused multiply-adds on vectors in each clock, at no more than 6.5 GHz; a card's clock may be a tenth
/// above the table's.
double most_flops(const Target& target);
/// How many times faster arithmetic of 16 bits and fewer can be: on processors as with tiles (AMX: 1024 multiply-adds of bfloat16 and 2048 of int8 in a clock
/// against 32 of float32; source: Intel 64 and IA-32 Architectures Optimization Reference Manual, "Intel AMX").
double most_narrow_speedup(const Target& target);
/// Bytes stored a second, wherever they go: two vectors in each clock of a core; 128 bytes in each of a multiprocessor.
double most_stored_bytes_per_s(const Target& target);

/// A processor's target with as many cores and as wide vectors as any machine has: of a log that does not say how many its machine had.
Target widest_processor(Target processor);

}  // namespace tw::target
