// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "engine/codegen/llvm/emitter.h"
#include "engine/ir/visit.h"
#include "engine/runtime/kernel.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

using llvm::Value;

namespace {

/// The outside things that a loop body uses, in order of first use.
struct Captures {
  std::vector<const ir::BufferNode*> buffers;
  std::vector<const ir::VarNode*> vars;
};

template <class T>
void add_once(std::vector<const T*>& list, const T* item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

/// Everything that is used at or below s; what is made inside it is among them and is left out by the caller, who knows what is bound outside.
Captures used_in(const tir::Stmt& s) {
  Captures c;
  tir::walk(s, [&](const tir::Stmt& child) {
    if (const auto* st = tir::as<tir::StoreNode>(child)) add_once(c.buffers, st->buffer.get());
  });
  tir::walk_exprs(s, [&](const ir::Expr& root) {
    ir::walk(root, [&](const ir::Expr& e) {
      if (const auto* v = ir::as<ir::VarNode>(e)) add_once(c.vars, v);
      if (const auto* l = ir::as<ir::LoadNode>(e)) add_once(c.buffers, l->buffer.get());
    });
  });
  return c;
}

}  // namespace

/// Moves the loop into `NAME.parN(closure, begin, end)`, which unpacks the closure: the runtime, the loop's first value, arrays and scalars.
void FuncEmitter::parallel(const tir::ForNode& n, Value* begin, Value* extent) {
  Captures used = used_in(n.body);
  std::erase_if(used.buffers, [&](const ir::BufferNode* x) { return !buffers_.contains(x); });
  std::erase_if(used.vars, [&](const ir::VarNode* x) { return x == n.var.get() || !vars_.contains(x); });

  std::vector<Value*> captured = {api_, begin};
  for (const auto* x : used.buffers) captured.push_back(buffers_[x]);
  for (const auto* x : used.vars) captured.push_back(vars_[x]);
  std::vector<llvm::Type*> fields;
  for (Value* v : captured) fields.push_back(v->getType());
  auto* closure_type = llvm::StructType::get(s_.context(), fields);

  llvm::Type *i64 = b_.getInt64Ty(), *ptr = b_.getPtrTy();
  const std::string name = function_->getName().str() + ".par" + std::to_string(s_.module.size());
  auto* entry = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), {ptr, i64, i64}, false), llvm::Function::InternalLinkage, name, s_.module);
  set_function_facts(s_, entry);
  const char* given[] = {"closure", "begin", "end"};
  for (unsigned i = 0; i < 3; ++i) entry->getArg(i)->setName(given[i]);
  {
    FuncEmitter inner(s_, entry, nullptr, true);
    Builder& b = inner.builder();
    unsigned at = 0;
    const auto next = [&](const std::string& field) {
      Value* place = b.CreateStructGEP(closure_type, entry->getArg(0), at);
      return b.CreateLoad(fields[at++], place, field);
    };
    inner.api_ = next("api");
    Value* min = next("min");
    for (const auto* x : used.buffers) inner.bind(x, next(x->name));
    for (const auto* x : used.vars) inner.bind(x, next(x->name), ranges_.contains(x) ? std::optional(ranges_[x]) : std::nullopt);
    if (ranges_.contains(n.var.get())) inner.ranges()[n.var.get()] = ranges_[n.var.get()];
    Value* first = b.CreateAdd(min, entry->getArg(1), "", false, true);
    Value* last = b.CreateAdd(min, entry->getArg(2), "", false, true);
    inner.loop(n.var.get(), first, last, true, n.body);
    inner.finish();
  }

  Value* closure = nullptr;
  {
    const llvm::IRBuilderBase::InsertPointGuard guard(b_);
    llvm::BasicBlock& top = function_->getEntryBlock();
    b_.SetInsertPoint(&top, top.begin());
    closure = b_.CreateAlloca(closure_type, nullptr, "closure");
  }
  for (unsigned i = 0; i < captured.size(); ++i) b_.CreateStore(captured[i], b_.CreateStructGEP(closure_type, closure, i));
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {ptr, i64, ptr, ptr}, false);
  Value* context = api_field(offsetof(runtime::RuntimeApi, ctx), "ctx");
  Value* parallel_for = api_field(offsetof(runtime::RuntimeApi, parallel_for), "parallel_for");
  b_.CreateCall(type, parallel_for, {context, extent, entry, closure});
}

}  // namespace tw::codegen
