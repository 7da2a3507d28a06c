// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/cuda_kernel.h"

#include <optional>

#include "engine/base/text.h"
#include "engine/codegen/cuda/cuda_product.h"
#include "engine/codegen/cuda/cuda_reduce.h"
#include "engine/codegen/cuda/cuda_store.h"
#include "engine/codegen/cuda/unrolled_size.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

namespace {

using ir::Buffer;
using ir::Expr;
using tir::ForKind;
using tir::Stmt;

/// Statements: what surrounds stores, products and reductions.
class KernelPrinter {
 public:
  KernelPrinter(const tir::Launch& launch, std::set<std::string>& helpers, CudaSource& out) : launch_(launch), text_(launch, helpers, out) {}

  int64_t run(const CudaKernel& kernel) {
    for (const Buffer& b : launch_.params) text_.names.of(b.get());
    std::string params;
    for (size_t k = 0; k < launch_.params.size(); ++k) {
      const Buffer& b = launch_.params[k];
      params += fmt::format("{}{}{}* __restrict__ {}", params.empty() ? "" : ", ", launch_.written[k] ? "" : "const ", cuda_storage_type(b->dtype),
                            text_.names.of(b.get()));
    }
    text_.line(nullptr, {},
               fmt::format("// grid ({}, {}, {}), block ({}, {}, {})", kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0], kernel.block[1],
                           kernel.block[2]));
    text_.line(nullptr, {}, fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{", launch_.threads(), kernel.name, params));
    ++text_.level;
    for (const auto& c : launch_.coordinates)
      text_.line(nullptr, c.origin,
                 fmt::format("const {} {} = {};", cuda_type(ir::kIndex, text_.expr.wide_indices), text_.names.of(c.var.get()), tir::thread_name(c.kind)));
    shared_arrays(kernel);
    block(launch_.body);
    --text_.level;
    text_.line(nullptr, {}, "}");
    return scratch_bytes_;
  }

 private:
  void shared_arrays(const CudaKernel& kernel) {
    if (kernel.dynamic_shared_bytes > 0) text_.line(nullptr, {}, "extern __shared__ __align__(16) unsigned char shared_memory[];");
    int64_t at = 0;
    for (const Buffer& b : launch_.shared) {
      const std::string type = cuda_storage_type(b->dtype), name = text_.names.of(b.get());
      if (kernel.dynamic_shared_bytes > 0)
        text_.line(nullptr, {}, fmt::format("{0}* const {1} = ({0}*)(shared_memory + {2});", type, name, at));
      else
        text_.line(nullptr, {}, fmt::format("__shared__ __align__(16) {} {}[{}];", type, name, b->num_elements()));
      at = (at + b->bytes() + 15) / 16 * 16;
    }
  }

  /// The array that the first store below writes: what the statement is for.
  static const tir::StoreNode* first_store(const Stmt& s) {
    const tir::StoreNode* first = nullptr;
    tir::walk(s, [&](const Stmt& x) {
      if (!first) first = tir::as<tir::StoreNode>(x);
    });
    return first;
  }

  void block(const Stmt& s) {
    const auto* q = tir::as<tir::SeqNode>(s);
    if (!q) return statement(s);
    const std::optional<int> around = stage_;
    for (const Stmt& c : q->stmts) {
      if (tir::as<tir::ForNode>(c) || tir::as<tir::IfNode>(c)) comment(c);
      statement(c);
    }
    stage_ = around;
  }

  /// Says which stage the loops that follow compute, where it is another than that of what stands before.
  void comment(const Stmt& s) {
    if (text_.expr.unrolled.active()) return;
    const tir::StoreNode* store = first_store(s);
    if (!store || store->origin.stage < 0 || stage_ == store->origin.stage) return;
    stage_ = store->origin.stage;
    const char* who = store->buffer->scope == ir::Scope::shared ? ", by all threads of the block" : "";
    text_.line(nullptr, store->origin, fmt::format("// {}{}", store->buffer->name, who));
  }

  void statement(const Stmt& s) {
    tir::match(
        s, [&](const tir::ForNode& n) { loop(s, n); }, [&](const tir::StoreNode& n) { print_store(text_, s, n, in_group_); },
        [&](const tir::AllocNode& n) {
          declare(s, n);
          block(n.body);
        },
        [&](const tir::LetNode& n) {
          text_.line(s,
                     fmt::format("const {} {} = {};", cuda_type(n.var->dtype, text_.expr.wide_indices), text_.names.of(n.var.get()), text_.expr.text(n.value)));
          block(n.body);
        },
        [&](const tir::IfNode& n) { branch(s, n); }, [&](const tir::SeqNode&) { block(s); }, [&](const tir::SyncNode&) { text_.line(s, "__syncthreads();"); },
        [&](const tir::AllReduceNode& n) { scratch_bytes_ += print_all_reduce(text_, s, n); },
        [&](const tir::AsyncNode& n) {
          in_group_ = true;
          block(n.body);
          in_group_ = false;
          text_.line(s, text_.expr.helper("commit_copies") + "();");
        },
        [&](const tir::WaitNode& n) { text_.line(s, fmt::format("{}<{}>();", text_.expr.helper("wait_copies"), n.pending)); },
        [&](const tir::MmaNode& n) { print_product(text_, s, n); });
  }

  void declare(const Stmt& s, const tir::AllocNode& n) {
    text_.line(s, fmt::format("{} {}[{}];", cuda_type(n.buffer->dtype, true), text_.names.of(n.buffer.get()), n.buffer->num_elements()));
  }

  /// Whether a loop that asks to be unrolled is written out, as all of them are inside of one that is.
  bool in_text(const tir::ForNode& n) const { return (text_.expr.unrolled.active() || n.for_kind == ForKind::unrolled_explicit) && ir::as_int(n.min); }

  void loop(const Stmt& s, const tir::ForNode& n) {
    const bool unrolls = asks_to_unroll(n), fits = unrolls && (text_.expr.unrolled.active() || unrolled_size(s) <= kMaxUnrolled);
    if (fits && in_text(n)) {
      bool declares = false;
      tir::walk(n.body, [&](const Stmt& x) { declares = declares || tir::as<tir::LetNode>(x) || tir::as<tir::AllocNode>(x); });
      text_.expr.unrolled.begin(n.var.get(), *ir::as_int(n.min), *ir::as_int(n.extent), declares, text_.indent());
      text_.level += declares ? 1 : 0;
      block(n.body);
      text_.level -= declares ? 1 : 0;
      return text_.expr.unrolled.end(text_.out);
    }
    loop_head(s, n, unrolls, fits);
    block(n.body);
    text_.end(s);
  }

  void loop_head(const Stmt& s, const tir::ForNode& n, bool unrolls, bool fits) {
    const std::string name = text_.names.of(n.var.get()), end = text_.expr.text(ir::is_int(n.min, 0) ? n.extent : n.min + n.extent, 0, 8);
    // What is too much to unroll stays a loop, which the compiler would otherwise try for minutes.
    if (unrolls) text_.line(s, fits ? "#pragma unroll" : "#pragma unroll 1");
    text_.begin(
        s, fmt::format("for ({} {} = {}; {} < {}; ++{}) {{", cuda_type(ir::kIndex, text_.expr.wide_indices), name, text_.expr.text(n.min), name, end, name));
  }

  void branch(const Stmt& s, const tir::IfNode& n) {
    const auto* same = ir::as<ir::BroadcastNode>(n.cond);  // for all lanes
    if (!n.cond->dtype.is_scalar() && !same) return masked(s, n);
    text_.begin(s, "if (" + text_.expr.text(same ? same->value : n.cond) + ") {");
    block(n.then_body);
    if (n.else_body) {
      text_.middle(s, "} else {");
      block(*n.else_body);
    }
    text_.end(s);
  }

  /// A vector condition: lane by lane.
  void masked(const Stmt& s, const tir::IfNode& n) {
    for (int lane = 0; lane < n.cond->dtype.lanes; ++lane) lane_branch(s, n, lane);
  }
  void lane_branch(const Stmt& s, const tir::IfNode& n, int lane) {
    text_.begin(s, "if (" + text_.expr.text(n.cond, lane) + ") {");
    one_lane(n.then_body, lane);
    if (n.else_body) {
      text_.middle(s, "} else {");
      one_lane(*n.else_body, lane);
    }
    text_.end(s);
  }
  /// What stands under a mask, as its lane does it.
  void one_lane(const Stmt& s, int lane) {
    if (const auto* n = tir::as<tir::StoreNode>(s)) {
      text_.line(s, text_.expr.place(n->buffer, n->indices, lane) + " = " + text_.expr.stored(n->buffer, text_.expr.text(n->value, lane)) + ";");
    } else if (const auto* q = tir::as<tir::SeqNode>(s)) {
      for (const Stmt& c : q->stmts) one_lane(c, lane);
    } else if (const auto* f = tir::as<tir::ForNode>(s)) {
      loop_head(s, *f, asks_to_unroll(*f), unrolled_size(s) <= kMaxUnrolled);
      one_lane(f->body, lane);
      text_.end(s);
    } else if (const auto* i = tir::as<tir::IfNode>(s)) {
      lane_branch(s, *i, lane);
    } else if (const auto* l = tir::as<tir::LetNode>(s)) {
      text_.line(s, fmt::format("const {} {} = {};", cuda_type(l->var->dtype.element(), text_.expr.wide_indices), text_.names.of(l->var.get()),
                                text_.expr.text(l->value, lane)));
      one_lane(l->body, lane);
    } else if (const auto* a = tir::as<tir::AllocNode>(s)) {
      declare(s, *a);
      one_lane(a->body, lane);
    } else {
      TW_UNREACHABLE("a statement under a vector condition");
    }
  }

  const tir::Launch& launch_;
  KernelText text_;
  int64_t scratch_bytes_ = 0;
  std::optional<int> stage_;  ///< that the last comment named
  bool in_group_ = false;     ///< of copies beside other work
};

}  // namespace

int64_t print_kernel(const tir::Launch& launch, const CudaKernel& kernel, std::set<std::string>& helpers, CudaSource& out) {
  return KernelPrinter(launch, helpers, out).run(kernel);
}

}  // namespace tw::codegen
