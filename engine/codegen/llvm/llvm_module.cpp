// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/llvm/llvm_module.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>
#include <set>

#include "engine/base/text.h"
#include "engine/codegen/code_size.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

namespace {

std::string triple_of(const Target& target) { return fmt::format("{}-unknown-linux-gnu", target::arch_name(target::arch_of(target))); }

/// Half precision needs conversion instructions, which all processors for 64-bit Arm have; without them LLVM would call library functions that are not everywhere.
Expected<void> check_types(const tir::Func& f, target::FeatureSet features) {
  if (features & (target::bit(target::X86Feature::f16c) | target::bit(target::ArmFeature::neon))) return {};
  bool half = false;
  const auto look = [&](DType t) { half |= t.code == TypeCode::float_ && t.bits == 16; };
  for (const ir::Buffer& p : f.params) look(p->dtype);
  tir::walk(f.body, [&](const tir::Stmt& s) {
    if (const auto* a = tir::as<tir::AllocNode>(s)) look(a->buffer->dtype);
  });
  if (half) return Error(ErrorCode::unsupported, "Expected a processor with 'f16c' for float16, found none", "function " + f.name);
  return {};
}

/// A processor without blocks and threads cannot run them in step.
Expected<void> check_loops(const tir::Func& f) {
  std::optional<Error> error;
  tir::walk(f.body, [&](const tir::Stmt& s) {
    const auto* n = tir::as<tir::ForNode>(s);
    if (!n || !tir::is_bound(n->for_kind) || error) return;  // barriers stand inside such loops only
    error = Error(ErrorCode::unsupported,
                  fmt::format("Expected loops without thread binding on a CPU, found loop '{}' bound to {}", n->var->name, tir::thread_name(n->for_kind)),
                  "function " + f.name);
  });
  if (error) return *error;
  return {};
}

}  // namespace

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();  // reads listings back
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    // What this LLVM has no other way to choose. Assembly is written as Intel does. Loops come with constant strides and their tiles unrolled, so that
    // rewriting their addresses took long and made no kernel faster. The rest improves branches, calls and integers, of which kernels have few: together they
    // cost a tenth. Scheduling before registers are assigned stays: without it the loads of all terms that a loop writes out come first, and accumulators go to
    // memory.
    const char* args[] = {"tilewright",
                          "-x86-asm-syntax=intel",
                          "-disable-lsr",
                          "-disable-constant-hoisting",
                          "-disable-mergeicmps",
                          "-disable-partial-libcall-inlining",
                          "-disable-select-optimize",
                          "-disable-early-ifcvt",
                          "-disable-early-taildup",
                          "-disable-tail-duplicate",
                          "-x86-machine-combiner=false",
                          "-disable-x86-domain-reassignment",
                          "-disable-ssc",
                          "-disable-postra-machine-sink",
                          "-disable-postra-machine-licm",
                          "-disable-x86-lea-opt",
                          "-disable-cfi-fixup"};
    llvm::cl::ParseCommandLineOptions(static_cast<int>(std::size(args)), args);
  });
}

Expected<std::unique_ptr<llvm::TargetMachine>> make_machine(const Target& target, const BuildOptions& options) {
  if (target.kind != "llvm") return Error(ErrorCode::unsupported, fmt::format("Expected a target of kind 'llvm', found '{}'", target.kind));
  initialise_llvm();
  std::string reason;
  const std::string triple = triple_of(target);
  const llvm::Target* back_end = llvm::TargetRegistry::lookupTarget(triple, reason);
  if (back_end == nullptr) return Error(ErrorCode::infrastructure, fmt::format("Expected LLVM's back end for {}, found none: {}", triple, reason));
  const std::string cpu = target.cpu == "generic" ? "x86-64" : target.cpu;
  const std::unique_ptr<llvm::MCSubtargetInfo> known(back_end->createMCSubtargetInfo(triple, "", ""));
  if (!known->isCPUStringValid(cpu))
    return Error(ErrorCode::unsupported, fmt::format("Expected a processor that {} knows, found '{}'", codegen_version(), printable(cpu)));
  llvm::TargetOptions flags;
  flags.MCOptions.AsmVerbose = true;
  const auto level = options.opt == OptLevel::tuning ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::Aggressive;
  std::unique_ptr<llvm::TargetMachine> machine(
      back_end->createTargetMachine(triple, cpu, fmt::format("{}", fmt::join(target.features, ",")), flags, llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
  if (!machine) return Error(ErrorCode::infrastructure, "Expected a target machine, LLVM made none");
  return machine;
}

Diagnostics::Diagnostics(llvm::LLVMContext& context) {
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void* self) {
        std::string& first = static_cast<Diagnostics*>(self)->first_;
        if (info->getSeverity() != llvm::DS_Error || !first.empty()) return;
        llvm::raw_string_ostream out(first);
        llvm::DiagnosticPrinterRawOStream printer(out);
        info->print(printer);
      },
      this);
}

Expected<void> Diagnostics::check() const {
  if (first_.empty()) return {};
  return Error(ErrorCode::unsupported, "Expected code that LLVM's back end takes, it says: " + printable(first_));
}

