// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/frontends/torch/torch_importer.h"

namespace tw::frontends {

/// How one function of PyTorch becomes nodes of ours. Names are without overload: arguments are found by name, so most converters need not know it.
struct AtenOp {
  const char* name;  ///< such as "aten.conv2d" or "_operator.add"
  TorchResults (*convert)(TorchNode&);
};

// Tables by topic; find_aten_op searches all of them.
std::span<const AtenOp> aten_attention();
std::span<const AtenOp> aten_binary();
std::span<const AtenOp> aten_composite();
std::span<const AtenOp> aten_create();
std::span<const AtenOp> aten_index();
std::span<const AtenOp> aten_linear();
std::span<const AtenOp> aten_nn();
std::span<const AtenOp> aten_norm();
std::span<const AtenOp> aten_quant();
std::span<const AtenOp> aten_recurrent();
std::span<const AtenOp> aten_reduce();
std::span<const AtenOp> aten_resize();
std::span<const AtenOp> aten_shape();
std::span<const AtenOp> aten_symbolic();
std::span<const AtenOp> aten_unary();
std::span<const AtenOp> aten_view();

/// What a function does beside what the converter of its plain form gives.
enum class AtenForm {
  plain,
  writes,  ///< `add_`: works in place on its first argument
  copies,  ///< `view_copy`: gives new tensors where the plain form gives views
};
/// The converter of a function, or null.
const AtenOp* find_aten_op(const std::string& name, AtenForm* form = nullptr);

/// The shape that all values are broadcast to.
Dims common_shape(TorchNode& n, const std::vector<int>& values);
/// All of a list as one per dimension: a single number counts for each.
Dims per_dimension(TorchNode& n, const char* name, size_t dims, int64_t fallback);

}  // namespace tw::frontends
