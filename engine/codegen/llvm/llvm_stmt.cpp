// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <cstddef>

#include "engine/base/text.h"
#include "engine/codegen/llvm/emitter.h"
#include "engine/runtime/kernel.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

using llvm::Value;

namespace {

/// Larger local arrays, and those beyond the sum, come from the runtime's allocator instead of the stack.
constexpr int64_t kMaxStackArray = 64 * 1024;
constexpr int64_t kMaxStackFrame = 256 * 1024;
constexpr uint64_t kNewArrayAlign = 64;

/// Metadata that keeps LLVM from unrolling or vectorising a loop whose body is in vectors already.
llvm::MDNode* keep_loop(llvm::LLVMContext& c) {
  const auto flag = [&](const char* name) { return llvm::MDNode::get(c, {llvm::MDString::get(c, name)}); };
  llvm::Metadata* off = llvm::ConstantAsMetadata::get(llvm::ConstantInt::getFalse(c));
  llvm::MDNode* no_vectors = llvm::MDNode::get(c, {llvm::MDString::get(c, "llvm.loop.vectorize.enable"), off});
  llvm::MDNode* node = llvm::MDNode::getDistinct(c, {nullptr, flag("llvm.loop.unroll.disable"), no_vectors});
  node->replaceOperandWith(0, node);
  return node;
}

}  // namespace

FuncEmitter::FuncEmitter(ModuleState& state, llvm::Function* function, Value* api, bool in_parallel)
    : s_(state), function_(function), b_(llvm::BasicBlock::Create(state.context(), "entry", function)), api_(api), in_parallel_(in_parallel) {
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  b_.setFastMathFlags(flags);
  set_line(nullptr);
}

void FuncEmitter::bind(const ir::VarNode* var, Value* value, std::optional<Interval> range) {
  vars_[var] = value;
  depth_[var] = bound_++;
  if (range)
    ranges_[var] = *range;
  else
    ranges_.erase(var);
}

/// The statement's line in the debug scope of this function; the function's first line for null.
void FuncEmitter::set_line(const tir::StmtNode* s) {
  if (s_.debug == nullptr) return;
  const auto it = s_.debug->line_of.find(s);
  if (s != nullptr && it == s_.debug->line_of.end()) return;  // stays at the enclosing statement
  b_.SetCurrentDebugLocation(llvm::DILocation::get(s_.context(), s == nullptr ? 1U : static_cast<unsigned>(it->second), 0, function_->getSubprogram()));
}

namespace {

void no_threads() { TW_UNREACHABLE("a statement for threads of blocks in code for a processor without them"); }

}  // namespace

void FuncEmitter::stmt(const tir::Stmt& s) {
  set_line(s.get());
  memo_.clear();
  tir::match(
      s, [&](const tir::ForNode& n) { for_stmt(n); }, [&](const tir::StoreNode& n) { store(n); }, [&](const tir::AllocNode& n) { alloc(n); },
      [&](const tir::LetNode& n) {
        bind(n.var.get(), expr(n.value), interval_of(n.value, ranges_));
        stmt(n.body);
      },
      [&](const tir::IfNode& n) { if_stmt(n); },
      [&](const tir::SeqNode& n) {
        for (size_t i = 0; i < n.stmts.size();) {
          size_t end = i;
          while (end < n.stmts.size() && tir::as<tir::StoreNode>(n.stmts[end])) ++end;
          if (end - i > 1) end = i + load_blocks(std::span(n.stmts).subspan(i, end - i));
          for (end = std::max(end, i + 1); i < end; ++i) stmt(n.stmts[i]);
          blocks_.clear();
        }
      },
      [](const tir::SyncNode&) { no_threads(); }, [](const tir::AllReduceNode&) { no_threads(); }, [](const tir::AsyncNode&) { no_threads(); },
      [](const tir::WaitNode&) { no_threads(); }, [](const tir::MmaNode&) { no_threads(); });
}

void FuncEmitter::finish(Value* result) {
  // Stores past the caches are not ordered with others: they must be seen before whoever waits for this function goes on.
  // On Arm the barrier at the end of a parallel loop orders stores past the caches like all others.
  if (streams_ && target::arch_of(s_.target) == target::Arch::x86_64) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
  if (result != nullptr)
    b_.CreateRet(result);
  else
    b_.CreateRetVoid();
}

void FuncEmitter::for_stmt(const tir::ForNode& n) {
  const auto min = interval_of(n.min, ranges_), extent = interval_of(n.extent, ranges_);
  if (extent && extent->hi <= 0) return;
  Value* begin = index(n.min);
  Value* count = index(n.extent);
  std::optional<Interval> range;
  if (min && extent) range = Interval{min->lo, min->hi + extent->hi - 1};
  bind(n.var.get(), begin, range);
  if (extent && extent->lo == 1 && extent->hi == 1) return stmt(n.body);
  if (n.for_kind == tir::ForKind::parallel && !in_parallel_ && mask_ == nullptr && s_.target.cores > 1) return parallel(n, begin, count);
  if (copy(n)) return;
  loop(n.var.get(), begin, b_.CreateAdd(begin, count, "", false, true), !extent || extent->lo < 1, n.body);
}

