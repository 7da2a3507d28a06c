// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/loop_touches.h"

#include <algorithm>
#include <cmath>

#include "engine/arith/analyzer.h"
#include "engine/ir/visit.h"
#include "engine/tir/footprints.h"
#include "engine/tir/passes/flatten_storage.h"
#include "engine/tir/visit.h"

namespace tw::cost {
namespace {

class Collector {
 public:
  explicit Collector(const tir::Stmt& body) : places_(tir::loops_of(body)) { visit(body); }
  Touches found;

 private:
  void visit(const tir::Stmt& s) {
    tir::match(
        s, [&](const tir::ForNode& n) { loop(n); },
        [&](const tir::StoreNode& n) {
          store([&] {
            access(n.buffer, n.indices, true);
            expression(n.value);
          });
        },
        [&](const tir::AllocNode& n) { visit(n.body); },
        [&](const tir::LetNode& n) {
          expression(n.value);
          visit(n.body);
        },
        [&](const tir::IfNode& n) {
          visit(n.then_body);
          if (n.else_body) visit(*n.else_body);
        },
        [&](const tir::SeqNode& n) {
          for (const tir::Stmt& child : n.stmts) visit(child);
        },
        [](const tir::SyncNode&) {},
        [&](const tir::AllReduceNode& n) {
          store([&] {
            access(n.buffer, n.indices, true);
            ++operations().adds;
          });
        },
        [&](const tir::AsyncNode& n) { visit(n.body); }, [](const tir::WaitNode&) {},
        [&](const tir::MmaNode& n) {
          store([&] {
            for (const ir::Expr& e : {n.sums, n.a.first, n.b.first}) expression(e);
            const double products = static_cast<double>(n.rows) * n.columns * n.depth;
            operations().adds += products;
            operations().muls += products;
          });
        });
  }

  template <class Body>
  void store(Body body) {
    found.stores.emplace_back();
    store_ = static_cast<int>(found.stores.size()) - 1;
    body();
    store_ = -1;
  }
  StoreOps& operations() { return found.stores[static_cast<size_t>(store_)]; }

  void loop(const tir::ForNode& n) {
    std::vector<LoopTouches>& loops = found.loops;
    const size_t self = loops.size();
    const tir::LoopPlace& place = places_[self];
    TW_ASSERT(place.loop == &n, "loops are listed in one order");
    LoopTouches l;
    l.kind = n.for_kind;
    l.level = place.level;
    l.extent = static_cast<double>(place.extent);
    l.topdown = place.iterations;
    loops.push_back(std::move(l));
    nest_.push_back(self);
    vars_.push_back(n.var.get());
    visit(n.body);
    leave(self);
    nest_.pop_back();
    vars_.pop_back();
  }

  /// The steps of this loop multiply what the accesses below it touch, seen from every loop around them.
  void leave(size_t self) {
    std::vector<LoopTouches>& loops = found.loops;
    const double extent = std::max(loops[self].extent, 1.0);
    for (const auto& [key, touch] : loops[self].touches) {
      const bool moves = touch.stride != 0;
      for (const size_t outer : nest_) {
        Touch& seen = loops[outer].touches.at(key);
        (moves ? seen.count : seen.reuse) *= extent;
      }
    }
    for (const auto& [key, touch] : loops[self].touches) loops[self].bottomup = std::max(loops[self].bottomup, touch.count * touch.reuse);
  }

  void access(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices, bool written = false) {
    const std::string key = buffer->name + "_" + std::to_string(numbers_[buffer->name]++);
    arith::Linear index;
    if (indices.size() == 1) index = analyzer_.linear(indices[0]);
    for (size_t d = 0; d < nest_.size(); ++d) {
      Touch touch;
      touch.array = buffer->name;
      touch.store = store_;
      touch.written = written;
      touch.bytes = static_cast<double>(buffer->dtype.bytes());
      touch.stride = stride(index, vars_[d]);
      found.loops[nest_[d]].touches.emplace(key, std::move(touch));
    }
  }

  static double stride(const arith::Linear& index, const ir::VarNode* var) {
    bool used = false;
    for (const auto& term : index.terms) {
      if (term.atom.get() == static_cast<const ir::ExprNode*>(var)) return static_cast<double>(term.coeff);
      used |= ir::uses_var(term.atom, var);
    }
    return used ? 1 : 0;
  }

  void expression(const ir::Expr& root) {
    ir::walk(root, [&](const ir::Expr& e) {
      if (const auto* load = ir::as<ir::LoadNode>(e)) access(load->buffer, load->indices);
      if (!e->dtype.is_float()) return;
      LoopTouches* inner = nest_.empty() ? nullptr : &found.loops[nest_.back()];
      StoreOps* own = store_ < 0 ? nullptr : &operations();
      const auto* op = ir::as<ir::BinaryNode>(e);
      if (op != nullptr && (op->op == ir::BinaryOp::add || op->op == ir::BinaryOp::sub)) {
        if (inner) ++inner->adds;
        if (own) ++own->adds;
      } else if (op != nullptr && op->op == ir::BinaryOp::mul) {
        if (inner) ++inner->muls;
        if (own) ++own->muls;
      } else if (op != nullptr && op->op == ir::BinaryOp::div) {
        if (inner) ++inner->divs;
        if (own) ++own->divs;
      } else if (own && (op != nullptr || ir::as<ir::CallNode>(e) || ir::as<ir::SelectNode>(e))) {
        ++own->others;
      }
    });
  }

  std::vector<tir::LoopPlace> places_;
  arith::Analyzer analyzer_;
  int store_ = -1;            ///< the statement that is looked at
  std::vector<size_t> nest_;  ///< positions in `found.loops`, outside first
  std::vector<const ir::VarNode*> vars_;
  std::map<std::string, int> numbers_;
};

}  // namespace

Touches touches(const tir::Func& lowered) {
  Collector collector(tir::flatten_storage(lowered, {}).body);
  return std::move(collector.found);
}

std::vector<LoopTouches> loop_touches(const tir::Func& lowered) { return touches(lowered).loops; }

int loop_kind_place(tir::ForKind kind) {
  switch (kind) {
    case tir::ForKind::block_x:
      return 0;
    case tir::ForKind::block_y:
      return 1;
    case tir::ForKind::block_z:
      return 2;
    case tir::ForKind::thread_x:
      return 3;
    case tir::ForKind::thread_y:
      return 4;
    case tir::ForKind::thread_z:
      return 5;
    case tir::ForKind::unrolled:
    case tir::ForKind::unrolled_explicit:
      return 6;
    case tir::ForKind::vectorized:
      return 7;
    case tir::ForKind::parallel:
      return 8;
    case tir::ForKind::serial:
      return 9;
    case tir::ForKind::vthread:
      return 10;
  }
  TW_UNREACHABLE("kind of loop");
}

float log_scaled(double x) { return static_cast<float>(x < 0 ? -std::log2(1 - x) : std::log2(1 + x)); }

}  // namespace tw::cost
