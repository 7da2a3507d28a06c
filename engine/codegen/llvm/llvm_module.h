// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/codegen.h"
#include "engine/codegen/llvm/emitter.h"

namespace tw::codegen {

/// Registers LLVM's back ends for x86-64 and AArch64, once in this process.
void initialise_llvm();

/// Errors: unsupported for a processor that this LLVM does not know.
Expected<std::unique_ptr<llvm::TargetMachine>> make_machine(const Target& target, const BuildOptions& options);

/// Fills the module from the functions. `debug` may be null.
Expected<void> fill_module(llvm::Module& module, llvm::TargetMachine& machine, const std::vector<tir::Func>& funcs, const Target& target, DebugLines* debug);

/// Errors: internal with what LLVM's verifier says.
Expected<void> verify_module(const llvm::Module& module);

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

/// Turns modules into object files or assembly with one chain of passes: putting it together takes LLVM as long as a small kernel.
class MachineCodeEmitter {
 public:
  /// Uses the machine as long as it lives. Errors: infrastructure.
  static Expected<std::unique_ptr<MachineCodeEmitter>> create(llvm::TargetMachine& machine, llvm::CodeGenFileType kind);
  /// Object bytes or assembly text, valid until the next run. The module is used up: code generation rewrites it.
  std::string_view run(llvm::Module& module);

 private:
  MachineCodeEmitter() = default;
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream out_{bytes_};
  llvm::legacy::PassManager passes_;
};

}  // namespace tw::codegen
