// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/api/compile.h"

namespace tw::cli {

/// One distinct kernel of a compiled network.
struct EmittedKernel {
  std::string symbol;
  schedule::Schedule schedule;
};

/// What --emit may list: for each kernel its steps, loops, tir, and llvm-ir and asm, or for a GPU cuda, ptx, sass and cubin; for the whole network graph-json,
/// and for processors object and c-header. All of them, or those that a GPU has or has not.
std::vector<std::string> emissions(std::optional<bool> for_gpu = std::nullopt);

/// Writes the listed forms into `folder`; returns the paths. `name` is the prefix of what C programs see.
Expected<std::vector<std::string>> emit(const std::vector<std::string>& what, const std::string& folder, const std::string& name, const api::Network& network,
                                        const runtime::Executable& executable, const std::vector<EmittedKernel>& kernels, const Target& target);

}  // namespace tw::cli
