// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/codegen/cuda/cuda_expr.h"
#include "engine/tir/launches.h"

namespace tw::codegen {

/// The text of one kernel as it grows: its lines, the names in it, how deep they stand.
class KernelText {
 public:
  /// Writes to `out`; `helpers` collects the functions that texts call beside those of CUDA.
  KernelText(const tir::Launch& launch, std::set<std::string>& helpers, CudaSource& out);

  void line(const tir::StmtNode* s, tir::Origin origin, std::string text);
  void line(const tir::Stmt& s, std::string text) { line(s.get(), s->origin, std::move(text)); }
  /// A line that opens braces, one between two blocks, and the one that closes them.
  void begin(const tir::Stmt& s, std::string text) { line(s, std::move(text)), ++level; }
  void middle(const tir::Stmt& s, std::string text) { --level, line(s, std::move(text)), ++level; }
  void end(const tir::Stmt& s) { --level, line(s, "}"); }
  std::string indent() const { return std::string(static_cast<size_t>(level) * 2, ' '); }

  /// A variable of the text's own. Its name is `names.of(v.get())`.
  ir::Var fresh_var(const char* hint);
  std::string fresh(const char* hint) { return names.of(fresh_var(hint).get()); }

  const tir::Launch& launch;
  ir::Names names;
  Ranges ranges;
  CudaExprPrinter expr;
  CudaSource& out;
  int level = 0;

 private:
  std::vector<ir::Var> made_;
};

}  // namespace tw::codegen
