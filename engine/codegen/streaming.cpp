// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/streaming.h"

#include "engine/ir/visit.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

std::unordered_set<const ir::BufferNode*> streamed_outputs(const tir::Func& f, const Target& target) {
  int64_t total = 0;
  for (const ir::Buffer& p : f.params) total += p->bytes();
  std::unordered_set<const ir::BufferNode*> out;
  if (total <= target.l3_bytes) return out;
  for (size_t i = f.params.size() - static_cast<size_t>(f.num_outputs); i < f.params.size(); ++i)
    if (2 * f.params[i]->bytes() > target.l3_bytes) out.insert(f.params[i].get());
  if (out.empty()) return out;
  tir::walk_exprs(f.body, [&](const ir::Expr& root) {
    ir::walk(root, [&](const ir::Expr& e) {
      if (const auto* l = ir::as<ir::LoadNode>(e)) out.erase(l->buffer.get());
    });
  });
  return out;
}

}  // namespace tw::codegen
