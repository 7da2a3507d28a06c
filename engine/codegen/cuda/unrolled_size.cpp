// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/unrolled_size.h"

#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/target/gpu.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

using ir::Buffer;
using ir::Expr;
using tir::ForKind;
using tir::Stmt;

namespace {

/// Whether a local array is addressed by the loop's variable.
bool moves_registers(const tir::ForNode& n) {
  bool found = false;
  const auto look = [&](const Buffer& b, const std::vector<Expr>& indices) {
    found = found || (b->scope == ir::Scope::local && std::any_of(indices.begin(), indices.end(), [&](const Expr& i) { return ir::uses_var(i, n.var.get()); }));
  };
  tir::walk(n.body, [&](const Stmt& s) {
    if (const auto* st = tir::as<tir::StoreNode>(s)) look(st->buffer, st->indices);
  });
  tir::walk_exprs(n.body, [&](const Expr& root) {
    ir::walk(root, [&](const Expr& e) {
      if (const auto* l = ir::as<ir::LoadNode>(e)) look(l->buffer, l->indices);
    });
  });
  return found;
}

}  // namespace

bool asks_to_unroll(const tir::ForNode& n) {
  if (!ir::as_int(n.extent)) return false;
  return tir::is_unrolled(n.for_kind) || n.for_kind == ForKind::vthread || moves_registers(n);
}

int64_t unrolled_size(const Stmt& s) {
  int64_t size = 0;
  tir::match(
      s, [&](const tir::ForNode& n) { size = unrolled_size(n.body) * (asks_to_unroll(n) ? *ir::as_int(n.extent) : 1); },
      [&](const tir::StoreNode& n) { size = n.value->dtype.lanes; }, [&](const tir::AllocNode& n) { size = unrolled_size(n.body); },
      [&](const tir::LetNode& n) { size = 1 + unrolled_size(n.body); },
      [&](const tir::IfNode& n) { size = unrolled_size(n.then_body) + (n.else_body ? unrolled_size(*n.else_body) : 0); },
      [&](const tir::SeqNode& n) {
        for (const Stmt& c : n.stmts) size += unrolled_size(c);
      },
      [](const tir::SyncNode&) {}, [&](const tir::AllReduceNode&) { size = 1; }, [&](const tir::AsyncNode& n) { size = unrolled_size(n.body); },
      [](const tir::WaitNode&) {},
      [&](const tir::MmaNode& n) { size = int64_t{n.rows} * n.columns * n.depth / (16 * 8 * target::mma_depth(n.a.first->dtype, n.b.first->dtype)); });
  return std::min(size, 2 * kMaxUnrolled);
}

}  // namespace tw::codegen
