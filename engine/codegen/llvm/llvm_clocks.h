// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <string>
#include <vector>

namespace tw::codegen {

/// Per line of a listing the clocks that an instruction takes where others like it follow each other, by LLVM's table of the machine's processor: its
/// reciprocal throughput, and no less than its place among those issued at once. 0 for lines that are no instructions; empty where LLVM has no table.
std::vector<double> instruction_clocks(const std::string& assembly, const std::vector<bool>& is_instruction, const llvm::TargetMachine& machine);

}  // namespace tw::codegen
