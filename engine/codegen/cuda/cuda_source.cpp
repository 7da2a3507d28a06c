// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/cuda_source.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/base/text.h"
#include "engine/codegen/cuda/cuda_expr.h"
#include "engine/codegen/cuda/cuda_vectors.h"
#include "engine/codegen/cuda/cuda_words.h"
#include "engine/codegen/cuda/warp_mma.h"
#include "engine/ir/lexer.h"
#include "engine/target/gpu.h"
#include "engine/tir/launches.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

namespace {

using ir::Buffer;
using ir::Expr;
using tir::ForKind;
using tir::Stmt;

/// Statements that an unrolled loop may become.
constexpr int64_t kMaxUnrolled = 2048;

/// Prints one kernel.
class KernelPrinter {
 public:
  KernelPrinter(const tir::Launch& launch, std::set<std::string>& helpers) : launch_(launch), expr_(names_, ranges_, helpers) {
    reserve_words(names_);
    for (const auto& c : launch.coordinates) ranges_[c.var.get()] = {0, extent(c.kind) - 1};
    collect_ranges(launch.body);
    expr_.wide_indices = !indices_fit();
  }

  void run(const CudaKernel& kernel, CudaSource& out) {
    out_ = &out;
    for (const Buffer& b : launch_.params) names_.of(b.get());
    std::string params;
    for (size_t k = 0; k < launch_.params.size(); ++k) {
      const Buffer& b = launch_.params[k];
      params += fmt::format("{}{}{}* __restrict__ {}", params.empty() ? "" : ", ", launch_.written[k] ? "" : "const ", cuda_storage_type(b->dtype),
                            names_.of(b.get()));
    }
    line(nullptr, {},
         fmt::format("// grid ({}, {}, {}), block ({}, {}, {})", kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0], kernel.block[1],
                     kernel.block[2]));
    line(nullptr, {}, fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{", launch_.threads(), kernel.name, params));
    ++level_;
    for (const auto& c : launch_.coordinates)
      line(nullptr, c.origin, fmt::format("const {} {} = {};", cuda_type(ir::kIndex, expr_.wide_indices), names_.of(c.var.get()), tir::thread_name(c.kind)));
    shared_arrays(kernel);
    block(launch_.body);
    --level_;
    line(nullptr, {}, "}");
  }

  /// Of what threads exchange when they reduce together, beside the arrays of the launch.
  int64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  int64_t extent(ForKind k) const {
    const auto i = static_cast<size_t>(k) - static_cast<size_t>(tir::is_block(k) ? ForKind::block_x : ForKind::thread_x);
    return tir::is_block(k) ? launch_.grid[i] : launch_.block[i];
  }

  void collect_ranges(const Stmt& s) {
    tir::walk(s, [&](const Stmt& x) {
      const auto* n = tir::as<tir::ForNode>(x);
      if (!n) return;
      const auto min = interval_of(n->min, ranges_), last = interval_of(n->min + n->extent - ir::index(1), ranges_);
      if (min && last) ranges_[n->var.get()] = {min->lo, std::max(min->lo, last->hi)};
    });
  }

  /// Whether every value that index arithmetic comes by fits int.
  bool indices_fit() const {
    bool fit = true;
    tir::walk_exprs(launch_.body, [&](const Expr& root) {
      const auto check = [&](const Expr& e) {
        if (e->dtype.element() != ir::kIndex) return;
        const auto range = interval_of(e, ranges_);
        fit = fit && range && range->lo >= INT32_MIN && range->hi <= INT32_MAX;
      };
      ir::walk(root, check);
      ir::walk(root, [&](const Expr& e) {
        if (const auto* l = ir::as<ir::LoadNode>(e)) fit = fit && l->buffer->num_elements() <= INT32_MAX;
      });
    });
    tir::walk(launch_.body, [&](const Stmt& s) {
      if (const auto* n = tir::as<tir::StoreNode>(s)) fit = fit && n->buffer->num_elements() <= INT32_MAX;
      if (const auto* n = tir::as<tir::LetNode>(s)) fit = fit && n->var->dtype.element() != ir::kIndex;
    });
    return fit;
  }

  void line(const tir::StmtNode* s, tir::Origin origin, std::string text) {
    text.insert(0, static_cast<size_t>(level_) * 2, ' ');
    if (expr_.unrolled.active())
      expr_.unrolled.line(std::move(text), s, origin);
    else
      out_->add_line(text, s, origin);
  }
  void line(const Stmt& s, std::string text) { line(s.get(), s->origin, std::move(text)); }

  void shared_arrays(const CudaKernel& kernel) {
    if (kernel.dynamic_shared_bytes > 0) line(nullptr, {}, "extern __shared__ __align__(16) unsigned char shared_memory[];");
    int64_t at = 0;
    for (const Buffer& b : launch_.shared) {
      const std::string type = cuda_storage_type(b->dtype), name = names_.of(b.get());
      if (kernel.dynamic_shared_bytes > 0)
        line(nullptr, {}, fmt::format("{0}* const {1} = ({0}*)(shared_memory + {2});", type, name, at));
      else
        line(nullptr, {}, fmt::format("__shared__ __align__(16) {} {}[{}];", type, name, b->num_elements()));
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
    if (expr_.unrolled.active()) return;
    const tir::StoreNode* store = first_store(s);
    if (!store || store->origin.stage < 0 || stage_ == store->origin.stage) return;
    stage_ = store->origin.stage;
    line(nullptr, store->origin, fmt::format("// {}{}", store->buffer->name, store->buffer->scope == ir::Scope::shared ? ", by all threads of the block" : ""));
  }

  void statement(const Stmt& s) {
    tir::match(
        s, [&](const tir::ForNode& n) { loop(s, n); }, [&](const tir::StoreNode& n) { store(s, n); },
        [&](const tir::AllocNode& n) {
          line(s, fmt::format("{} {}[{}];", cuda_type(n.buffer->dtype, true), names_.of(n.buffer.get()), n.buffer->num_elements()));
          block(n.body);
        },
        [&](const tir::LetNode& n) {
          line(s, fmt::format("const {} {} = {};", cuda_type(n.var->dtype, expr_.wide_indices), names_.of(n.var.get()), expr_.text(n.value)));
          block(n.body);
        },
        [&](const tir::IfNode& n) { branch(s, n); }, [&](const tir::SeqNode&) { block(s); }, [&](const tir::SyncNode&) { line(s, "__syncthreads();"); },
        [&](const tir::AllReduceNode& n) { all_reduce(s, n); },
        [&](const tir::AsyncNode& n) {
          in_group_ = true;
          block(n.body);
          in_group_ = false;
          line(s, expr_.helper("commit_copies") + "();");
        },
        [&](const tir::WaitNode& n) { line(s, fmt::format("{}<{}>();", expr_.helper("wait_copies"), n.pending)); },
        [&](const tir::MmaNode& n) { product(s, n); });
  }

  static const char* multiplication(DType a, DType b) {
    if (a == kFloat32) return "multiply_tf32";
    if (a.is_float()) return a.code == TypeCode::bfloat ? "multiply_bfloat" : "multiply_half";
    if (a.is_signed()) return b.is_signed() ? "multiply_s8_s8" : "multiply_s8_u8";
    return b.is_signed() ? "multiply_u8_s8" : "multiply_u8_u8";
  }

  /// Operands of a warp's tile go to registers, 16 lines by 32 bytes of terms at a time; each serves all lines of the other operand.
  void product(const Stmt& s, const tir::MmaNode& n) {
    const auto &sums = *ir::as<ir::LoadNode>(n.sums), &a = *ir::as<ir::LoadNode>(n.a.first), &b = *ir::as<ir::LoadNode>(n.b.first);
    const auto x = std::find_if(launch_.coordinates.begin(), launch_.coordinates.end(), [](const auto& c) { return c.kind == ForKind::thread_x; });
    TW_ASSERT(x != launch_.coordinates.end(), "a product by a warp without threads along x");
    const Expr lane = ir::to_expr(x->var);
    const int steps = n.depth / target::mma_depth(a.dtype, b.dtype), tall = n.rows / 16, wide = n.columns / 16;
    line(s, fmt::format("{{  // {} += {} x {} x {} by the warp", sums.buffer->name, n.rows, n.columns, n.depth));
    ++level_;
    const std::string fa = fresh("tiles"), fb = fresh("tiles"), i = fresh("i"), j = fresh("j"), k = fresh("k");
    const ir::Var tile = made_[made_.size() - 3], other = made_[made_.size() - 2], step = made_.back();
    if (steps > 1) {
      line(s, "#pragma unroll");
      line(s, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", k, steps));
      ++level_;
    }
    line(s, fmt::format("unsigned {}[{}][4], {}[{}][4];", fa, tall, fb, wide));
    const Expr at_step = steps > 1 ? ir::to_expr(step) : ir::index(0);
    const auto fetch = [&](const tir::MmaOperand& o, const ir::LoadNode& first, MmaSide side, const std::string& to, const ir::Var& v, const std::string& name,
                           int count) {
      const Expr begin = flat_index(first.buffer, first.indices);
      line(s, "#pragma unroll");
      line(s, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", name, count));
      if (is_fetched(o))
        line(s, fmt::format("  {}({}[{}], &{});", expr_.helper(is_transposed(o) ? "load_tiles_transposed" : "load_tiles"), to, name,
                            expr_.place(first.buffer, {begin + fetched_by(o, side, lane, ir::to_expr(v), at_step)}, 0)));
      const int together = static_cast<int>(mma_width(o) / 4);  // elements of a lane in a register
      for (int part = 0; part < 4 && !is_fetched(o); ++part) {
        std::vector<std::string> elements;
        for (int k = 0; k < together; ++k) elements.push_back(expr_.place(first.buffer, {begin + held_by(o, side, lane, ir::to_expr(v), at_step, part, k)}, 0));
        line(s, fmt::format("  {}[{}][{}] = {}({});", to, name, part, together == 1 ? "__float_as_uint" : expr_.helper("word_of"), fmt::join(elements, ", ")));
      }
      if (first.dtype == kFloat32) line(s, fmt::format("  {}({}[{}]);", expr_.helper("round_tiles"), to, name));
      line(s, "}");
    };
    fetch(n.a, a, MmaSide::a, fa, tile, i, tall);
    fetch(n.b, b, MmaSide::b, fb, other, j, wide);
    const std::string multiply = expr_.helper(multiplication(a.dtype, b.dtype));
    const auto sum = [&](int wide_half, int half) {
      const Expr at = sums_of(n.columns, ir::to_expr(tile), ir::to_expr(other) * 2 + wide_half, half);
      return expr_.place(sums.buffer, {flat_index(sums.buffer, sums.indices) + at}, 0);
    };
    line(s, "#pragma unroll");
    line(s, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", i, tall));
    line(s, "  #pragma unroll");
    line(s, fmt::format("  for (int {0} = 0; {0} < {1}; ++{0}) {{", j, wide));
    for (int h = 0; h < 2; ++h)
      line(s, fmt::format("    {}(&{}, &{}, {}[{}], {}[{}][{}], {}[{}][{}]);", multiply, sum(h, 0), sum(h, 1), fa, i, fb, j, 2 * h, fb, j, 2 * h + 1));
    line(s, "  }");
    line(s, "}");
    if (steps > 1) {
      --level_;
      line(s, "}");
    }
    --level_;
    line(s, "}");
  }

  /// Whether a local array is addressed by the loop's variable.
  static bool moves_registers(const tir::ForNode& n) {
    bool found = false;
    const auto look = [&](const Buffer& b, const std::vector<Expr>& indices) {
      found =
          found || (b->scope == ir::Scope::local && std::any_of(indices.begin(), indices.end(), [&](const Expr& i) { return ir::uses_var(i, n.var.get()); }));
    };
    tir::walk(n.body, [&](const Stmt& s) {
      if (const auto* st = tir::as<tir::StoreNode>(s)) look(st->buffer, st->indices);
    });
    tir::walk_exprs(n.body, [&](const Expr& root) {
      ir::walk(root, [&](const Expr& e) {
        if (const auto* l = ir::as<ir::LoadNode>(e)) look(l->buffer, l->indices);
      });
    });
    return found;
  }

  /// Statements that are left of the body of a loop when every loop in it is unrolled that asks for it.
  int64_t unrolled_size(const Stmt& s) const {
    int64_t size = 0;
    tir::match(
        s, [&](const tir::ForNode& n) { size = unrolled_size(n.body) * (asks_to_unroll(n) ? *ir::as_int(n.extent) : 1); },
        [&](const tir::StoreNode& n) { size = n.value->dtype.lanes; }, [&](const tir::AllocNode& n) { size = unrolled_size(n.body); },
        [&](const tir::LetNode& n) { size = 1 + unrolled_size(n.body); },
        [&](const tir::IfNode& n) { size = unrolled_size(n.then_body) + (n.else_body ? unrolled_size(*n.else_body) : 0); },
        [&](const tir::SeqNode& n) {
          for (const Stmt& c : n.stmts) size += unrolled_size(c);
        },
        [](const tir::SyncNode&) {}, [&](const tir::AllReduceNode&) { size = 1; }, [&](const tir::AsyncNode& n) { size = unrolled_size(n.body); },
        [](const tir::WaitNode&) {},
        [&](const tir::MmaNode& n) { size = int64_t{n.rows} * n.columns * n.depth / (16 * 8 * target::mma_depth(n.a.first->dtype, n.b.first->dtype)); });
    return std::min(size, 2 * kMaxUnrolled);
  }

  /// Because it is marked, or so that a local array's indices become constants and the array registers.
  static bool asks_to_unroll(const tir::ForNode& n) {
    if (!ir::as_int(n.extent)) return false;
    return tir::is_unrolled(n.for_kind) || n.for_kind == ForKind::vthread || moves_registers(n);
  }

  /// Whether a loop that asks to be unrolled is written out, as all of them are inside of one that is.
  bool in_text(const tir::ForNode& n) const { return (expr_.unrolled.active() || n.for_kind == ForKind::unrolled_explicit) && ir::as_int(n.min); }

  void loop(const Stmt& s, const tir::ForNode& n) {
    const bool unrolls = asks_to_unroll(n), fits = unrolls && (expr_.unrolled.active() || unrolled_size(s) <= kMaxUnrolled);
    if (fits && in_text(n)) {
      bool declares = false;
      tir::walk(n.body, [&](const Stmt& x) { declares = declares || tir::as<tir::LetNode>(x) || tir::as<tir::AllocNode>(x); });
      expr_.unrolled.begin(n.var.get(), *ir::as_int(n.min), *ir::as_int(n.extent), declares, std::string(static_cast<size_t>(level_) * 2, ' '));
      level_ += declares ? 1 : 0;
      block(n.body);
      level_ -= declares ? 1 : 0;
      return expr_.unrolled.end(*out_);
    }
    loop_head(s, n, unrolls, fits);
    nested(n.body);
    line(s, "}");
  }

  void loop_head(const Stmt& s, const tir::ForNode& n, bool unrolls, bool fits) {
    const std::string name = names_.of(n.var.get()), end = expr_.text(ir::is_int(n.min, 0) ? n.extent : n.min + n.extent, 0, 8);
    // What is too much to unroll stays a loop, which the compiler would otherwise try for minutes.
    if (unrolls) line(s, fits ? "#pragma unroll" : "#pragma unroll 1");
    line(s, fmt::format("for ({} {} = {}; {} < {}; ++{}) {{", cuda_type(ir::kIndex, expr_.wide_indices), name, expr_.text(n.min), name, end, name));
  }

  void nested(const Stmt& body) {
    ++level_;
    block(body);
    --level_;
  }

  void branch(const Stmt& s, const tir::IfNode& n) {
    const auto* same = ir::as<ir::BroadcastNode>(n.cond);  // for all lanes
    if (!n.cond->dtype.is_scalar() && !same) return masked(s, n.cond, n.then_body, n.else_body);
    line(s, "if (" + expr_.text(same ? same->value : n.cond) + ") {");
    nested(n.then_body);
    if (n.else_body) {
      line(s, "} else {");
      nested(*n.else_body);
    }
    line(s, "}");
  }

  /// A vector condition: lane by lane.
  void masked(const Stmt& s, const Expr& cond, const Stmt& then_body, const std::optional<Stmt>& else_body) {
    for (int lane = 0; lane < cond->dtype.lanes; ++lane) {
      line(s, "if (" + expr_.text(cond, lane) + ") {");
      ++level_;
      one_lane(then_body, lane);
      --level_;
      if (else_body) {
        line(s, "} else {");
        ++level_;
        one_lane(*else_body, lane);
        --level_;
      }
      line(s, "}");
    }
  }
  /// What stands under a mask, as its lane does it.
  void one_lane(const Stmt& s, int lane) {
    const auto inside = [&](const Stmt& body) {
      ++level_;
      one_lane(body, lane);
      --level_;
    };
    if (const auto* n = tir::as<tir::StoreNode>(s)) {
      line(s, expr_.place(n->buffer, n->indices, lane) + " = " + expr_.stored(n->buffer, expr_.text(n->value, lane)) + ";");
    } else if (const auto* q = tir::as<tir::SeqNode>(s)) {
      for (const Stmt& c : q->stmts) one_lane(c, lane);
    } else if (const auto* f = tir::as<tir::ForNode>(s)) {
      loop_head(s, *f, asks_to_unroll(*f), unrolled_size(s) <= kMaxUnrolled);
      inside(f->body);
      line(s, "}");
    } else if (const auto* i = tir::as<tir::IfNode>(s)) {
      line(s, "if (" + expr_.text(i->cond, lane) + ") {");
      inside(i->then_body);
      if (i->else_body) {
        line(s, "} else {");
        inside(*i->else_body);
      }
      line(s, "}");
    } else if (const auto* l = tir::as<tir::LetNode>(s)) {
      line(s, fmt::format("const {} {} = {};", cuda_type(l->var->dtype.element(), expr_.wide_indices), names_.of(l->var.get()), expr_.text(l->value, lane)));
      one_lane(l->body, lane);
    } else if (const auto* a = tir::as<tir::AllocNode>(s)) {
      line(s, fmt::format("{} {}[{}];", cuda_type(a->buffer->dtype, true), names_.of(a->buffer.get()), a->buffer->num_elements()));
      one_lane(a->body, lane);
    } else {
      TW_UNREACHABLE("a statement under a vector condition");
    }
  }

  /// A copy that neither computes nor converts: in a group beside other work where the hardware can do that, 16-bit floats as the bits that they are.
  bool copy(const Stmt& s, const tir::StoreNode& n) {
    Expr value = n.value;
    std::optional<Expr> inside;
    if (const auto* sel = ir::as<ir::SelectNode>(value); sel && is_uniform(sel->cond) && is_zero(sel->if_false)) {
      inside = sel->cond;
      value = sel->if_true;
    }
    const auto* from = ir::as<ir::LoadNode>(value);
    if (!from || from->buffer->dtype != n.buffer->dtype || n.buffer->scope == ir::Scope::local || from->buffer->scope == ir::Scope::local) return false;
    const int lanes = from->dtype.lanes, bytes = n.buffer->dtype.bytes();
    const int width = lanes == 1 ? 1 : std::min(run_length(n.buffer, n.indices, lanes), run_length(from->buffer, from->indices, lanes));
    const bool apart = in_group_ && n.buffer->scope == ir::Scope::shared && from->buffer->scope != ir::Scope::shared && width * bytes >= 4;
    if (!apart && (!n.buffer->dtype.is_float() || bytes != 2)) return false;
    if (!apart && (inside || (lanes > 1 && width < run_length(from->buffer, from->indices, lanes)))) {
      copy_bits(s, n, *from, inside);
      return true;
    }
    const char* const types[] = {"", "unsigned short", "unsigned", "uint2", "uint4"};
    const char* type = types[width * bytes == 2 ? 1 : width * bytes == 4 ? 2 : width * bytes == 8 ? 3 : 4];
    for (int lane = 0; lane < lanes; lane += width) {
      const std::string to = expr_.place(n.buffer, n.indices, lane), source = expr_.place(from->buffer, from->indices, lane);
      if (!apart)
        line(s, fmt::format("*({0}*)&{1} = *(const {0}*)&{2};", type, to, source));
      else if (inside)
        line(s, fmt::format("{}<{}>(&{}, &{}, {});", expr_.helper("copy_async_or_zero"), width * bytes, to, source, expr_.text(*inside)));
      else
        line(s, fmt::format("{}<{}>(&{}, &{});", expr_.helper("copy_async"), width * bytes, to, source));
    }
    return true;
  }
  /// The same condition for all lanes.
  static bool is_uniform(const Expr& cond) { return cond->dtype.is_scalar() || ir::as<ir::BroadcastNode>(cond); }

  /// 16-bit floats, or zero where `inside` does not hold, that are read and written in pieces of different lengths.
  void copy_bits(const Stmt& s, const tir::StoreNode& n, const ir::LoadNode& from, const std::optional<Expr>& inside) {
    const int lanes = from.dtype.lanes, read = lanes == 1 ? 1 : vector_length(from.buffer, from.indices, lanes);
    const int write = lanes == 1 ? 1 : vector_length(n.buffer, n.indices, lanes);
    line(s, "{");
    ++level_;
    std::string holds;
    if (inside) {
      const std::string cond = expr_.text(*inside);
      line(s, fmt::format("const bool {} = {};", holds = fresh("inside"), cond));
    }
    std::vector<std::string> bits;
    for (int lane = 0; lane < lanes; lane += read) {
      const std::string vector = read > 1 ? vector_name(from.buffer->dtype, read) : "unsigned short", name = fresh("bits");
      const std::string element = expr_.place(from.buffer, from.indices, lane), place = read > 1 ? fmt::format("*(const {}*)&{}", vector, element) : element;
      line(s, fmt::format("const {} {} = {};", vector, name, inside ? fmt::format("{} ? {} : {}", holds, place, read > 1 ? vector + "()" : "0") : place));
      for (int k = 0; k < read; ++k) bits.push_back(read > 1 ? fmt::format("{}.{}", name, "xyzw"[k]) : name);
    }
    for (int lane = 0; lane < lanes; lane += write) {
      const std::string to = expr_.place(n.buffer, n.indices, lane);
      const auto first = bits.begin() + lane;
      if (write == 1)
        line(s, fmt::format("{} = {};", to, *first));
      else
        line(s, fmt::format("*({0}*)&{1} = make_{0}({2});", vector_name(n.buffer->dtype, write), to, fmt::join(first, first + write, ", ")));
    }
    --level_;
    line(s, "}");
  }

  static bool is_zero(const Expr& e) {
    const auto* b = ir::as<ir::BroadcastNode>(e);
    const Expr x = b ? b->value : e;
    const auto* f = ir::as<ir::FloatImmNode>(x);
    return (f && f->value == 0 && !std::signbit(f->value)) || ir::is_int(x, 0);
  }

  /// The value of a store before it is rounded to the type of its array, which storing does.
  static const Expr& before_rounding(const tir::StoreNode& n) {
    const auto* c = ir::as<ir::CastNode>(n.value);
    const DType t = n.buffer->dtype;
    const bool rounds = c && n.buffer->scope != ir::Scope::local && t.is_float() && t.bits == 16 && c->value->dtype.element() == kFloat32;
    return rounds ? c->value : n.value;
  }

  void store(const Stmt& s, const tir::StoreNode& n) {
    const int lanes = n.value->dtype.lanes;
    if (copy(s, n)) return;
    const Expr& whole = before_rounding(n);
    if (lanes == 1) return line(s, expr_.place(n.buffer, n.indices, 0) + " = " + expr_.stored(n.buffer, expr_.text(whole)) + ";");
    // All lanes are computed before the first is written.
    line(s, "{");
    ++level_;
    fetch_vectors(s, whole);
    const std::string type = cuda_type(n.buffer->dtype, true), value = fresh("value");
    std::vector<std::string> values;
    for (int lane = 0; lane < lanes; ++lane) values.push_back(expr_.text(whole, lane));
    line(s, fmt::format("const {} {}[{}] = {{{}}};", type, value, lanes, fmt::join(values, ", ")));
    const int width = vector_length(n.buffer, n.indices, lanes);
    for (int lane = 0; lane < lanes; lane += width) {
      if (width == 1) {
        line(s, expr_.place(n.buffer, n.indices, lane) + " = " + expr_.stored(n.buffer, fmt::format("{}[{}]", value, lane)) + ";");
        continue;
      }
      std::string parts;
      for (int k = 0; k < width; ++k) parts += (k ? ", " : "") + expr_.stored(n.buffer, fmt::format("{}[{}]", value, lane + k));
      const char* vector = vector_name(n.buffer->dtype, width);
      line(s, fmt::format("*({}*)&{} = make_{}({});", vector, expr_.place(n.buffer, n.indices, lane), vector, parts));
    }
    expr_.forget_fetched();
    --level_;
    line(s, "}");
  }

  /// Loads of neighbours that are evaluated in every lane, as vectors; and of those that all lanes read or none, zero in their place.
  void fetch_vectors(const Stmt& s, const Expr& e) {
    if (const auto* l = ir::as<ir::LoadNode>(e)) return fetch_vector(s, e.get(), *l, {});
    const auto* sel = ir::as<ir::SelectNode>(e);
    if (!sel) return ir::for_each_child(e, [&](const Expr& c) { fetch_vectors(s, c); });
    fetch_vectors(s, sel->cond);
    // The branch that a lane does not take is not evaluated.
    const auto* inside = ir::as<ir::LoadNode>(sel->if_true);
    if (inside && is_zero(sel->if_false) && is_uniform(sel->cond)) fetch_vector(s, sel, *inside, sel->cond);
  }

  /// What `whole` is in all lanes: the load, or zero where there is a condition that does not hold.
  void fetch_vector(const Stmt& s, const ir::ExprNode* whole, const ir::LoadNode& l, const std::optional<Expr>& cond) {
    const int lanes = l.dtype.lanes, width = vector_length(l.buffer, l.indices, lanes);
    if (width == 1) return;
    std::string inside;
    if (cond) {
      const std::string holds = expr_.text(*cond);
      line(s, fmt::format("const bool {} = {};", inside = fresh("inside"), holds));
    }
    std::vector<std::string> parts;
    for (int lane = 0; lane < lanes; lane += width) {
      const std::string name = fresh("vector");
      const char* vector = vector_name(l.buffer->dtype, width);
      const std::string read = fmt::format("*(const {}*)&{}", vector, expr_.place(l.buffer, l.indices, lane));
      line(s, fmt::format("const {} {} = {};", vector, name, cond ? fmt::format("{} ? {} : {}()", inside, read, vector) : read));
      for (int k = 0; k < width; ++k) {
        const std::string element = fmt::format("{}.{}", name, "xyzw"[k]);
        const bool half = l.dtype.is_float() && l.dtype.bits == 16;
        parts.push_back(!half ? element : expr_.helper(l.dtype.code == TypeCode::bfloat ? "bfloat_to_float" : "half_to_float") + "(" + element + ")");
      }
    }
    expr_.fetched(whole, std::move(parts));
  }

  std::string fresh(const char* hint) {
    const ir::Var v = ir::make_var(hint);
    made_.push_back(v);
    return names_.of(v.get());
  }

  static std::string combined(ir::BinaryOp op, const std::string& a, const std::string& b) {
    switch (op) {
      case ir::BinaryOp::mul:
        return a + " * " + b;
      case ir::BinaryOp::min:
        return "min_of(" + a + ", " + b + ")";
      case ir::BinaryOp::max:
        return "max_of(" + a + ", " + b + ")";
      default:
        return a + " + " + b;
    }
  }

  /// Threads of one warp exchange values by shuffles, those of several through shared memory.
  void all_reduce(const Stmt& s, const tir::AllReduceNode& n) {
    const auto direction = static_cast<size_t>(n.thread) - static_cast<size_t>(ForKind::thread_x);
    const int64_t count = launch_.block[direction], threads = launch_.threads();
    if (count == 1) return;
    if (n.combine == ir::BinaryOp::min) expr_.helper("min_of");
    if (n.combine == ir::BinaryOp::max) expr_.helper("max_of");
    const auto combine = [&](const std::string& a, const std::string& b) { return combined(n.combine, a, b); };
    const std::string type = cuda_type(n.buffer->dtype, true), element = expr_.place(n.buffer, n.indices, 0);
    line(nullptr, n.origin, fmt::format("// {} over {}", tir::reduction_name(n.combine), tir::thread_name(n.thread)));
    const bool whole_warps = n.thread == ForKind::thread_x && threads % target::kWarp == 0;
    const bool in_warp = whole_warps && count <= target::kWarp && (count & (count - 1)) == 0;
    const auto shuffle = [&](const std::string& value, int64_t lanes) {
      line(s, "#pragma unroll");
      line(s, fmt::format("for (int d = {}; d > 0; d /= 2) {} = {};", lanes / 2, value,
                          combine(value, fmt::format("__shfl_xor_sync(0xffffffffu, {}, d)", value))));
    };
    if (in_warp) return shuffle(element, count);
    line(s, "{");
    ++level_;
    const std::string scratch = fresh("scratch"), thread = fresh("thread");
    const int64_t stride = direction == 0 ? 1 : direction == 1 ? launch_.block[0] : launch_.block[0] * launch_.block[1];
    line(s, fmt::format("const int {} = (threadIdx.z * {} + threadIdx.y) * {} + threadIdx.x;", thread, launch_.block[1], launch_.block[0]));
    scratch_bytes_ += n.buffer->dtype.bytes() * (whole_warps && count % target::kWarp == 0 ? threads / target::kWarp : threads);
    if (whole_warps && count % target::kWarp == 0) {
      const int64_t warps = count / target::kWarp;
      line(s, fmt::format("__shared__ {} {}[{}];", type, scratch, threads / target::kWarp));
      shuffle(element, target::kWarp);
      line(s, fmt::format("if ({0} % {1} == 0) {2}[{0} / {1}] = {3};", thread, target::kWarp, scratch, element));
      line(s, "__syncthreads();");
      line(s, fmt::format("{} = {}[{} / {} * {}];", element, scratch, thread, count, warps));
      line(s, fmt::format("for (int w = 1; w < {}; ++w) {} = {};", warps, element,
                          combine(element, fmt::format("{}[{} / {} * {} + w]", scratch, thread, count, warps))));
    } else {
      int64_t half = 1;
      while (2 * half < count) half *= 2;
      const std::string at = tir::thread_name(n.thread);
      line(s, fmt::format("__shared__ {} {}[{}];", type, scratch, threads));
      line(s, fmt::format("{}[{}] = {};", scratch, thread, element));
      line(s, "__syncthreads();");
      line(s, fmt::format("for (int d = {}; d > 0; d /= 2) {{", half));
      line(s, fmt::format("  if ({0} < d && {0} + d < {1}) {2}[{3}] = {4};", at, count, scratch, thread,
                          combine(fmt::format("{}[{}]", scratch, thread), fmt::format("{}[{} + d * {}]", scratch, thread, stride))));
      line(s, "  __syncthreads();");
      line(s, "}");
      line(s, fmt::format("{} = {}[{} - {} * {}];", element, scratch, thread, at, stride));
    }
    line(s, "__syncthreads();");
    --level_;
    line(s, "}");
  }

  const tir::Launch& launch_;
  ir::Names names_;
  Ranges ranges_;
  CudaExprPrinter expr_;
  CudaSource* out_ = nullptr;
  std::vector<ir::Var> made_;  ///< names of the text's own
  int64_t scratch_bytes_ = 0;
  std::optional<int> stage_;  ///< that the last comment named
  int level_ = 0;
  bool in_group_ = false;  ///< of copies beside other work
};

/// No kernel can be called as the program's entry is.
std::string kernel_name(const std::string& function) {
  const std::string name = ir::to_identifier(function);
  return name == "main" ? "main_kernel" : name;
}

}  // namespace

Expected<CudaSource> cuda_source(const tir::Func& f) {
  TW_TRY(tir::LaunchList list, tir::split_launches(f));
  CudaSource body, out;
  out.workspace = std::move(list.workspace);
  std::set<std::string> helpers;
  for (const tir::Launch& launch : list.launches) {
    CudaKernel k;
    k.name = kernel_name(f.name) + (list.launches.size() > 1 ? fmt::format("_{}", out.kernels.size()) : "");
    k.grid = launch.grid;
    k.block = launch.block;
    k.params = launch.params;
    const int64_t shared = launch.shared_bytes();
    (shared > target::kStaticShared ? k.dynamic_shared_bytes : k.static_shared_bytes) = shared;
    if (!out.kernels.empty()) body.add_line("", nullptr, {});
    KernelPrinter printer(launch, helpers);
    printer.run(k, body);
    k.static_shared_bytes += printer.scratch_bytes();
    out.kernels.push_back(std::move(k));
  }
  const std::string head = cuda_helpers(helpers);
  for (size_t at = 0; at < head.size(); at = head.find('\n', at) + 1) out.add_line(head.substr(at, head.find('\n', at) - at), nullptr, {});
  if (!head.empty()) out.add_line("", nullptr, {});
  out.text += body.text;
  out.line_stmt.insert(out.line_stmt.end(), body.line_stmt.begin(), body.line_stmt.end());
  out.line_origin.insert(out.line_origin.end(), body.line_origin.begin(), body.line_origin.end());
  return out;
}

void CudaSource::add_line(const std::string& line, const tir::StmtNode* stmt, tir::Origin origin) {
  text += line + "\n";
  line_stmt.push_back(stmt);
  line_origin.push_back(origin);
}

}  // namespace tw::codegen
