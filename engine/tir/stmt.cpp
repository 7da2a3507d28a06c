// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/stmt.h"

#include <bit>
#include <cmath>

namespace tw::tir {

void destroy(const StmtNode* node) {
  switch (node->kind()) {
#define X(type, name)                      \
  case StmtKind::name:                     \
    delete static_cast<const type*>(node); \
    return;
    TW_STMT_KINDS(X)
#undef X
  }
}

const char* for_kind_name(ForKind k) {
  switch (k) {
    case ForKind::serial:
      return "serial";
    case ForKind::parallel:
      return "parallel";
    case ForKind::vectorized:
      return "vectorized";
    case ForKind::unrolled:
      return "unroll";
    case ForKind::unrolled_explicit:
      return "unroll_explicit";
    default:
      return "thread_binding";
  }
}

const char* thread_name(ForKind k) {
  switch (k) {
    case ForKind::block_x:
      return "blockIdx.x";
    case ForKind::block_y:
      return "blockIdx.y";
    case ForKind::block_z:
      return "blockIdx.z";
    case ForKind::thread_x:
      return "threadIdx.x";
    case ForKind::thread_y:
      return "threadIdx.y";
    case ForKind::thread_z:
      return "threadIdx.z";
    case ForKind::vthread:
      return "vthread";
    default:
      return "";
  }
}

const char* reduction_name(ir::BinaryOp op) {
  switch (op) {
    case ir::BinaryOp::add:
      return "add";
    case ir::BinaryOp::mul:
      return "mul";
    case ir::BinaryOp::min:
      return "min";
    case ir::BinaryOp::max:
      return "max";
    default:
      return nullptr;
  }
}

Stmt make_for(Var var, Expr min, Expr extent, ForKind kind, Stmt body, Origin origin, int64_t auto_unroll) {
  return Stmt(new ForNode(std::move(var), std::move(min), std::move(extent), kind, std::move(body), origin, auto_unroll));
}

Stmt store(const Buffer& buffer, std::vector<Expr> indices, Expr value, Origin origin) {
  int lanes = 1;
  for (const Expr& i : indices) lanes = std::max<int>(lanes, i->dtype.lanes);
  if (value->dtype.lanes < lanes) value = ir::broadcast(std::move(value), lanes);
  TW_ASSERT(value->dtype.element() == buffer->dtype && value->dtype.lanes == lanes, "store of " + value->dtype.name() + " into " + buffer->name);
  return Stmt(new StoreNode(buffer, std::move(indices), std::move(value), origin));
}

Stmt alloc(const Buffer& buffer, Stmt body, Origin origin) { return Stmt(new AllocNode(buffer, std::move(body), origin)); }

Stmt let(const Var& var, Expr value, Stmt body, Origin origin) {
  TW_ASSERT(var->dtype == value->dtype, "let of " + var->name);
  return Stmt(new LetNode(var, std::move(value), std::move(body), origin));
}

Stmt if_then(Expr cond, Stmt then_body, std::optional<Stmt> else_body, Origin origin) {
  if (const auto v = ir::as_int(cond)) return *v ? then_body : else_body ? *else_body : nop();
  return Stmt(new IfNode(std::move(cond), std::move(then_body), std::move(else_body), origin));
}

Stmt make_sync(Origin origin) { return Stmt(new SyncNode(origin)); }

Stmt all_reduce(const Buffer& buffer, std::vector<Expr> indices, ir::BinaryOp combine, ForKind thread, Origin origin) {
  return Stmt(new AllReduceNode(buffer, std::move(indices), combine, thread, origin));
}

Stmt make_async(Stmt body, Origin origin) { return Stmt(new AsyncNode(std::move(body), origin)); }
Stmt make_wait(int pending, Origin origin) { return Stmt(new WaitNode(pending, origin)); }
Stmt make_mma(Expr sums, MmaOperand a, MmaOperand b, int rows, int columns, int depth, Origin origin) {
  return Stmt(new MmaNode(std::move(sums), std::move(a), std::move(b), rows, columns, depth, origin));
}
float tf32(float v) {
  constexpr uint32_t kHalf = 1u << 12, kDropped = (1u << 13) - 1;
  return std::isfinite(v) ? std::bit_cast<float>((std::bit_cast<uint32_t>(v) + kHalf) & ~kDropped) : v;
}

Stmt seq(std::vector<Stmt> stmts) {
  std::vector<Stmt> flat;
  for (Stmt& s : stmts) {
    if (const auto* inner = as<SeqNode>(s))
      flat.insert(flat.end(), inner->stmts.begin(), inner->stmts.end());
    else
      flat.push_back(std::move(s));
  }
  if (flat.size() == 1) return flat.front();
  return Stmt(new SeqNode(std::move(flat), {}));
}

Stmt nop() { return Stmt(new SeqNode({}, {})); }
bool is_nop(const Stmt& s) {
  const auto* q = as<SeqNode>(s);
  return q && q->stmts.empty();
}

}  // namespace tw::tir
