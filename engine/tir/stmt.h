// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/ir/expr.h"

/// Loop programs. Immutable statements over the expressions of ir/.
namespace tw::tir {

using ir::Buffer;
using ir::Expr;
using ir::Var;

/// X(node type, enumerator): the single list of statement kinds.
#define TW_STMT_KINDS(X)       \
  X(ForNode, for_)             \
  X(StoreNode, store)          \
  X(AllocNode, alloc)          \
  X(LetNode, let)              \
  X(IfNode, if_)               \
  X(SeqNode, seq)              \
  X(SyncNode, sync)            \
  X(AllReduceNode, all_reduce) \
  X(AsyncNode, async)          \
  X(WaitNode, wait)            \
  X(MmaNode, mma)

enum class StmtKind : uint8_t {
#define X(type, name) name,
  TW_STMT_KINDS(X)
#undef X
};

/// Where a loop, allocation, branch or store came from. -1 means not from there.
struct Origin {
  int stage = -1;  ///< stage index in the schedule
  int loop = -1;   ///< position among the stage's loops, for a loop and the branches that a pass made of it
  friend bool operator==(const Origin&, const Origin&) = default;
};

class StmtNode : public ir::Node {
 public:
  StmtKind kind() const { return static_cast<StmtKind>(tag()); }
  const Origin origin;

