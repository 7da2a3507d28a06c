// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/kernel_text.h"

#include "engine/codegen/cuda/cuda_words.h"
#include "engine/codegen/cuda/kernel_ranges.h"

namespace tw::codegen {

KernelText::KernelText(const tir::Launch& launch_, std::set<std::string>& helpers, CudaSource& out_)
    : launch(launch_), ranges(kernel_ranges(launch_)), expr(names, ranges, helpers), out(out_) {
  reserve_words(names);
  expr.wide_indices = !indices_fit(launch, ranges);
}

void KernelText::line(const tir::StmtNode* s, tir::Origin origin, std::string text) {
  text.insert(0, indent());
  if (expr.unrolled.active())
    expr.unrolled.line(std::move(text), s, origin);
  else
    out.add_line(text, s, origin);
}

ir::Var KernelText::fresh_var(const char* hint) { return made_.emplace_back(ir::make_var(hint)); }

}  // namespace tw::codegen
