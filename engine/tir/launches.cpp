// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/launches.h"

#include <algorithm>
#include <unordered_map>

#include "engine/base/text.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// Every array that a statement reads (false) or writes (true).
std::unordered_map<const ir::BufferNode*, bool> touched_arrays(const Stmt& s) {
  std::unordered_map<const ir::BufferNode*, bool> out;
  walk_exprs(s, [&](const Expr& root) {
    ir::walk(root, [&](const Expr& e) {
      if (const auto* l = ir::as<ir::LoadNode>(e)) out.try_emplace(l->buffer.get(), false);
    });
  });
  walk(s, [&](const Stmt& x) {
    if (const auto* st = as<StoreNode>(x)) out[st->buffer.get()] = true;
  });
  return out;
}

Expected<Launch> launch_of(const Stmt& top, const Func& f, const std::vector<Buffer>& workspace) {
  Launch launch{.body = top};
  for (;;) {
    const auto* loop = as<ForNode>(launch.body);
    const auto* array = as<AllocNode>(launch.body);
    if (loop && (is_block(loop->for_kind) || is_thread(loop->for_kind))) {
      const auto extent = ir::as_int(loop->extent);
      if (!extent)
        return Error(ErrorCode::unsupported, "Expected a constant extent of the loop '" + loop->var->name + "' bound to " + thread_name(loop->for_kind));
      auto& counts = is_block(loop->for_kind) ? launch.grid : launch.block;
      counts[static_cast<size_t>(loop->for_kind) - static_cast<size_t>(is_block(loop->for_kind) ? ForKind::block_x : ForKind::thread_x)] = *extent;
      launch.coordinates.push_back({loop->for_kind, loop->var, loop->origin});
      const Stmt inner = loop->body;
      launch.body = inner;
    } else if (array && array->buffer->scope == ir::Scope::shared) {
      launch.shared.push_back(array->buffer);
      const Stmt inner = array->body;
      launch.body = inner;
    } else {
      break;
    }
  }
  std::optional<Error> error;
  walk(launch.body, [&](const Stmt& s) {
    const auto* loop = as<ForNode>(s);
    if (error || !loop || !(is_block(loop->for_kind) || is_thread(loop->for_kind))) return;
    error = Error(ErrorCode::unsupported,
                  fmt::format("Expected the loop '{}' bound to {} outside of other statements", loop->var->name, thread_name(loop->for_kind)),
                  "function " + f.name);
  });
  if (error) return *error;
  const auto touched = touched_arrays(launch.body);
  for (const std::vector<Buffer>* list : {&f.params, &workspace})
    for (const Buffer& b : *list)
      if (const auto it = touched.find(b.get()); it != touched.end()) {
        launch.params.push_back(b);
        launch.written.push_back(it->second);
      }
  return launch;
}

}  // namespace

int64_t Launch::shared_bytes() const {
  int64_t bytes = 0;
  for (const Buffer& b : shared) bytes = (bytes + 15) / 16 * 16 + b->bytes();
  return bytes;
}

Expected<LaunchList> split_launches(const Func& f) {
  LaunchList out;
  Stmt body = f.body;
  for (const auto* a = as<AllocNode>(body); a && a->buffer->scope != ir::Scope::shared && has_launches(f); a = as<AllocNode>(body)) {
    out.workspace.push_back(a->buffer);
    const Stmt inner = a->body;
    body = inner;
  }
  const auto* q = as<SeqNode>(body);
  for (const Stmt& s : q ? q->stmts : std::vector<Stmt>{body}) {
    if (is_nop(s)) continue;
    TW_TRY(Launch launch, launch_of(s, f, out.workspace));
    out.launches.push_back(std::move(launch));
  }
  return out;
}

}  // namespace tw::tir