 protected:
  StmtNode(StmtKind k, Origin o) : Node(static_cast<uint8_t>(k)), origin(o) {}
};
using Stmt = ir::Ref<StmtNode>;
void destroy(const StmtNode* node);

/// From block_x on the loop is bound to a coordinate of a processor with blocks and threads: all its iterations run at once, each in a block or thread of
/// its own; those of vthread follow each other in one thread, interleaved.
enum class ForKind : uint8_t { serial, parallel, vectorized, unrolled, unrolled_explicit, block_x, block_y, block_z, thread_x, thread_y, thread_z, vthread };
const char* for_kind_name(ForKind k);
/// Written out: by a compiler that is asked to or, explicitly, in the text that it gets. The same without such a text.
inline bool is_unrolled(ForKind k) { return k == ForKind::unrolled || k == ForKind::unrolled_explicit; }
inline bool is_bound(ForKind k) { return k >= ForKind::block_x; }
inline bool is_block(ForKind k) { return k >= ForKind::block_x && k <= ForKind::block_z; }
inline bool is_thread(ForKind k) { return k >= ForKind::thread_x && k <= ForKind::thread_z; }
/// Iterations run at the same time or in any order.
inline bool is_concurrent(ForKind k) { return k == ForKind::parallel || (is_bound(k) && k != ForKind::vthread); }
/// The coordinate of a bound loop, such as "threadIdx.x".
const char* thread_name(ForKind k);
/// `add`, `mul`, `min` or `max`: how threads combine their values. Null for other operators.
const char* reduction_name(ir::BinaryOp op);

class ForNode final : public StmtNode {  ///< var runs over [min, min + extent)
 public:
  ForNode(Var v, Expr mn, Expr ext, ForKind k, Stmt b, Origin o, int64_t unroll)
      : StmtNode(StmtKind::for_, o), var(std::move(v)), min(std::move(mn)), extent(std::move(ext)), for_kind(k), body(std::move(b)), auto_unroll(unroll) {}
  const Var var;
  const Expr min, extent;
  const ForKind for_kind;
  const Stmt body;
  const int64_t auto_unroll;  ///< stores up to which the pass of that name writes the loop out; -1: nobody said, as everywhere after that pass
};
class StoreNode final : public StmtNode {  ///< buffer[indices] = value; a ramp index stores a vector
 public:
  StoreNode(Buffer b, std::vector<Expr> i, Expr v, Origin o) : StmtNode(StmtKind::store, o), buffer(std::move(b)), indices(std::move(i)), value(std::move(v)) {}
  const Buffer buffer;
  const std::vector<Expr> indices;
  const Expr value;
};
class AllocNode final : public StmtNode {  ///< buffer lives in body; contents start undefined
 public:
  AllocNode(Buffer b, Stmt s, Origin o) : StmtNode(StmtKind::alloc, o), buffer(std::move(b)), body(std::move(s)) {}
  const Buffer buffer;
  const Stmt body;
};
class LetNode final : public StmtNode {  ///< var = value in body
 public:
  LetNode(Var v, Expr x, Stmt s, Origin o) : StmtNode(StmtKind::let, o), var(std::move(v)), value(std::move(x)), body(std::move(s)) {}
  const Var var;
  const Expr value;
  const Stmt body;
};
class IfNode final : public StmtNode {  ///< with a vector condition, a mask: inside, only vector stores of as many lanes, and each lane goes its own way
 public:
  IfNode(Expr c, Stmt t, std::optional<Stmt> e, Origin o) : StmtNode(StmtKind::if_, o), cond(std::move(c)), then_body(std::move(t)), else_body(std::move(e)) {}
  const Expr cond;
  const Stmt then_body;
  const std::optional<Stmt> else_body;
};
class SeqNode final : public StmtNode {  ///< empty means nothing to do
 public:
  SeqNode(std::vector<Stmt> s, Origin o) : StmtNode(StmtKind::seq, o), stmts(std::move(s)) {}
  const std::vector<Stmt> stmts;
};

class SyncNode final
    : public StmtNode {  ///< every thread of the block waits for all others here; what they wrote to shared and global arrays can be read after
 public:
  explicit SyncNode(Origin o) : StmtNode(StmtKind::sync, o) {}
};
/// buffer[indices], a local element, becomes in every thread the combination of what the threads hold that differ from it in one coordinate only.
/// Like a barrier it must be reached by all threads of the block, but it orders no other memory.
class AllReduceNode final : public StmtNode {
 public:
  AllReduceNode(Buffer b, std::vector<Expr> i, ir::BinaryOp c, ForKind t, Origin o)
      : StmtNode(StmtKind::all_reduce, o), buffer(std::move(b)), indices(std::move(i)), combine(c), thread(t) {}
  const Buffer buffer;
  const std::vector<Expr> indices;
  const ir::BinaryOp combine;  ///< add, mul, min or max
  const ForKind thread;        ///< the coordinate: one of thread_x to thread_z
};

/// A group of copies to shared arrays that run beside what follows: each store in `body` may happen at any time until its thread has waited for the group, and
/// what it writes holds nothing before. A group in which nothing is stored is one too.
/// Source: cp.async and cp.async.commit_group of the PTX ISA; the rules for groups are in section "Data Movement and Conversion Instructions".
class AsyncNode final : public StmtNode {
 public:
  AsyncNode(Stmt b, Origin o) : StmtNode(StmtKind::async, o), body(std::move(b)) {}
  const Stmt body;
};
/// Each thread waits until at most `pending` of the groups that it began last may be under way. What others copied can be read after a barrier only.
class WaitNode final : public StmtNode {
 public:
  WaitNode(int p, Origin o) : StmtNode(StmtKind::wait, o), pending(p) {}
  const int pending;
};

/// A tile in a shared array: element (i, k) lies `i * stride + k` elements after `first`, or `k * stride + i` where `by_depth`. Lines begin at multiples of
/// kMmaLine bytes.
struct MmaOperand {
  Expr first;  ///< a load of element (0, 0)
  int64_t stride = 0;
  bool by_depth = false;
};
/// The 32 threads along threadIdx.x, a warp, together add a product of tiles to sums that they hold in common:
///     sums[i, j] += a[i, k] * b[j, k]   for i < rows, j < columns, k < depth
/// Lane i % 8 * 4 + j % 8 / 2 holds sum (i, j) as element [i / 8, j / 8, j % 2] of its local array. Like a barrier it must be reached by all threads of the
/// block, but it orders no memory. Operands in float32 are rounded to TF32 first (tf32()), integers are multiplied and added as int32, which wraps; products
/// are exact otherwise, and how the sum of a step is rounded is the processor's affair. Source: the layout of accumulators of mma.sync.m16n8 in the PTX ISA,
/// "Warp Level Matrix Multiply-Accumulate Instructions".
class MmaNode final : public StmtNode {
 public:
  MmaNode(Expr s, MmaOperand x, MmaOperand y, int m, int n, int k, Origin o)
      : StmtNode(StmtKind::mma, o), sums(std::move(s)), a(std::move(x)), b(std::move(y)), rows(m), columns(n), depth(k) {}
  const Expr sums;  ///< a load of the first element of the local array
  const MmaOperand a, b;
  const int rows, columns, depth;  ///< multiples of kMmaRows, kMmaColumns and target::mma_depth()
};
inline constexpr int kMmaRows = 16, kMmaColumns = 16;  ///< of what is fetched at once
inline constexpr int64_t kMmaLine = 16;                ///< bytes of a line that a lane fetches at once
/// `v` with 10 bits of mantissa, to nearest, ties away from zero: what float32 becomes on tensor cores. Infinities and NaN stay. Source: cvt.rna.tf32.f32 of
/// the PTX ISA.
float tf32(float v);

template <class T>
const T* as(const Stmt& s);
#define X(type, name)                                                                 \
  template <>                                                                         \
  inline const type* as<type>(const Stmt& s) {                                        \
    return s->kind() == StmtKind::name ? static_cast<const type*>(s.get()) : nullptr; \
  }
TW_STMT_KINDS(X)
#undef X

Stmt make_for(Var var, Expr min, Expr extent, ForKind kind, Stmt body, Origin origin = {}, int64_t auto_unroll = -1);
Stmt store(const Buffer& buffer, std::vector<Expr> indices, Expr value, Origin origin = {});
Stmt alloc(const Buffer& buffer, Stmt body, Origin origin = {});
Stmt let(const Var& var, Expr value, Stmt body, Origin origin = {});
/// Folds a constant condition.
Stmt if_then(Expr cond, Stmt then_body, std::optional<Stmt> else_body = std::nullopt, Origin origin = {});
Stmt make_sync(Origin origin = {});
Stmt all_reduce(const Buffer& buffer, std::vector<Expr> indices, ir::BinaryOp combine, ForKind thread, Origin origin = {});
Stmt make_async(Stmt body, Origin origin = {});
Stmt make_wait(int pending, Origin origin = {});
Stmt make_mma(Expr sums, MmaOperand a, MmaOperand b, int rows, int columns, int depth, Origin origin = {});
/// Flattens nested sequences; a sequence of one is that one.
Stmt seq(std::vector<Stmt> stmts);
/// The empty sequence.
Stmt nop();
bool is_nop(const Stmt& s);

/// One kernel: every parameter is an array; outputs are written whole.
struct Func {
  std::string name;
  std::vector<Buffer> params;  ///< inputs first, then outputs; physical shapes
  int num_outputs = 0;         ///< how many of the last params are written
  Stmt body;
};

struct Module {
  std::vector<Func> funcs;
};

}  // namespace tw::tir
