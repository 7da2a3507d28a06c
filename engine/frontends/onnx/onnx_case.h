// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/frontends/frontend.h"

namespace tw::frontends {

/// One ONNX conformance case: a model with inputs and what it must compute.
struct OnnxCase {
  graph::Graph graph;
  std::vector<HostArray> inputs;   ///< in the order of graph.inputs
  std::vector<HostArray> outputs;  ///< in the order of graph.outputs
  std::vector<std::string> formats;  ///< per output: of which narrow floating-point format its codes are, or empty
  /// Output `i` as numbers: codes of one number (NaN has several) become equal.
  HostArray plain(size_t i, const HostArray& output) const;
};

/// Reads the array that a case keeps under a path without its extension, such as `folder/test_data_set_0/input_0`.
using ReadArray = std::function<Expected<HostArray>(const std::string& stem)>;

/// Reads `folder/model.onnx` and `folder/test_data_set_N/{input,output}_K`, by default from ONNX's `.pb` files. Symbolic dimensions take the extents of the data.
/// Operands that decide shapes are inputs in these cases: if the model is refused with them open, integer (then all) inputs of at most
/// one dimension, at last all inputs, are fixed at their data and leave the list of inputs.
/// Errors: those of read_onnx and read_onnx_tensor; corrupt for data that do not fit the model's inputs and outputs.
Expected<OnnxCase> read_onnx_case(const std::string& folder, int data_set = 0, const ReadArray& read = {});

}  // namespace tw::frontends
