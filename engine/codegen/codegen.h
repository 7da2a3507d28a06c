// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/artifact.h"
#include "engine/runtime/kernel.h"
#include "engine/runtime/object_loader.h"
#include "engine/target/target.h"
#include "engine/tir/stmt.h"

/// TIR to machine code. The headers of LLVM stay inside codegen/llvm.
namespace tw::codegen {

enum class OptLevel {
  tuning,  ///< sroa + early-cse, licm where tables are read, codegen level 1: about 5 ms a kernel and as fast as O3 on explicitly vectorised loops
  full,    ///< O3: for loops left to LLVM's own vectoriser
};

struct BuildOptions {
  OptLevel opt = OptLevel::tuning;
  bool verify = true;  ///< LLVM's verifier looks at every module: some 2 % of the time, which workers that build candidates by the thousand save
};

/// Compiles for one target, one module after the other: setting up LLVM costs as much as a tenth of a candidate and is done once. One thread at a time.
class ObjectBuilder {
 public:
  /// Errors of `build` come from there, those about the target included.
  explicit ObjectBuilder(Target target, const BuildOptions& options = {});
  ~ObjectBuilder();
  ObjectBuilder(ObjectBuilder&&) noexcept;
  ObjectBuilder& operator=(ObjectBuilder&&) noexcept;

  /// Optimised functions (all passes done) as one object file. Functions keep their names as symbols with the kernel ABI of runtime/kernel.h. The same
  /// functions give the same bytes, whatever was built before.
  /// Errors: unsupported for a processor, type or intrinsic that LLVM or the target lacks; resource_limit for bodies over the code-size limit; internal if
  /// LLVM's verifier refuses the module.
  Expected<std::vector<std::byte>> build(const std::vector<tir::Func>& funcs);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One build. Safe to call from several threads at once.
Expected<std::vector<std::byte>> build_object(const std::vector<tir::Func>& funcs, const Target& target, const BuildOptions& options = {});

/// In place of a line's origin: the line is no instruction; the instruction is the compiler's own or was made from several lines.
constexpr int kNoCode = -1, kMerged = -2;

/// LLVM IR and assembly of one function, for reading. Of a function for a GPU: CUDA C++ and PTX, or a comment that says why there is none.
struct Listing {
  std::string llvm_ir;                   ///< after optimisation
  std::string assembly;                  ///< Intel syntax where the target has it
  std::vector<int> ir_line_to_tir_line;  ///< 0-based line of tir::print, kNoCode or kMerged
  std::vector<int> asm_line_to_tir_line;
  /// Per line of the assembly: clocks of an instruction where others like it follow each other, by LLVM's table of the processor; 0 for other lines. Empty
  /// where there is no such table, as for GPUs.
  std::vector<double> asm_line_clocks;
  std::string sass;  ///< of a GPU, or a comment that says why there is none; empty for processors
  std::vector<int> sass_line_to_tir_line;
};
Expected<Listing> build_listing(const tir::Func& func, const Target& target, const BuildOptions& options = {});

/// What an ObjectBuilder made, into this process. It runs code: only workers and executables do this.
using runtime::load_object;

/// The instruction sets that LLVM uses for this target, by its names, among those that target/cpu_table.h lists.
Expected<std::vector<std::string>> enabled_features(const Target& target);

/// Name and version of the code generator, as in `LLVM 19.1.7`.
std::string codegen_version();

}  // namespace tw::codegen
