// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>

#include "engine/base/host_array.h"
#include "engine/runtime/executable.h"

/// Tensors that come from and go to people: random inputs, files, comparison.
namespace tw::cli {

using TensorMap = std::map<std::string, HostArray>;

/// The name in `name=file`: the longest of the inputs that it begins with, as names may have a `=`; what stands before the first one if it is none of them.
std::string input_name(const std::string& option, std::span<const std::string> inputs);
/// Reads the file of `name=file`: a .npy file or a .pb file of an ONNX test case. Errors: invalid_argument (usage), what the readers say.
Expected<HostArray> read_input(const std::string& option, const std::string& name);

/// Element by element, as ONNX's own test runner does: |got - want| <= absolute + relative * |want|; NaN equals NaN, infinities equal themselves.
/// Small elements of large results are sums that cancel: any error of at most `of_largest` times the largest magnitude is accepted as well.
/// Integers and booleans must be equal.
struct Tolerance {
  double relative = 1e-3, absolute = 1e-7, of_largest = 0;
};
struct Comparison {
  double max_abs = 0, max_rel = 0;  ///< over finite elements; relative to the largest magnitude
  std::string wrong;                ///< one sentence about the first element out of tolerance, or about type or shape; empty if all is well
};
Comparison compare_elements(const HostArray& got, const HostArray& want, const Tolerance& tolerance);
/// The tolerance for a type's precision.
Tolerance tolerance_for(DType dtype);

/// Writes `folder/NUMBER_NAME.npy` for each, characters outside [A-Za-z0-9._-] of the name replaced.
Expected<void> write_tensors(const std::string& folder, const std::vector<std::string>& names, const std::vector<HostArray>& tensors);

}  // namespace tw::cli
