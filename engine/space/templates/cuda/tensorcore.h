// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/templates/cpu/blocked.h"

/// What the templates for tensor cores share: products of matrices of float16 or bfloat16 whose extents are multiples of 16, summed up in float32.
/// Knobs: those of AutoTVM's tensor-core templates. `offsetCS` changes nothing here, for results go from registers to memory; it keeps AutoTVM's numbering. How
/// many tiles are copied ahead is no knob: as many as fit, up to four.
namespace tw::space::cuda {

/// The product with this tag on a GPU that has the instructions, or nothing.
std::optional<cpu::Anchor> tensorcore_anchor(const te::Dag& dag, const Target& target, std::string_view tag, te::Role weight);

ConfigSpace tensorcore_space(const te::Dag& dag, const Target& target, const cpu::Anchor& a);
/// Blocks of warps; each warp computes a tile of the result from tiles in shared memory that threads copy ahead.
/// Source: the tensor-core templates of TVM v0.9.0 for the knobs; CUTLASS 2.x (multistage pipelines of cp.async, mma.sync) for what they mean.
Expected<schedule::Schedule> tensorcore_apply(const te::DagPtr& dag, const Target& target, const cpu::Anchor& a, const ConfigEntity& e);
/// The largest tiles whose blocks keep all multiprocessors busy, else the smallest.
ConfigEntity tensorcore_fallback(const te::Dag& dag, const Target& target, const cpu::Anchor& a);

}  // namespace tw::space::cuda
