// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/vectorize_fills.h"

#include "engine/ir/visit.h"
#include "engine/tir/stretch.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// Vectors below which elements are set one by one.
constexpr int64_t kLeastVectors = 2;

bool is_constant(const Expr& e) { return ir::as<ir::IntImmNode>(e) || ir::as<ir::FloatImmNode>(e); }

/// What a nest of loops around one store of a constant sets, if those are neighbours.
struct Fill {
  const StoreNode* store;
  Expr first;  ///< place
  int64_t elements;
};
std::optional<Fill> fill_of(const Stmt& s) {
  std::vector<const ForNode*> loops;
  ir::VarMap begin;
  Stmt body = s;
  while (const auto* loop = as<ForNode>(body)) {
    if (loop->for_kind != ForKind::serial || !ir::as_int(loop->extent)) return std::nullopt;
    loops.push_back(loop);
    begin.emplace(loop->var.get(), loop->min);
    body = loop->body;
  }
  const auto* to = as<StoreNode>(body);
  if (loops.empty() || !to || to->indices.size() != 1 || to->value->dtype.lanes > 1 || !is_constant(to->value)) return std::nullopt;
  const int64_t elements = stretch(to->indices[0], loops);
  if (elements == 0) return std::nullopt;
  return Fill{to, ir::substitute(to->indices[0], begin), elements};
}

Stmt fills(const Stmt& s, const Target& target) {
  if (const auto* loop = as<ForNode>(s); loop && loop->for_kind == ForKind::vectorized) return s;
  const auto found = as<ForNode>(s) ? fill_of(s) : std::nullopt;
  if (!found)
    return map_children(
        s, [&](const Stmt& child) { return fills(child, target); }, [](const Expr& e) { return e; });
  const StoreNode& to = *found->store;
  const int64_t lanes = target.lanes(to.buffer->dtype);
  if (found->elements < kLeastVectors * lanes) return s;
  const auto* outer = as<ForNode>(s);
  const auto loop = [&](const char* suffix, int64_t extent, const std::function<Stmt(const Expr&)>& body) {
    const Var v = ir::make_var(outer->var->name + suffix);
    return make_for(v, ir::index(0), ir::index(extent), ForKind::serial, body(ir::to_expr(v)), outer->origin);
  };
  const int64_t vectors = found->elements / lanes, rest = found->elements % lanes;
  std::vector<Stmt> out{loop("_vector", vectors, [&](const Expr& v) {
    return store(to.buffer, {ir::ramp(found->first + v * lanes, ir::index(1), static_cast<int>(lanes))}, ir::broadcast(to.value, static_cast<int>(lanes)),
                 to.origin);
  })};
  if (rest > 0) out.push_back(loop("_rest", rest, [&](const Expr& e) { return store(to.buffer, {found->first + vectors * lanes + e}, to.value, to.origin); }));
  return seq(std::move(out));
}

}  // namespace

Func vectorize_fills(const Func& f, const Target& target) {
  Func out = f;
  out.body = fills(f.body, target);
  return out;
}

}  // namespace tw::tir
