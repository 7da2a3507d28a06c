// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "app/cli/tensors.h"
#include "engine/api/compile.h"
#include "engine/base/stop_token.h"

namespace tw::cli {

/// What a network must give for some inputs.
struct ReferenceOutputs {
  std::vector<HostArray> arrays;
  std::vector<double> tolerances;  ///< relative errors that the operators allow
};
/// The outputs that the imported graph has without any pass, fusion or schedule, computed in a child process.
/// Errors: not_applicable if the file carries no graph, crash, cancelled, what the reference says.
Expected<ReferenceOutputs> reference_outputs(const std::string& executable_path, const runtime::Executable& executable, const TensorMap& inputs,
                                             StopToken stop);

/// Errors of all outputs, each relative to its largest magnitude.
struct Check {
  std::vector<api::Difference> outputs;
  std::vector<double> tolerances;
  double max_abs = 0, max_rel = 0;  ///< infinite where a number is missing
  bool passed = true;
};
/// `tolerance` for every output instead of what the operators allow. Errors: wrong_result for other types or shapes.
Expected<Check> check_outputs(const ReferenceOutputs& want, const std::vector<HostArray>& got, std::optional<double> tolerance = {});
/// `1e-06 relative, 2e-06 absolute against the reference: passed`.
std::string check_text(const Check& check);

}  // namespace tw::cli
