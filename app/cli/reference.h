// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/tensors.h"
#include "engine/base/stop_token.h"

namespace tw::cli {

/// The outputs that the imported graph has without any pass, fusion or schedule, computed in a child process.
/// Errors: not_applicable if the file carries no graph, crash, cancelled, what the reference says.
Expected<std::vector<HostArray>> reference_outputs(const std::string& executable_path, const runtime::Executable& executable, const TensorMap& inputs,
                                                   StopToken stop);

}  // namespace tw::cli
