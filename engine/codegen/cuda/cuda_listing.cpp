// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/cuda_listing.h"

#include <unordered_map>

#include "engine/codegen/cuda/cuda_source.h"
#include "engine/codegen/cuda/nvrtc.h"
#include "engine/codegen/cuda/sass.h"
#include "engine/tir/clone.h"
#include "engine/tir/print.h"

namespace tw::codegen {

Expected<Listing> build_cuda_listing(const tir::Func& shared, int capability) {
  tir::Func func = shared;
  func.body = tir::unshared(shared.body);
  const tir::Printed printed = tir::print_with_lines(func);
  std::unordered_map<const tir::StmtNode*, int> line_of;
  for (size_t i = 0; i < printed.line_stmt.size(); ++i)
    if (printed.line_stmt[i] != nullptr) line_of.try_emplace(printed.line_stmt[i], static_cast<int>(i));
  TW_TRY(CudaSource source, cuda_source(func));
  Listing out;
  for (const tir::StmtNode* s : source.line_stmt) {
    const auto at = line_of.find(s);
    out.ir_line_to_tir_line.push_back(at == line_of.end() ? kNoCode : at->second);
  }
  if (auto binary = nvrtc_compile(source.text, capability, true); binary) {
    out.assembly = std::move(binary->ptx);
    for (const int line : binary->ptx_line_to_source)
      out.asm_line_to_tir_line.push_back(line < 0 ? kNoCode : out.ir_line_to_tir_line[static_cast<size_t>(line)]);
    if (auto sass = disassemble(binary->cubin); sass) {
      out.sass = std::move(sass->text);
      for (const int line : sass->line_to_source) out.sass_line_to_tir_line.push_back(line < 0 ? kNoCode : out.ir_line_to_tir_line[static_cast<size_t>(line)]);
    } else {
      out.sass = "// " + sass.error().message + "\n";
      out.sass_line_to_tir_line.push_back(kNoCode);
    }
  } else {
    out.assembly = out.sass = "// " + binary.error().message + "\n";
    out.asm_line_to_tir_line.push_back(kNoCode);
    out.sass_line_to_tir_line.push_back(kNoCode);
  }
  out.llvm_ir = std::move(source.text);
  return out;
}

}  // namespace tw::codegen
