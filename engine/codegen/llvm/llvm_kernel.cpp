// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/llvm/emitter.h"
#include "engine/codegen/streaming.h"

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

llvm::Function* make_body_function(ModuleState& state, const std::string& name, llvm::ArrayRef<llvm::Type*> params, llvm::ArrayRef<unsigned> arrays) {
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(state.context()), params, false);
  auto* f = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, state.module);
  set_function_facts(state, f);
  for (const unsigned i : arrays) {
    f->addParamAttr(i, llvm::Attribute::NoAlias);
    f->addParamAttr(i, llvm::Attribute::getWithAlignment(state.context(), llvm::Align(64)));
  }
  return f;
}

void emit_kernel(ModuleState& state, const tir::Func& f) {
  llvm::Type* ptr = llvm::PointerType::getUnqual(state.context());
  std::vector<llvm::Type*> params = {ptr};
  std::vector<unsigned> arrays;
  for (const ir::Buffer& p : f.params) {
    arrays.push_back(static_cast<unsigned>(params.size()));
    params.push_back(ptr);
    TW_ASSERT(p->scope == ir::Scope::param, "parameter " + p->name);
  }
  state.streamed = streamed_outputs(f, state.target);
  state.fetched_ahead = inputs_from_memory(f, state.target);
  llvm::Function* body = make_body_function(state, f.name + ".body", params, arrays);
  {
    FuncEmitter emitter(state, body, body->getArg(0), false);
    body->getArg(0)->setName("api");
    for (size_t i = 0; i < f.params.size(); ++i) {
      body->getArg(arrays[i])->setName(f.params[i]->name);
      emitter.bind(f.params[i].get(), body->getArg(arrays[i]));
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
