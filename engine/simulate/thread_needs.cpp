// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/thread_needs.h"

#include <algorithm>

#include "engine/tir/visit.h"

namespace tw::simulate {

ThreadNeeds thread_needs(const tir::Stmt& s) {
  ThreadNeeds out;
  const auto inside = [&](const tir::Stmt& c) {
    const ThreadNeeds n = thread_needs(c);
    out.local_bytes = std::max(out.local_bytes, n.local_bytes);
    out.local_registers = std::max(out.local_registers, n.local_registers);
    out.largest_registers = std::max(out.largest_registers, n.largest_registers);
    out.virtual_threads = std::max(out.virtual_threads, n.virtual_threads);
  };
  tir::match(
      s,
      [&](const tir::ForNode& n) {
        inside(n.body);
        if (n.for_kind == tir::ForKind::vthread) out.virtual_threads *= ir::as_int(n.extent).value_or(1);
      },
      [&](const tir::AllocNode& n) {
        inside(n.body);
        if (n.buffer->scope != ir::Scope::local) return;
        const int64_t registers = (n.buffer->bytes() + 3) / 4;
        out.local_bytes += n.buffer->bytes();
        out.local_registers += registers;
        out.largest_registers = std::max(out.largest_registers, registers);
      },
      [&](const tir::LetNode& n) { inside(n.body); },
      [&](const tir::IfNode& n) {
        inside(n.then_body);
        if (n.else_body) inside(*n.else_body);
      },
      [&](const tir::SeqNode& n) {
        for (const tir::Stmt& c : n.stmts) inside(c);
      },
      [&](const tir::AsyncNode& n) { inside(n.body); }, [](const auto&) {});
  return out;
}

}  // namespace tw::simulate