void FuncEmitter::loop(const ir::VarNode* var, Value* begin, Value* end, bool may_be_empty, const tir::Stmt& body) {
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(s_.context(), "loop", function_);
  auto* after = llvm::BasicBlock::Create(s_.context(), "after", function_);
  if (may_be_empty)
    b_.CreateCondBr(b_.CreateICmpSLT(begin, end), head, after);
  else
    b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* i = b_.CreatePHI(begin->getType(), 2, var->name);
  i->addIncoming(begin, before);
  vars_[var] = i;
  depth_[var] = bound_++;
  const llvm::DebugLoc line = b_.getCurrentDebugLocation();
  const bool saw_before = std::exchange(saw_vector_, false);
  auto fetched_before = std::exchange(fetched_, {});
  auto* head_end = b_.Insert(new llvm::FreezeInst(i));  // a place, until the body stands
  loops_.push_back({var, &body, head_end, ranges_});
  fetch_panels(body.get());
  stmt(body);
  loops_.pop_back();
  head_end->eraseFromParent();
  fetched_ = std::move(fetched_before);
  if (line) b_.SetCurrentDebugLocation(line);
  const auto range = ranges_.find(var);
  const bool unsigned_too = range != ranges_.end() && range->second.lo >= 0;
  Value* next = b_.CreateAdd(i, int_constant(i->getType(), 1), "", unsigned_too, true);
  i->addIncoming(next, b_.GetInsertBlock());
  llvm::BranchInst* back = b_.CreateCondBr(b_.CreateICmpSLT(next, end), head, after);
  if (saw_vector_) back->setMetadata(llvm::LLVMContext::MD_loop, keep_loop(s_.context()));
  saw_vector_ |= saw_before;
  b_.SetInsertPoint(after);
}

void FuncEmitter::if_stmt(const tir::IfNode& n) {
  if (const auto known = decided(n.cond, ranges_)) {
    if (*known)
      stmt(n.then_body);
    else if (n.else_body)
      stmt(*n.else_body);
    return;
  }
  Value* cond = expr(n.cond);
  if (n.cond->dtype.lanes > 1) return masked_if(n, cond);
  auto* then = llvm::BasicBlock::Create(s_.context(), "then", function_);
  auto* after = llvm::BasicBlock::Create(s_.context(), "after", function_);
  auto* other = n.else_body ? llvm::BasicBlock::Create(s_.context(), "else", function_) : after;
  b_.CreateCondBr(cond, then, other);
  const auto arm = [&](llvm::BasicBlock* block, const tir::Stmt& body, bool holds) {
    const Ranges saved = ranges_;
    const auto fetched_before = fetched_;
    narrow(ranges_, n.cond, holds);
    b_.SetInsertPoint(block);
    stmt(body);
    b_.CreateBr(after);
    ranges_ = saved;
    fetched_ = fetched_before;
  };
  arm(then, n.then_body, true);
  if (n.else_body) arm(other, *n.else_body, false);
  b_.SetInsertPoint(after);
}

/// A condition per lane: both bodies run, each with its own lanes.
void FuncEmitter::masked_if(const tir::IfNode& n, Value* cond) {
  Value* saved = mask_;
  const auto both = [&](Value* lanes) { return saved == nullptr ? lanes : b_.CreateAnd(saved, lanes); };
  Value* inverse = n.else_body ? b_.CreateNot(cond) : nullptr;
  mask_ = both(cond);
  stmt(n.then_body);
  if (n.else_body) {
    mask_ = both(inverse);
    stmt(*n.else_body);
  }
  mask_ = saved;
}

Value* FuncEmitter::stack_array(const ir::BufferNode& buffer) {
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.begin());
  llvm::Type* element = memory_type(s_.context(), buffer.dtype);
  llvm::AllocaInst* array = b_.CreateAlloca(llvm::ArrayType::get(element, static_cast<uint64_t>(buffer.num_elements())), nullptr, buffer.name);
  array->setAlignment(llvm::Align(kNewArrayAlign));
  return array;
}

Value* FuncEmitter::api_field(int offset, const char* name) {
  Value* at = b_.CreateInBoundsGEP(b_.getInt8Ty(), api_, b_.getInt64(static_cast<uint64_t>(offset)));
  return b_.CreateAlignedLoad(b_.getPtrTy(), at, llvm::Align(8), name);
}

void FuncEmitter::alloc(const tir::AllocNode& n) {
  const ir::BufferNode& buffer = *n.buffer;
  if (buffer.scope != ir::Scope::local && buffer.scope != ir::Scope::global) {
    s_.fail(ErrorCode::unsupported, fmt::format("Expected scope local or global for '{}', found {}", buffer.name, ir::scope_name(buffer.scope)),
            "function " + function_->getName().str());
    return;
  }
  const int64_t bytes = buffer.bytes();
  if (buffer.scope == ir::Scope::local && bytes <= kMaxStackArray && stack_bytes_ + bytes <= kMaxStackFrame) {
    stack_bytes_ += bytes;
    bind(&buffer, stack_array(buffer));
    return stmt(n.body);
  }
  llvm::Type* ptr = b_.getPtrTy();
  Value* context = api_field(offsetof(runtime::RuntimeApi, ctx), "ctx");
  auto* alloc_type = llvm::FunctionType::get(ptr, {ptr, b_.getInt64Ty()}, false);
  llvm::CallInst* array =
      b_.CreateCall(alloc_type, api_field(offsetof(runtime::RuntimeApi, alloc), "alloc"), {context, b_.getInt64(static_cast<uint64_t>(bytes))}, buffer.name);
  array->addRetAttr(llvm::Attribute::NoAlias);
  array->addRetAttr(llvm::Attribute::getWithAlignment(s_.context(), llvm::Align(kNewArrayAlign)));
  bind(&buffer, array);
  stmt(n.body);
  auto* free_type = llvm::FunctionType::get(b_.getVoidTy(), {ptr, ptr}, false);
  b_.CreateCall(free_type, api_field(offsetof(runtime::RuntimeApi, free), "free"), {context, array});
}

}  // namespace tw::codegen
