// SPDX-License-Identifier: Apache-2.0
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>

#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/llvm/intrinsics.h"
#include "engine/codegen/llvm/llvm_module.h"

namespace tw::codegen {

namespace {

Error load_error(llvm::Error e) {
  return {ErrorCode::corrupt, "Expected an object file that can be loaded, LLVM says: " + printable(llvm::toString(std::move(e)))};
}

class JitModule final : public runtime::LoadedModule {
 public:
  explicit JitModule(std::unique_ptr<llvm::orc::LLJIT> jit) : jit_(std::move(jit)) {}

  Expected<runtime::KernelFn> find(const std::string& symbol) override {
    auto address = jit_->lookup(symbol);
    if (!address)
      return Error(ErrorCode::not_found,
                   fmt::format("Expected the kernel '{}' in the object file, LLVM says: {}", symbol, printable(llvm::toString(address.takeError()))));
    return address->toPtr<runtime::KernelFn>();
  }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

}  // namespace

Expected<std::unique_ptr<runtime::LoadedModule>> load_object(const std::vector<std::byte>& object) {
  initialise_llvm();
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  if (!bytes.starts_with("\x7f"
                         "ELF"))
    return Error(ErrorCode::corrupt, "Expected an ELF object file, found other bytes");
  llvm::orc::JITTargetMachineBuilder machine{llvm::Triple("x86_64-unknown-linux-gnu")};
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create();
  if (!jit) return Error(ErrorCode::infrastructure, "Expected a loader, LLVM says: " + llvm::toString(jit.takeError()));
  // Generated code may call the C library's mathematics and nothing else of this process.
  const char prefix = (*jit)->getDataLayout().getGlobalPrefix();
  auto library = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      prefix, [](const llvm::orc::SymbolStringPtr& name) { return is_library_symbol((*name).str()); });
  if (!library) return Error(ErrorCode::infrastructure, "Expected the symbols of this process, LLVM says: " + llvm::toString(library.takeError()));
  (*jit)->getMainJITDylib().addGenerator(std::move(*library));
  if (llvm::Error e = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(bytes, "kernels"))) return load_error(std::move(e));
  return std::unique_ptr<runtime::LoadedModule>(std::make_unique<JitModule>(std::move(*jit)));
}

}  // namespace tw::codegen
