// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/verify.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/arith/analyzer.h"
#include "engine/base/text.h"
#include "engine/ir/type_rules.h"
#include "engine/target/gpu.h"
#include "engine/tir/print.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

struct Range {
  int64_t min, extent;
};

/// Walks a function with what is in scope.
class Verifier {
 public:
  explicit Verifier(VerifyLevel level) : level_(level) {}

  std::optional<Error> run(const Func& f) {
    if (f.num_outputs < 0 || static_cast<size_t>(f.num_outputs) > f.params.size())
      return Error(ErrorCode::internal, fmt::format("Expected 0 to {} outputs, found {}", f.params.size(), f.num_outputs),
                   "function '" + printable(f.name) + "'");
    const size_t inputs = f.params.size() - static_cast<size_t>(f.num_outputs);
    for (size_t i = 0; i < f.params.size(); ++i) {
      const auto problem = bind(f.params[i], i >= inputs);
      if (problem) return Error(ErrorCode::internal, *problem, "function '" + printable(f.name) + "'");
    }
    statement(f.body);
    return std::move(error_);
  }

 private:
  void fail(std::string message) {
    if (error_) return;
    std::string text = current_ ? print(*current_) : std::string();
    text = text.substr(0, std::min(text.find('\n'), size_t{200}));
    error_ = Error(ErrorCode::internal, std::move(message), "statement '" + text + "'");
  }

  std::optional<std::string> bind(const Buffer& b, bool writable) {
    if (!seen_.insert(b.get()).second) return "Expected every array to be bound once, found '" + b->name + "' again";
    for (const int64_t d : b->shape)
      if (d < 1) return fmt::format("Expected extents of at least 1 in '{}', found shape {}", b->name, shape_text(b->shape));
    if (!b->dtype.is_scalar()) return fmt::format("Expected a scalar element type in '{}', found {}", b->name, b->dtype.name());
    buffers_[b.get()] = writable;
    return std::nullopt;
  }

  void bind(const Var& v) {
    if (!seen_.insert(v.get()).second) fail("Expected every variable to be bound once, found '" + v->name + "' again");
    vars_.insert(v.get());
  }

  void statement(const Stmt& s) {
    if (error_) return;
    const std::optional<Stmt> outer = std::exchange(current_, s);
    const bool outer_open = open_;
    const auto* allocated = as<AllocNode>(s);
    open_ = open_ && (as<ForNode>(s) || (allocated && allocated->buffer->scope == ir::Scope::shared));
    match(
        s, [&](const ForNode& n) { loop(n); }, [&](const StoreNode& n) { store(n); },
        [&](const AllocNode& n) {
          if (n.buffer->scope == ir::Scope::param) fail("Expected an allocation in scope local, global or shared, found param");
          if (const auto problem = bind(n.buffer, true)) fail(*problem);
          launch_array(*n.buffer);
          statement(n.body);
          buffers_.erase(n.buffer.get());
        },
        [&](const LetNode& n) {
          expression(n.value);
          if (n.value->dtype != n.var->dtype) fail(fmt::format("Expected a value of type {}, found {}", n.var->dtype.name(), n.value->dtype.name()));
          bind(n.var);
          statement(n.body);
          vars_.erase(n.var.get());
        },
        [&](const IfNode& n) {
          expression(n.cond);
          if (n.cond->dtype.element() != kBool) fail("Expected a bool as condition, found " + n.cond->dtype.name());
          const int outer_mask = mask_;
          if (!n.cond->dtype.is_scalar()) {
            if (mask_ > 1 && mask_ != n.cond->dtype.lanes)
              fail(fmt::format("Expected a mask of {} lanes like the one around, found {}", mask_, n.cond->dtype.lanes));
            mask_ = n.cond->dtype.lanes;
          }
          ++conditional_;
          statement(n.then_body);
          if (n.else_body) statement(*n.else_body);
          --conditional_;
          mask_ = outer_mask;
        },
        [&](const SeqNode& n) {
          for (const Stmt& c : n.stmts) statement(c);
        },
        [&](const SyncNode&) {
          if (!in_launch()) fail("Expected a barrier inside a loop bound to blocks or threads, found none around");
          if (mask_ > 1) fail("Expected no barrier under a vector condition");
          if (async_) fail("Expected no barrier inside a group of copies");
        },
        [&](const AllReduceNode& n) { reduction(n); }, [&](const AsyncNode& n) { copies(n); },
        [&](const WaitNode& n) {
          if (!in_launch()) fail("Expected a wait for copies inside a loop bound to blocks or threads, found none around");
          if (async_) fail("Expected no wait inside a group of copies");
          if (mask_ > 1) fail("Expected no wait under a vector condition");
          if (n.pending < 0) fail(fmt::format("Expected 0 or more groups that may be pending, found {}", n.pending));
        },
        [&](const MmaNode& n) { product(n); });
    current_ = outer;
    open_ = outer_open;
  }

