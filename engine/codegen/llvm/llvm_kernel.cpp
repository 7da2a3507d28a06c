// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/llvm/emitter.h"
#include "engine/codegen/streaming.h"
#include "engine/tir/share.h"

namespace tw::codegen {

using llvm::Value;

void set_function_facts(ModuleState& state, llvm::Function* f) {
  f->setDoesNotThrow();
  f->addFnAttr("prefer-vector-width", std::to_string(state.target.vector_bits));
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

}  // namespace

llvm::Function* make_body_function(ModuleState& state, const std::string& name, llvm::ArrayRef<llvm::Type*> params, unsigned first_array,
                                   llvm::ArrayRef<const ir::BufferNode*> arrays) {
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(state.context()), params, false);
  auto* f = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, state.module);
  set_function_facts(state, f);
  for (size_t k = 0; k < arrays.size(); ++k) {
    const unsigned i = first_array + static_cast<unsigned>(k);
    if (!state.overlapping.contains(arrays[k])) f->addParamAttr(i, llvm::Attribute::NoAlias);
    f->addParamAttr(i, llvm::Attribute::getWithAlignment(state.context(), llvm::Align(64)));
  }
  return f;
}

void emit_kernel(ModuleState& state, const tir::Func& f) {
  llvm::Type* ptr = llvm::PointerType::getUnqual(state.context());
  std::vector<llvm::Type*> params = {ptr};
  std::vector<const ir::BufferNode*> arrays;
  for (const ir::Buffer& p : f.params) {
    arrays.push_back(p.get());
    params.push_back(ptr);
    TW_ASSERT(p->scope == ir::Scope::param, "parameter " + p->name);
  }
  state.streamed = streamed_outputs(f, state.target);
  state.fetched_ahead = inputs_from_memory(f, state.target);
  state.overlapping = overlapping(f);
  llvm::Function* body = make_body_function(state, f.name + ".body", params, 1, arrays);
  {
    FuncEmitter emitter(state, body, body->getArg(0), false);
    body->getArg(0)->setName("api");
    for (size_t i = 0; i < f.params.size(); ++i) {
      llvm::Argument* array = body->getArg(static_cast<unsigned>(i) + 1);
      array->setName(f.params[i]->name);
      emitter.bind(f.params[i].get(), array);
    }
    emitter.stmt(f.body);
    emitter.finish();
  }
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(state.context()), {ptr, ptr}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, f.name, state.module);
  set_function_facts(state, entry);
  entry->getArg(0)->setName("args");
  entry->getArg(1)->setName("api");
  FuncEmitter unpack(state, entry, nullptr, false);
  Builder& b = unpack.builder();
  std::vector<Value*> args = {entry->getArg(1)};
  for (size_t i = 0; i < f.params.size(); ++i)
    args.push_back(b.CreateAlignedLoad(ptr, b.CreateInBoundsGEP(ptr, entry->getArg(0), b.getInt64(i)), llvm::Align(8), f.params[i]->name));
  b.CreateCall(body, args);
  b.CreateRet(b.getInt32(0));
}

}  // namespace tw::codegen