Expected<std::vector<std::string>> enabled_features(const Target& target) {
  TW_TRY(const auto machine, make_machine(target, {}));
  std::vector<std::string> names;
  const bool arm = target::arch_of(target) == target::Arch::aarch64;
  for (const target::NamedFeature& f : target::all_features()) {
    // A back end complains about names of the other's.
    if (arm != (f.bit >= target::bit(target::ArmFeature::neon))) continue;
    if (machine->getMCSubtargetInfo()->checkFeatures(fmt::format("+{}", f.name))) names.emplace_back(f.name);
  }
  return names;
}

Expected<void> fill_module(llvm::Module& module, llvm::TargetMachine& machine, const std::vector<tir::Func>& funcs, const Target& target, DebugLines* debug) {
  module.setTargetTriple(triple_of(target));
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  ModuleState state{.module = module, .target = target, .features = target::features_of(target.cpu, target.features), .debug = debug, .error = {}};
  std::set<std::string> names;
  for (const tir::Func& f : funcs) {
    if (f.name.empty() || !names.insert(f.name).second)
      return Error(ErrorCode::invalid_argument,
                   fmt::format("Expected a name of its own for every function, found '{}' {}", f.name, f.name.empty() ? "" : "twice"));
    TW_CHECK(check_types(f, state.features));
    TW_CHECK(check_loops(f));
    TW_CHECK(check_code_size(f));
    emit_kernel(state, f);
    if (state.error) return *state.error;
  }
  if (debug != nullptr) debug->builder.finalize();
  return {};
}

Expected<void> verify_module(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out))
    return Error(ErrorCode::internal, "Expected a well-formed module, LLVM's verifier says: " + text, "module " + module.getName().str());
  return {};
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine, OptLevel level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes(&machine);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(graphs);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, graphs, modules);
  if (level == OptLevel::full) {
    passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
    return;
  }
  llvm::FunctionPassManager always, hoisting;
  llvm::cantFail(passes.parsePassPipeline(always, "sroa,early-cse"));
  llvm::cantFail(passes.parsePassPipeline(hoisting, "loop-mssa(licm)"));
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    always.run(f, functions);
    if (f.hasFnAttribute(kHoists)) hoisting.run(f, functions);
  }
}

Expected<std::unique_ptr<MachineCodeEmitter>> MachineCodeEmitter::create(llvm::TargetMachine& machine, llvm::CodeGenFileType kind) {
  std::unique_ptr<MachineCodeEmitter> emitter(new MachineCodeEmitter);
  if (machine.addPassesToEmitFile(emitter->passes_, emitter->out_, nullptr, kind, /*DisableVerify=*/true))
    return Error(ErrorCode::infrastructure, "Expected a back end that writes this kind of file, LLVM has none");
  return emitter;
}

std::string_view MachineCodeEmitter::run(llvm::Module& module) {
  bytes_.clear();
  passes_.run(module);
  return {bytes_.data(), bytes_.size()};
}

struct ObjectBuilder::Impl {
  Target target;
  BuildOptions options;
  std::unique_ptr<llvm::TargetMachine> machine;  ///< null before the first build and after one that LLVM's back end refused
  std::unique_ptr<MachineCodeEmitter> emitter;

  Expected<void> set_up() {
    emitter = nullptr;
    TW_TRY(machine, make_machine(target, options));
    TW_TRY(emitter, MachineCodeEmitter::create(*machine, llvm::CodeGenFileType::ObjectFile));
    return {};
  }
};

ObjectBuilder::ObjectBuilder(Target target, const BuildOptions& options) : impl_(new Impl{std::move(target), options, nullptr, nullptr}) {}
ObjectBuilder::~ObjectBuilder() = default;
ObjectBuilder::ObjectBuilder(ObjectBuilder&&) noexcept = default;
ObjectBuilder& ObjectBuilder::operator=(ObjectBuilder&&) noexcept = default;

Expected<std::vector<std::byte>> ObjectBuilder::build(const std::vector<tir::Func>& funcs) {
  if (!impl_->emitter) TW_CHECK(impl_->set_up());
  llvm::LLVMContext context;
  const Diagnostics diagnostics(context);
  llvm::Module module(funcs.empty() ? "empty" : funcs.front().name, context);
  TW_CHECK(fill_module(module, *impl_->machine, funcs, impl_->target, nullptr));
  if (impl_->options.verify) TW_CHECK(verify_module(module));
  optimise(module, *impl_->machine, impl_->options.opt);
  const std::string_view text = impl_->emitter->run(module);
  if (auto refused = diagnostics.check(); !refused) {
    impl_->emitter = nullptr;
    return refused.error();
  }
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return std::vector<std::byte>(data, data + text.size());
}

Expected<std::vector<std::byte>> build_object(const std::vector<tir::Func>& funcs, const Target& target, const BuildOptions& options) {
  return ObjectBuilder(target, options).build(funcs);
}

std::string codegen_version() { return "LLVM " LLVM_VERSION_STRING; }

}  // namespace tw::codegen