  bool in_launch() const {
    return std::any_of(bound_.begin(), bound_.end(), [](ForKind k) { return k != ForKind::vthread; });
  }
  bool in_threads() const { return std::any_of(bound_.begin(), bound_.end(), is_thread); }

  void launch_array(const ir::BufferNode& b) {
    if (!in_launch()) return;
    if (b.scope == ir::Scope::global) fail("Expected a local or shared array inside loops bound to blocks and threads, found '" + b.name + "' in scope global");
    if (b.scope == ir::Scope::shared && (!open_ || in_threads()))
      fail("Expected the shared array '" + b.name + "' directly inside the loops bound to blocks, outside of those bound to threads");
    shared_ = shared_ || b.scope == ir::Scope::shared;
  }

  void reduction(const AllReduceNode& n) {
    const Expr element = ir::load(n.buffer, n.indices);
    expression(element);
    if (mask_ > 1) fail("Expected no reduction by threads under a vector condition");
    if (!in_launch()) fail("Expected a reduction by threads inside a loop bound to blocks or threads, found none around");
    if (!reduction_name(n.combine)) fail(fmt::format("Expected add, mul, min or max to combine threads, found '{}'", ir::binary_op_name(n.combine)));
    if (!is_thread(n.thread)) fail(fmt::format("Expected a coordinate of threads to combine over, found '{}'", thread_name(n.thread)));
    if (n.buffer->scope != ir::Scope::local) fail("Expected a local array to combine over threads, found '" + n.buffer->name + "'");
    if (!element->dtype.is_scalar()) fail("Expected one element to combine over threads, found a vector of " + n.buffer->name);
    if (async_) fail("Expected no reduction by threads inside a group of copies");
  }

  void copies(const AsyncNode& n) {
    if (!in_launch()) fail("Expected copies beside other work inside a loop bound to blocks or threads, found none around");
    if (async_ || mask_ > 1) fail("Expected a group of copies outside of others and of vector conditions");
    async_ = true;
    statement(n.body);
    async_ = false;
  }

  void product(const MmaNode& n) {
    if (mask_ > 1 || async_) fail("Expected no product by a warp under a vector condition or inside a group of copies");
    if (std::find(bound_.begin(), bound_.end(), ForKind::thread_x) == bound_.end()) fail("Expected a product by a warp inside a loop bound to threadIdx.x");
    for (const Expr& e : {n.sums, n.a.first, n.b.first}) {
      expression(e);
      if (!error_ && (!ir::as<ir::LoadNode>(e) || !e->dtype.is_scalar())) fail("Expected elements that a product by a warp starts at");
    }
    if (error_) return;
    const Buffer &sums = ir::as<ir::LoadNode>(n.sums)->buffer, &a = ir::as<ir::LoadNode>(n.a.first)->buffer, &b = ir::as<ir::LoadNode>(n.b.first)->buffer;
    const int depth = target::mma_depth(a->dtype, b->dtype);
    if (depth == 0 || sums->dtype != target::mma_sum(a->dtype))
      return fail(
          fmt::format("Expected operands of one type of 16 bits or of float32 with sums in float32, or of 8 bits with sums in int32, of a product by a warp, "
                      "found {}, {} and {}",
                      a->dtype.name(), b->dtype.name(), sums->dtype.name()));
    if (n.rows < 1 || n.columns < 1 || n.depth < 1 || n.rows % kMmaRows != 0 || n.columns % kMmaColumns != 0 || n.depth % depth != 0)
      return fail(fmt::format("Expected a product by a warp of multiples of {} x {} x {}, found {} x {} x {}", kMmaRows, kMmaColumns, depth, n.rows, n.columns,
                              n.depth));
    if (sums->scope != ir::Scope::local || sums->num_elements() * 32 < int64_t{n.rows} * n.columns)
      fail(fmt::format("Expected a local array with 1 / 32 of {} x {} sums, found '{}'", n.rows, n.columns, sums->name));
    for (const Buffer& tile : {a, b})
      if (tile->scope != ir::Scope::shared) fail("Expected shared arrays for a product by a warp, found '" + tile->name + "'");
    const int64_t line = kMmaLine / a->dtype.bytes();
    for (const MmaOperand* o : {&n.a, &n.b})
      if (o->stride < 1 || o->stride % line != 0) fail(fmt::format("Expected lines of a tile {} elements apart or a multiple, found {}", line, o->stride));
  }

