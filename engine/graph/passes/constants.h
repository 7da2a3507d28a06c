// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/graph/derived_constants.h"
#include "engine/graph/graph.h"

/// What passes know about operands.
namespace tw::graph {

/// Whether the operator of two operands gives the same for them exchanged.
bool is_commutative(const std::string& op);

/// The value that all elements have; nothing if they differ.
std::optional<double> uniform(const HostArray& a);
/// A scalar of type `t`.
HostArray full(DType t, double v);
/// The operator's result on constants, by the reference interpreter. Errors: of inference.
Expected<HostArray> fold(const std::string& op, const std::vector<HostArray>& operands, Attrs attrs = {});

/// A transposition's attribute `perm`, counted from the front; reversed dimensions where it is absent. Dimension d of the result is dimension perm[d] of the
/// operand.
std::vector<int64_t> permutation(const Attrs& attrs, size_t rank);
/// Whether it makes columns of rows that lie in one piece.
bool turns_rows(const std::vector<int64_t>& perm);

}  // namespace tw::graph
