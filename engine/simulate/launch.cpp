// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/launch.h"

#include <fmt/format.h>

namespace tw::simulate {

using tir::ForKind;
using tir::Stmt;

namespace {

Expected<Launch> take_apart(const Stmt& root) {
  Launch out{.at = {}, .shared_bytes = 0, .program = root};
  for (;;) {
    if (const auto* a = tir::as<tir::AllocNode>(out.program); a && a->buffer->scope == ir::Scope::shared) {
      out.shared_bytes += (a->buffer->bytes() + 15) / 16 * 16;
      out.program = Stmt(a->body);
      continue;
    }
    const auto* loop = tir::as<tir::ForNode>(out.program);
    if (!loop || !tir::is_bound(loop->for_kind) || loop->for_kind == ForKind::vthread) return out;
    const auto extent = ir::as_int(loop->extent);
    if (!extent || !ir::is_int(loop->min, 0))
      return Error(ErrorCode::unsupported, fmt::format("Expected a constant extent from 0 on for {}, found another", tir::thread_name(loop->for_kind)));
    out.at[static_cast<int>(loop->for_kind) - static_cast<int>(ForKind::block_x)] = {loop->var.get(), *extent};
    out.program = Stmt(loop->body);
  }
}

Expected<void> find_launches(const Stmt& s, std::vector<Stmt>& out) {
  if (const auto* a = tir::as<tir::AllocNode>(s); a && a->buffer->scope != ir::Scope::shared) return find_launches(a->body, out);
  if (const auto* q = tir::as<tir::SeqNode>(s)) {
    for (const Stmt& c : q->stmts) TW_CHECK(find_launches(c, out));
    return {};
  }
  const auto* loop = tir::as<tir::ForNode>(s);
  if (!tir::as<tir::AllocNode>(s) && (!loop || !tir::is_bound(loop->for_kind) || loop->for_kind == ForKind::vthread))
    return Error(ErrorCode::unsupported, "Expected loops bound to blocks and threads around all work, found work outside of them");
  out.push_back(s);
  return {};
}

}  // namespace

Expected<std::vector<Launch>> launches_of(const tir::Func& f) {
  std::vector<Stmt> roots;
  TW_CHECK(find_launches(f.body, roots));
  std::vector<Launch> out;
  for (const Stmt& root : roots) {
    TW_TRY(Launch launch, take_apart(root));
    out.push_back(std::move(launch));
  }
  return out;
}

}  // namespace tw::simulate
