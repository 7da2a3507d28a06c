// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tw::te {

/// Attribute of an op that multiplies by a small constant matrix, as the transforms of Winograd's convolution do: which of its loops, axes first, run over such
/// matrices. They are written out instead of tiled. Source: `auto_scheduler_simplify_const_tensor_indices` of TVM.
inline constexpr const char* kConstTensorLoops = "const_tensor_loops";

}  // namespace tw::te
