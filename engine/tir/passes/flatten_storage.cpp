// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/flatten_storage.h"

#include "engine/arith/analyzer.h"
#include "engine/ir/visit.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

class Flattener {
 public:
  Stmt stmt(const Stmt& s) {
    if (const auto* n = as<ForNode>(s)) {
      const arith::Bounds first = analyzer_.bounds(n->min), last = analyzer_.bounds(n->min + n->extent - ir::index(1));
      analyzer_.bind(n->var.get(), {first.lo, last.hi});
    } else if (const auto* l = as<LetNode>(s); l && l->value->dtype == ir::kIndex) {
      analyzer_.bind(l->var.get(), analyzer_.bounds(l->value));
    }
    const Stmt x = map_children(
        s, [&](const Stmt& c) { return stmt(c); }, [&](const Expr& e) { return expr(e); });
    if (const auto* r = as<AllReduceNode>(x); r && r->indices.size() != 1)
      return all_reduce(r->buffer, flat_index(r->buffer, r->indices), r->combine, r->thread, r->origin);
    const auto* st = as<StoreNode>(x);
    return st && st->indices.size() != 1 ? store(st->buffer, flat_index(st->buffer, st->indices), st->value, st->origin) : x;
  }

 private:
  Expr expr(const Expr& e) const {
    const Expr x = ir::map_children(e, [&](const Expr& c) { return expr(c); });
    const auto* l = ir::as<ir::LoadNode>(x);
    return l && l->indices.size() != 1 ? ir::load(l->buffer, flat_index(l->buffer, l->indices)) : x;
  }
  std::vector<Expr> flat_index(const Buffer& b, const std::vector<Expr>& indices) const {
    Expr flat = ir::index(0);
    bool divided = false;
    for (size_t d = 0; d < indices.size(); ++d) {
      flat = flat * b->shape[d] + indices[d];
      ir::walk(indices[d], [&](const Expr& e) {
        const auto* n = ir::as<ir::BinaryNode>(e);
        divided = divided || (n && n->op == ir::BinaryOp::floor_mod);
      });
    }
    // Where loops were joined, each index is a quotient or remainder of theirs; in the one index these often cancel.
    return {divided ? analyzer_.simplify(flat) : flat};
  }

  arith::Analyzer analyzer_;
};

}  // namespace

Func flatten_storage(const Func& f, const Target&) {
  Func out = f;
  out.body = Flattener().stmt(f.body);
  return out;
}

}  // namespace tw::tir
