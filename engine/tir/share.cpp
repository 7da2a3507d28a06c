// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/share.h"

#include <utility>

#include "engine/ir/equal.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

class InPlaceCheck {
 public:
  InPlaceCheck(const ir::BufferNode* input, const ir::BufferNode* output) : input_(input), output_(output) {}

  /// Walks `s`, which runs `times` times; -1: not known.
  void run(const Stmt& s, int64_t times) {
    if (!ok_) return;
    match(
        s,
        [&](const ForNode& n) {
          read_nothing(n.min);
          read_nothing(n.extent);
          const auto extent = ir::as_int(n.extent);
          run(n.body, extent && times >= 0 ? times * *extent : -1);
        },
        [&](const StoreNode& n) { store(n, times); }, [&](const AllocNode& n) { run(n.body, times); },
        [&](const LetNode& n) {
          read_nothing(n.value);
          run(n.body, times);
        },
        [&](const IfNode& n) {
          read_nothing(n.cond);
          // One of two branches runs: known if both store as much.
          const int64_t before = stored_;
          run(n.then_body, n.else_body ? times : -1);
          const int64_t after = std::exchange(stored_, before);
          if (n.else_body) run(*n.else_body, times);
          ok_ = ok_ && stored_ == after;
        },
        [&](const SeqNode& n) {
          for (const Stmt& child : n.stmts) run(child, times);
        },
        [](const SyncNode&) {},
        [&](const AllReduceNode& n) {
          for (const Expr& i : n.indices) read_nothing(i);
        },
        [&](const AsyncNode& n) { run(n.body, times); }, [](const WaitNode&) {},
        [&](const MmaNode& n) {
          for (const Expr& e : {n.sums, n.a.first, n.b.first}) read_nothing(e);
        });
  }

  bool holds() const { return ok_ && stored_ == output_->num_elements(); }

 private:
  void read_nothing(const Expr& e) {
    ir::walk(e, [&](const Expr& x) {
      if (const auto* l = ir::as<ir::LoadNode>(x); l && (l->buffer.get() == input_ || l->buffer.get() == output_)) ok_ = false;
    });
  }

  void store(const StoreNode& n, int64_t times) {
    for (const Expr& i : n.indices) read_nothing(i);
    if (n.buffer.get() == input_) ok_ = false;
    if (n.buffer.get() != output_) return read_nothing(n.value);
    ok_ = ok_ && times >= 0;
    stored_ += times * n.value->dtype.lanes;
    ir::walk(n.value, [&](const Expr& x) {
      const auto* l = ir::as<ir::LoadNode>(x);
      if (!l || (l->buffer.get() != input_ && l->buffer.get() != output_)) return;
      ok_ = ok_ && l->buffer.get() == input_ && l->indices.size() == n.indices.size();
      for (size_t d = 0; ok_ && d < n.indices.size(); ++d) ok_ = ir::structural_equal(l->indices[d], n.indices[d]);
    });
  }

  const ir::BufferNode *input_, *output_;
  bool ok_ = true;
  int64_t stored_ = 0;
};

}  // namespace

bool may_share_storage(const Func& f, size_t input, size_t output) {
  const ir::BufferNode &in = *f.params[input], &out = *f.params[output];
  if (in.shape != out.shape || in.dtype.bytes() != out.dtype.bytes()) return false;
  InPlaceCheck check(&in, &out);
  check.run(f.body, 1);
  return check.holds();
}

}  // namespace tw::tir
