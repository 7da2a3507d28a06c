// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/api/compile.h"

namespace tw::cli {

/// One distinct kernel of a compiled network.
struct EmittedKernel {
  std::string symbol;
  schedule::Schedule schedule;
};

/// What --emit may list: for each kernel its steps, loops, tir, llvm-ir and asm, for the whole network graph-json, object and c-header.
const std::vector<std::string>& emissions();

/// Writes the listed forms into `folder`; returns the paths. `name` is the prefix of what C programs see.
Expected<std::vector<std::string>> emit(const std::vector<std::string>& what, const std::string& folder, const std::string& name, const api::Network& network,
                                        const runtime::Executable& executable, const std::vector<EmittedKernel>& kernels, const Target& target);

}  // namespace tw::cli
