// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace tw::codegen {

/// Where CUDA toolkits are: $CUDA_HOME, $CUDA_PATH, and those under /usr/local, newest first.
std::vector<std::filesystem::path> toolkit_folders();

}  // namespace tw::codegen
