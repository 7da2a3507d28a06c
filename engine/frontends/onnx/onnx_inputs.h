// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <set>

#include "engine/frontends/frontend.h"

namespace tw::frontends {

/// The name under which a dynamic dimension gets its value: its own, or `INPUT.AXIS` if it has none, which some exporters write as `?`.
std::string dynamic_name(const onnx::TensorShapeProto::Dimension& d, const std::string& input, int axis);

/// Whether an input is one integer, which ImportOptions::dims may fix by its name.
bool is_one_integer(const onnx::ValueInfoProto& v);

/// Dimensions of the graph's inputs without a value, then its inputs that are one integer.
std::vector<OpenSize> open_sizes_of(const onnx::GraphProto& graph);
/// Errors: invalid_argument, with all dimensions at once that need a value and have none in `options.dims`. Inputs that `options.constants` fixes need none.
Expected<void> check_sizes(const onnx::GraphProto& graph, const ImportOptions& options);

/// The static type of a model's input whose sizes were checked. Dynamic dimensions take their value from `options.dims` under their name, or under
/// `INPUT.AXIS` if they have none; leading ones without a value that are unnamed or named like a batch are 1.
/// `used` collects the names that were looked up with success.
/// Errors: unsupported (not a tensor, element type, unknown rank), invalid_argument (an extent below -1, or one given that is negative).
Expected<graph::TensorType> input_type(const onnx::ValueInfoProto& v, const ImportOptions& options, std::set<std::string>& used);

}  // namespace tw::frontends
