// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/code_size.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/ir/visit.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

namespace {

int64_t count_nodes(const ir::Expr& root) {
  int64_t n = 0;
  ir::walk(root, [&](const ir::Expr& e) { n += e->kind() == ir::ExprKind::call ? e->dtype.lanes : 1; });
  return n;
}

/// Counts stores of straight-line runs; a loop starts a run of its own.
class Counter {
 public:
  int64_t largest = 0;

  int64_t run(const tir::Stmt& s) {
    return tir::match(
        s, [&](const tir::ForNode& n) -> int64_t { return largest = std::max(largest, run(n.body)), 0; }, [&](const tir::StoreNode&) -> int64_t { return 1; },
        [&](const tir::AllocNode& n) { return run(n.body); }, [&](const tir::LetNode& n) { return 1 + run(n.body); },
        [&](const tir::IfNode& n) { return run(n.then_body) + (n.else_body ? run(*n.else_body) : 0); },
        [&](const tir::SeqNode& n) {
          int64_t total = 0;
          for (const tir::Stmt& child : n.stmts) total += run(child);
          return total;
        },
        [&](const tir::SyncNode&) -> int64_t { return 0; }, [&](const tir::AllReduceNode&) -> int64_t { return 1; },
        [&](const tir::AsyncNode& n) { return run(n.body); }, [](const tir::WaitNode&) -> int64_t { return 0; },
        [](const tir::MmaNode&) -> int64_t { return 1; });
  }
};

}  // namespace

CodeSize code_size(const tir::Func& f) {
  CodeSize size;
  Counter counter;
  size.block_stores = counter.run(f.body);
  size.block_stores = std::max(size.block_stores, counter.largest);
  tir::walk_exprs(f.body, [&](const ir::Expr& e) { size.nodes += count_nodes(e); });
  return size;
}

Expected<void> check_code_size(const tir::Func& f) {
  const CodeSize size = code_size(f);
  if (size.block_stores > kMaxBlockStores)
    return Error(ErrorCode::resource_limit, fmt::format("Expected at most {} statements in one unrolled body, found {}", kMaxBlockStores, size.block_stores),
                 "function " + f.name);
  if (size.nodes > kMaxNodes)
    return Error(ErrorCode::resource_limit, fmt::format("Expected at most {} expression nodes, found {}", kMaxNodes, size.nodes), "function " + f.name);
  return {};
}

}  // namespace tw::codegen
