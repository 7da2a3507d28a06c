// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/templates/cpu/blocked.h"

/// AutoTVM's templates for x86: the names, knobs and enumeration of its spaces, so that its logs mean the same here, and the loops that its points stand for.
/// Vectors longer than a register are written as several, which is what a compiler makes of them.
/// Source: Chen et al., "Learning to optimize tensor programs", NeurIPS 2018; TVM v0.9.0, python/tvm/topi/x86 (names, knobs and loop orders only).
namespace tw::space::x86 {

/// Lanes of the vectors that a tile of n elements is made of: the largest divisor of n that fits a register.
int64_t lanes_for(int64_t n, const Target& target);

/// Whether a tile of so many statements is written out: a larger one would only cost compile time, so its loops stay.
inline bool written_out(int64_t statements) { return statements <= 512; }

/// A loop cut into vectors: whole vectors outside, written out, and the lanes of one inside. Both are annotated.
struct Vectors {
  ir::Var whole, lanes;
};
/// Cuts `loop`, of which `tile` elements are computed at a time.
Vectors vectorize_tile(schedule::Builder& b, int stage, const ir::Var& loop, int64_t tile, const Target& target);

/// [N, C, H, W] in blocks of c channels; row-major for 1, which is the same bytes.
inline std::vector<schedule::LayoutStep::Piece> blocked(int64_t c) { return cpu::nchwc(c); }

/// What dense_nopack.x86 and batch_matmul.x86 have in common: sums over a part of the reduction, as a vector for each result, then the sum over the vector.
ConfigSpace dot_space(int64_t m, int64_t n, int64_t k);
Expected<schedule::Schedule> dot_schedule(const te::DagPtr& dag, const cpu::Anchor& a, const Target& target, const ConfigEntity& e);

}  // namespace tw::space::x86
