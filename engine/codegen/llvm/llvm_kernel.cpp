// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "engine/codegen/llvm/emitter.h"
#include "engine/codegen/streaming.h"
#include "engine/tir/share.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

using llvm::Value;

void set_function_facts(ModuleState& state, llvm::Function* f) {
  f->setDoesNotThrow();
  f->addFnAttr("prefer-vector-width", std::to_string(state.target.vector_bits));
  // Vectors that registers have no room for stay within a line of the cache: LLVM assigns registers too late to align the stack for them by itself. Where one
  // of them lay across two pages, once in some 70 processes, a convolution took 1.65 times as long (Zen 5).
  if (target::arch_of(state.target) == target::Arch::x86_64 && state.target.vector_bits > 128) f->addFnAttr("stackrealign");
  if (state.reads_tables) f->addFnAttr(kHoists);
  // Vectors longer than NEON's are registers of SVE, whose length LLVM must know.
  if (const int granules = state.target.vector_bits / 128; granules > 1 && state.has(target::ArmFeature::sve))
    f->addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(f->getContext(), static_cast<unsigned>(granules), static_cast<unsigned>(granules)));
  if (state.debug == nullptr) return;
  llvm::DIBuilder& d = state.debug->builder;
  llvm::DISubroutineType* type = d.createSubroutineType(d.getOrCreateTypeArray({}));
  f->setSubprogram(d.createFunction(state.debug->file, f->getName(), f->getName(), state.debug->file, 1, type, 1, llvm::DINode::FlagZero,
                                    llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized));
}

namespace {

/// Parameters that a caller may lay over each other: an output that may be computed in place, and the inputs that may be overwritten by it.
std::unordered_set<const ir::BufferNode*> overlapping(const tir::Func& f) {
  std::unordered_set<const ir::BufferNode*> found;
  const size_t inputs = f.params.size() - static_cast<size_t>(f.num_outputs);
  for (size_t o = inputs; o < f.params.size(); ++o)
    for (size_t i = 0; i < inputs; ++i)
      if (tir::may_share_storage(f, i, o)) found.insert({f.params[i].get(), f.params[o].get()});
  return found;
}

/// A scope for every array that no other overlaps, and for each array the accesses that it cannot touch.
std::unordered_map<const ir::BufferNode*, llvm::AAMDNodes> told_apart(const tir::Func& f, llvm::LLVMContext& context) {
  std::vector<const ir::BufferNode*> arrays;
  for (const ir::Buffer& p : f.params) arrays.push_back(p.get());
  tir::walk(f.body, [&](const tir::Stmt& s) {
    if (const auto* a = tir::as<tir::AllocNode>(s)) arrays.push_back(a->buffer.get());
  });
  const auto shared = overlapping(f);
  llvm::MDBuilder metadata(context);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(f.name);
  std::vector<llvm::Metadata*> scopes;
  for (const ir::BufferNode* a : arrays) scopes.push_back(shared.contains(a) ? nullptr : metadata.createAnonymousAliasScope(domain, a->name));
  std::unordered_map<const ir::BufferNode*, llvm::AAMDNodes> facts;
  for (size_t i = 0; i < arrays.size(); ++i) {
    std::vector<llvm::Metadata*> others;
    for (size_t k = 0; k < arrays.size(); ++k)
      if (k != i && scopes[k] != nullptr) others.push_back(scopes[k]);
    llvm::AAMDNodes& fact = facts[arrays[i]];
    if (scopes[i] != nullptr) fact.Scope = llvm::MDNode::get(context, scopes[i]);
    if (!others.empty()) fact.NoAlias = llvm::MDNode::get(context, others);
  }
  return facts;
}

bool reads_tables(const tir::Func& f) {
  bool found = false;
  tir::walk_exprs(f.body, [&](const ir::Expr& root) {
    ir::walk(root, [&](const ir::Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      found = found || (l && std::any_of(l->indices.begin(), l->indices.end(), tir::reads_memory));
    });
  });
  return found;
}

}  // namespace

void emit_kernel(ModuleState& state, const tir::Func& f) {
  llvm::Type* ptr = llvm::PointerType::getUnqual(state.context());
  state.streamed = streamed_outputs(f, state.target);
  Panels panels = panels_of(f, state.target);
  state.bytes_ahead = inputs_ahead(f, panels.wide, state.target);
  state.panels = std::move(panels.fetches);
  state.told_apart = told_apart(f, state.context());
  state.reads_tables = reads_tables(f);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(state.context()), {ptr, ptr}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, f.name, state.module);
  set_function_facts(state, entry);
  entry->getArg(0)->setName("args");
  entry->getArg(1)->setName("api");
  FuncEmitter emitter(state, entry, entry->getArg(1), false);
  Builder& b = emitter.builder();
  for (size_t i = 0; i < f.params.size(); ++i) {
    TW_ASSERT(f.params[i]->scope == ir::Scope::param, "parameter " + f.params[i]->name);
    Value* at = b.CreateInBoundsGEP(ptr, entry->getArg(0), b.getInt64(i));
    emitter.bind(f.params[i].get(), b.CreateAlignedLoad(ptr, at, llvm::Align(8), f.params[i]->name));
  }
  emitter.stmt(f.body);
  emitter.finish(b.getInt32(0));
}

}  // namespace tw::codegen
