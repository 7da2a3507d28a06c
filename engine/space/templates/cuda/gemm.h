// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// Convolutions and dense layers as products of matrices, whose columns are gathered from the image tile by tile, with sums that several blocks may share.
namespace tw::space::cuda {

bool gemm_matches(const te::Dag& dag, const Target& target);
ConfigSpace gemm_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> gemm_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity gemm_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
