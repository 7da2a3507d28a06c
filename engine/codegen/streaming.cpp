// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/streaming.h"

#include "engine/ir/visit.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

namespace {

/// Of the parameters [from, to), those that exceed half of the last-level cache, if all parameters together exceed it.
std::unordered_set<const ir::BufferNode*> beyond_cache(const tir::Func& f, size_t from, size_t to, const Target& target) {
  int64_t total = 0;
  for (const ir::Buffer& p : f.params) total += p->bytes();
  std::unordered_set<const ir::BufferNode*> out;
  for (size_t i = from; i < to; ++i)
    if (total > target.l3_bytes && 2 * f.params[i]->bytes() > target.l3_bytes) out.insert(f.params[i].get());
  return out;
}

size_t inputs(const tir::Func& f) { return f.params.size() - static_cast<size_t>(f.num_outputs); }

}  // namespace

std::unordered_set<const ir::BufferNode*> inputs_from_memory(const tir::Func& f, const Target& target) { return beyond_cache(f, 0, inputs(f), target); }

std::unordered_set<const ir::BufferNode*> streamed_outputs(const tir::Func& f, const Target& target) {
  std::unordered_set<const ir::BufferNode*> out = beyond_cache(f, inputs(f), f.params.size(), target);
  if (out.empty()) return out;
  tir::walk_exprs(f.body, [&](const ir::Expr& root) {
    ir::walk(root, [&](const ir::Expr& e) {
      if (const auto* l = ir::as<ir::LoadNode>(e)) out.erase(l->buffer.get());
    });
  });
  return out;
}

}  // namespace tw::codegen