  void loop(const ForNode& n) {
    expression(n.min);
    expression(n.extent);
    if (n.var->dtype != ir::kIndex || n.min->dtype != ir::kIndex || n.extent->dtype != ir::kIndex)
      fail(fmt::format("Expected an int64 loop, found variable, minimum and extent of {}, {} and {}", n.var->dtype.name(), n.min->dtype.name(),
                       n.extent->dtype.name()));
    bind(n.var);
    const auto min = ir::as_int(n.min), extent = ir::as_int(n.extent);
    if (is_bound(n.for_kind)) {
      if (!min || *min != 0 || !extent || *extent < 1)
        fail(fmt::format("Expected a constant extent and the minimum 0 of a loop bound to {}", thread_name(n.for_kind)));
      const bool block_in_thread = n.for_kind <= ForKind::block_z && std::any_of(bound_.begin(), bound_.end(), [](ForKind k) { return k > ForKind::block_z; });
      if (block_in_thread) fail(fmt::format("Expected loops bound to blocks outside of those bound to threads, found {} inside", thread_name(n.for_kind)));
      if (n.for_kind != ForKind::vthread && std::find(bound_.begin(), bound_.end(), n.for_kind) != bound_.end())
        fail(fmt::format("Expected {} to be bound once, found another loop bound to it inside", thread_name(n.for_kind)));
      if (n.for_kind == ForKind::vthread)
        open_ = false;
      else
        launch_loop(n.for_kind);
      bound_.push_back(n.for_kind);
    } else {
      open_ = false;
    }
    const bool certain = min && extent && *extent >= 1;
    if (certain) ranges_[n.var.get()] = {*min, *extent};
    if (!certain) ++conditional_;
    statement(n.body);
    if (!certain) --conditional_;
    if (is_bound(n.for_kind)) bound_.pop_back();
    ranges_.erase(n.var.get());
    vars_.erase(n.var.get());
  }

  void launch_loop(ForKind k) {
    if (!in_launch()) {
      open_ = true;
      shared_ = false;
    }
    if (!open_) fail(fmt::format("Expected loops bound to blocks and threads directly inside each other, found {} inside another statement", thread_name(k)));
    if (shared_ && is_block(k)) fail(fmt::format("Expected shared arrays inside all loops bound to blocks, found {} inside one", thread_name(k)));
  }

  void store(const StoreNode& n) {
    const Expr target = ir::load(n.buffer, n.indices);
    expression(target);
    expression(n.value);
    if (n.value->dtype != target->dtype) fail(fmt::format("Expected a value of type {}, found {}", target->dtype.name(), n.value->dtype.name()));
    if (mask_ > 1 && n.value->dtype.lanes != mask_) fail(fmt::format("Expected a vector of {} lanes under a mask, found {}", mask_, n.value->dtype.lanes));
    const auto it = buffers_.find(n.buffer.get());
    if (it != buffers_.end() && !it->second) fail("Expected a store to a local array or an output, found one to input '" + n.buffer->name + "'");
  }

