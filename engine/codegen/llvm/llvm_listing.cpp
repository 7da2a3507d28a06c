// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/AssemblyAnnotationWriter.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/Support/FormattedStream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <charconv>

#include "engine/base/text.h"
#include "engine/codegen/cuda/cuda_listing.h"
#include "engine/codegen/llvm/llvm_clocks.h"
#include "engine/codegen/llvm/llvm_module.h"
#include "engine/tir/clone.h"
#include "engine/tir/print.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

namespace {

struct Text {
  std::string text;
  std::vector<int> lines;  ///< as in Listing

  void add(std::string_view line, int from) {
    text.append(line).push_back('\n');
    lines.push_back(from);
  }
};

/// Marks the line that follows with the printed function's line.
constexpr std::string_view kMark = ";@";

class Marker final : public llvm::AssemblyAnnotationWriter {
 public:
  explicit Marker(const std::unordered_map<const llvm::Instruction*, int>& lines) : lines_(lines) {}
  void emitInstructionAnnot(const llvm::Instruction* i, llvm::formatted_raw_ostream& out) override {
    if (const auto it = lines_.find(i); it != lines_.end()) out << kMark.data() << it->second << "\n";
  }

 private:
  const std::unordered_map<const llvm::Instruction*, int>& lines_;
};

/// The module's text without debug information, with the line that each instruction came from. The module keeps its debug information.
Text readable_ir(llvm::Module& module) {
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  std::unordered_map<const llvm::Instruction*, int> line_of;
  for (const llvm::Function& f : *copy)
    for (const llvm::BasicBlock& block : f)
      for (const llvm::Instruction& i : block) {
        const llvm::DebugLoc& at = i.getDebugLoc();
        line_of[&i] = at && at.getLine() > 1 ? static_cast<int>(at.getLine()) - 1 : kMerged;
      }
  llvm::StripDebugInfo(*copy);
  std::string raw;
  llvm::raw_string_ostream out(raw);
  Marker marker(line_of);
  copy->print(out, &marker);
  Text result;
  int pending = kNoCode;
  for (const std::string_view line : split_lines(raw)) {
    if (line.starts_with(kMark)) {
      std::from_chars(line.data() + kMark.size(), line.data() + line.size(), pending);
      continue;
    }
    result.add(line, std::exchange(pending, kNoCode));
  }
  return result;
}

/// Lines that say nothing about the code: debug tables, unwinding, labels of debug ranges.
bool is_noise(std::string_view word) {
  for (const std::string_view prefix : {".loc", ".file", ".cfi_", ".Ltmp", ".Lfunc_begin", ".Lfunc_end", ".Lsec_end", ".ident", ".size", ".type", ".p2align",
                                        ".addrsig", ".intel_syntax", ".text"})
    if (word.starts_with(prefix)) return true;
  return false;
}

/// Assembly of the code and its constants only; `.loc` directives become the line numbers.
Text readable_assembly(const std::string& raw) {
  Text result;
  int current = kMerged;
  bool in_debug_section = false;
  for (const std::string_view line : split_lines(raw)) {
    const std::string_view word = trim(line);
    if (word.starts_with(".section"))
      in_debug_section = word.find(".debug") != std::string_view::npos || word.find("note") != std::string_view::npos;
    else if (word == ".text")
      in_debug_section = false;
    if (word.starts_with(".loc")) {
      const size_t space = word.find_first_of(" \t", 5);  // .loc FILE LINE COLUMN
      int number = 0;
      if (space != std::string_view::npos) std::from_chars(word.data() + space + 1, word.data() + word.size(), number);
      // The first printed line is no statement: LLVM gives it to what belongs to the function as a whole.
      current = number > 1 ? number - 1 : kMerged;
    }
    if (word.starts_with(".Lfunc_begin")) current = kMerged;
    if (in_debug_section || word.empty() || is_noise(word)) continue;
    const bool code = line.front() == '\t' && !word.starts_with(".") && !word.starts_with("#");
    result.add(line, code ? current : kNoCode);
  }
  return result;
}

}  // namespace

Expected<Listing> build_listing(const tir::Func& shared, const Target& target, const BuildOptions& options) {
  if (target.gpu) return build_cuda_listing(shared, target.gpu->capability);
  TW_TRY(const auto machine, make_machine(target, options));
  tir::Func func = shared;
  func.body = tir::unshared(shared.body);
  const tir::Printed printed = tir::print_with_lines(func);
  std::unordered_map<const tir::StmtNode*, int> line_of;
  for (size_t i = 0; i < printed.line_stmt.size(); ++i)
    if (printed.line_stmt[i] != nullptr) line_of.try_emplace(printed.line_stmt[i], static_cast<int>(i) + 1);

  llvm::LLVMContext context;
  const Diagnostics diagnostics(context);
  llvm::Module module(func.name, context);
  llvm::DIBuilder builder(module);
  llvm::DIFile* file = builder.createFile(func.name, "");
  DebugLines lines{.line_of = line_of, .builder = builder, .file = file, .unit = nullptr};
  lines.unit = builder.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "Tilewright", true, "", 0, "", llvm::DICompileUnit::LineTablesOnly);
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  TW_CHECK(fill_module(module, *machine, {func}, target, &lines));
  if (options.verify) TW_CHECK(verify_module(module));
  optimise(module, *machine, options.opt);

  Text ir = readable_ir(module);
  TW_TRY(const auto emitter, MachineCodeEmitter::create(*machine, llvm::CodeGenFileType::AssemblyFile));
  const std::string raw(emitter->run(module));
  TW_CHECK(diagnostics.check());
  Text assembly = readable_assembly(raw);
  std::vector<bool> is_instruction;
  for (const int line : assembly.lines) is_instruction.push_back(line != kNoCode);
  std::vector<double> clocks = instruction_clocks(assembly.text, is_instruction, *machine);
  return Listing{std::move(ir.text), std::move(assembly.text), std::move(ir.lines), std::move(assembly.lines), std::move(clocks), {}, {}};
}

}  // namespace tw::codegen
