// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/llvm/llvm_clocks.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>

#include <algorithm>
#include <memory>

#include "engine/base/text.h"

namespace tw::codegen {

namespace {

/// Looks up every instruction that a parser reads, and keeps nothing else.
class ClockReader final : public llvm::MCStreamer {
 public:
  ClockReader(llvm::MCContext& context, const llvm::MCInstrInfo& table, const llvm::SourceMgr& text, std::vector<double>& clocks)
      : llvm::MCStreamer(context), table_(table), text_(text), clocks_(clocks) {}

  void emitInstruction(const llvm::MCInst& instruction, const llvm::MCSubtargetInfo& processor) override {
    const size_t line = text_.FindLineNumber(instruction.getLoc()) - 1;
    clocks_.at(line) = processor.getSchedModel().getReciprocalThroughput(processor, table_, instruction);
  }
  bool emitSymbolAttribute(llvm::MCSymbol*, llvm::MCSymbolAttr) override { return true; }
  void emitCommonSymbol(llvm::MCSymbol*, uint64_t, llvm::Align) override {}
  void emitZerofill(llvm::MCSection*, llvm::MCSymbol*, uint64_t, llvm::Align, llvm::SMLoc) override {}

 private:
  const llvm::MCInstrInfo& table_;
  const llvm::SourceMgr& text_;
  std::vector<double>& clocks_;
};

}  // namespace

std::vector<double> instruction_clocks(const std::string& assembly, const std::vector<bool>& is_instruction, const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& processor = *machine.getMCSubtargetInfo();
  if (!processor.getSchedModel().hasInstrSchedModel()) return {};
  std::vector<double> clocks(is_instruction.size(), 0);
  std::string instructions;  // on the lines where the listing has them
  size_t line = 0;
  for (const std::string_view text : split_lines(assembly)) {
    if (line < is_instruction.size() && is_instruction[line]) instructions.append(text);
    instructions.push_back('\n');
    ++line;
  }
  llvm::SourceMgr text;
  text.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(instructions), llvm::SMLoc());
  text.setDiagHandler([](const llvm::SMDiagnostic&, void*) {});
  const llvm::Target& back_end = machine.getTarget();
  llvm::MCContext context(machine.getTargetTriple(), machine.getMCAsmInfo(), machine.getMCRegisterInfo(), &processor, &text);
  const std::unique_ptr<llvm::MCObjectFileInfo> sections(back_end.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());
  ClockReader reader(context, *machine.getMCInstrInfo(), text, clocks);
  const std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(text, context, reader, *machine.getMCAsmInfo()));
  const std::unique_ptr<llvm::MCTargetAsmParser> words(back_end.createMCAsmParser(processor, *parser, *machine.getMCInstrInfo(), llvm::MCTargetOptions()));
  if (!words) return {};
  parser->setAssemblerDialect(machine.getMCAsmInfo()->getAssemblerDialect());
  parser->setTargetParser(*words);
  parser->Run(/*NoInitialTextSection=*/false, /*NoFinalize=*/true);
  // What the parser does not take back from the printer is issued as any other.
  const double slot = 1.0 / processor.getSchedModel().IssueWidth;
  for (size_t k = 0; k < clocks.size(); ++k)
    if (is_instruction[k]) clocks[k] = std::max(clocks[k], slot);
  return clocks;
}

}  // namespace tw::codegen