  void expression(const Expr& e) {
    if (error_) return;
    if (auto types = ir::check_types(e); !types) return fail(types.error().text());
    scopes(e, conditional_ > 0);
  }

  /// Variables and arrays in sight; indices in bounds as far as that can be decided. `maybe`: evaluated under a condition only.
  void scopes(const Expr& e, bool maybe) {
    if (const auto* v = ir::as<ir::VarNode>(e); v && !vars_.contains(v)) return fail("Expected variable '" + v->name + "' to be bound here");
    if (const auto* s = ir::as<ir::SelectNode>(e)) {
      scopes(s->cond, maybe);
      scopes(s->if_true, true);
      return scopes(s->if_false, true);
    }
    if (const auto* l = ir::as<ir::LoadNode>(e)) {
      if (!buffers_.contains(l->buffer.get())) return fail("Expected array '" + l->buffer->name + "' to be in scope");
      if (level_ == VerifyLevel::full && !maybe) bounds(*l);
    }
    ir::for_each_child(e, [&](const Expr& c) {
      if (!error_) scopes(c, maybe);
    });
  }

  /// Violations that must happen: every loop around runs over constant bounds, the index is a linear function of their variables,
  /// so that its extremes are reached.
  void bounds(const ir::LoadNode& l) {
    const bool flat = l.indices.size() == 1;
    for (size_t d = 0; d < l.indices.size(); ++d) {
      const int64_t extent = flat ? l.buffer->num_elements() : l.buffer->shape[d];
      const auto* ramp = ir::as<ir::RampNode>(l.indices[d]);
      std::optional<Range> r = reach(ramp ? ramp->base : l.indices[d]);
      const auto stride = ramp ? ir::as_int(ramp->stride) : std::optional<int64_t>(0);
      if (!r || !stride) continue;
      const int64_t step = ramp ? *stride * (ramp->dtype.lanes - 1) : 0;
      const int64_t lo = r->min + std::min<int64_t>(step, 0), hi = r->min + r->extent - 1 + std::max<int64_t>(step, 0);
      if (lo < 0 || hi >= extent)
        return fail(fmt::format("Expected indices in [0, {}) in dimension {} of '{}', found {} to {}", extent, d, l.buffer->name, lo, hi));
    }
  }

  std::optional<Range> reach(const Expr& e) const {
    if (!e->dtype.is_scalar()) return std::nullopt;
    const arith::Linear linear = arith::Analyzer().linear(e);
    int64_t lo = linear.constant, hi = linear.constant;
    for (const auto& term : linear.terms) {
      const auto* v = ir::as<ir::VarNode>(term.atom);
      const auto it = v ? ranges_.find(v) : ranges_.end();
      if (it == ranges_.end()) return std::nullopt;
      const int64_t a = term.coeff * it->second.min, b = term.coeff * (it->second.min + it->second.extent - 1);
      lo += std::min(a, b);
      hi += std::max(a, b);
    }
    return Range{lo, hi - lo + 1};
  }

  const VerifyLevel level_;
  std::unordered_set<const void*> seen_;
  std::unordered_set<const ir::VarNode*> vars_;
  std::unordered_map<const ir::VarNode*, Range> ranges_;
  std::unordered_map<const ir::BufferNode*, bool> buffers_;  ///< in scope; true where stores are allowed
  std::optional<Stmt> current_;
  std::optional<Error> error_;
  std::vector<ForKind> bound_;  ///< of the loops around, outermost first
  bool open_ = false;           ///< only bound loops and shared arrays so far since the launch began
  bool shared_ = false;         ///< a shared array among them
  int conditional_ = 0;
  int mask_ = 1;        ///< lanes of the vector condition around
  bool async_ = false;  ///< inside a group of copies
};

}  // namespace

Expected<void> verify(const Func& f, VerifyLevel level) {
  if (level == VerifyLevel::off) return {};
  if (auto error = Verifier(level).run(f)) return std::move(*error);
  return {};
}

}  // namespace tw::tir
