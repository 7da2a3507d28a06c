// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/codegen/codegen.h"
#include "engine/codegen/llvm/emitter.h"

namespace tw::codegen {

/// Registers LLVM's x86 back end, once in this process.
void initialise_llvm();

/// Errors: unsupported for a processor that this LLVM does not know.
Expected<std::unique_ptr<llvm::TargetMachine>> make_machine(const Target& target, const BuildOptions& options);

/// The instruction sets that code for this target may use.
target::FeatureSet features_of(const Target& target);

/// Fills the module from the functions and verifies it. `debug` may be null.
Expected<void> fill_module(llvm::Module& module, llvm::TargetMachine& machine, const std::vector<tir::Func>& funcs, const Target& target, DebugLines* debug);

/// Runs the IR passes of the level.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, OptLevel level);

/// Keeps the first error that LLVM's back end reports for a context; without it LLVM would end the process.
class Diagnostics {
 public:
  explicit Diagnostics(llvm::LLVMContext& context);
  /// Errors: unsupported with LLVM's text.
  Expected<void> check() const;

 private:
  std::string first_;
};

/// Object bytes or assembly text. The module is used up: code generation rewrites it.
Expected<std::string> emit_machine_code(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType kind);

}  // namespace tw::codegen
