// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/cuda_source.h"

#include "engine/base/text.h"
#include "engine/codegen/cuda/cuda_expr.h"
#include "engine/codegen/cuda/cuda_kernel.h"
#include "engine/ir/lexer.h"
#include "engine/target/gpu.h"
#include "engine/tir/launches.h"

namespace tw::codegen {

namespace {

/// No kernel can be called as the program's entry is.
std::string kernel_name(const std::string& function) {
  const std::string name = ir::to_identifier(function);
  return name == "main" ? "main_kernel" : name;
}

}  // namespace

Expected<CudaSource> cuda_source(const tir::Func& f) {
  TW_TRY(tir::LaunchList list, tir::split_launches(f));
  CudaSource body, out;
  out.workspace = std::move(list.workspace);
  std::set<std::string> helpers;
  for (const tir::Launch& launch : list.launches) {
    CudaKernel k;
    k.name = kernel_name(f.name) + (list.launches.size() > 1 ? fmt::format("_{}", out.kernels.size()) : "");
    k.grid = launch.grid;
    k.block = launch.block;
    k.params = launch.params;
    const int64_t shared = launch.shared_bytes();
    (shared > target::kStaticShared ? k.dynamic_shared_bytes : k.static_shared_bytes) = shared;
    if (!out.kernels.empty()) body.add_line("", nullptr, {});
    k.static_shared_bytes += print_kernel(launch, k, helpers, body);
    out.kernels.push_back(std::move(k));
  }
  const std::string head = cuda_helpers(helpers);
  for (size_t at = 0; at < head.size(); at = head.find('\n', at) + 1) out.add_line(head.substr(at, head.find('\n', at) - at), nullptr, {});
  if (!head.empty()) out.add_line("", nullptr, {});
  out.text += body.text;
  out.line_stmt.insert(out.line_stmt.end(), body.line_stmt.begin(), body.line_stmt.end());
  out.line_origin.insert(out.line_origin.end(), body.line_origin.begin(), body.line_origin.end());
  return out;
}

void CudaSource::add_line(const std::string& line, const tir::StmtNode* stmt, tir::Origin origin) {
  text += line + "\n";
  line_stmt.push_back(stmt);
  line_origin.push_back(origin);
}

}  // namespace tw::codegen
