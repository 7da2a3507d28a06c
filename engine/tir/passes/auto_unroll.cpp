// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/auto_unroll.h"

#include <algorithm>

#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

constexpr int kUnrollDepth = 8;
/// More stores than any number allows; products below it cannot overflow.
constexpr int64_t kMany = int64_t{1} << 31;

/// What a statement is when its marked loops are written out.
struct WrittenOut {
  int64_t stores = 0;
  int depth = 0;       ///< of loops inside each other that are written out
  bool loops = false;  ///< others are left
};

class Marker {
 public:
  Stmt mark(const Stmt& s, WrittenOut& size) const {
    if (const auto* n = as<ForNode>(s)) return loop(s, *n, size);
    size.stores += as<StoreNode>(s) != nullptr || as<AllReduceNode>(s) != nullptr;
    size.loops = size.loops || as<MmaNode>(s) != nullptr;
    return map_children(
        s,
        [&](const Stmt& c) {
          WrittenOut inner;
          Stmt out = mark(c, inner);
          size.stores = std::min(kMany, size.stores + inner.stores);
          size.depth = std::max(size.depth, inner.depth);
          size.loops = size.loops || inner.loops;
          return out;
        },
        [](const Expr& e) { return e; });
  }

 private:
  Stmt loop(const Stmt& s, const ForNode& n, WrittenOut& size) const {
    const Stmt body = mark(n.body, size);
    ForKind kind = n.for_kind;
    if (kind != ForKind::vectorized) {
      const int64_t extent = std::min(ir::as_int(n.extent).value_or(kMany), kMany);
      const int64_t stores = std::min(kMany, size.stores * extent);
      const bool fits = n.auto_unroll >= 0 && !size.loops && size.depth <= kUnrollDepth && stores <= n.auto_unroll;
      if (kind == ForKind::serial && fits) kind = ForKind::unrolled_explicit;
      const bool written_out = is_unrolled(kind) || kind == ForKind::vthread;
      size.stores = written_out ? stores : size.stores;
      size.depth += is_unrolled(kind);
      size.loops = size.loops || !written_out;
    }
    const bool same = body.same_as(n.body) && kind == n.for_kind && n.auto_unroll < 0;
    return same ? s : make_for(n.var, n.min, n.extent, kind, body, n.origin);
  }
};

}  // namespace

Func auto_unroll(const Func& f, const Target&) {
  Func out = f;
  WrittenOut size;
  out.body = Marker().mark(f.body, size);
  return out;
}

}  // namespace tw::tir
