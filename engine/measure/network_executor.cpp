// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/network_executor.h"

#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/cuda/gpu_function.h"
#include "engine/runtime/gpu_executor.h"
#include "engine/target/target.h"

namespace tw::measure {

Expected<void> check_processor(const Target& code) {
  const Target host = host_target();
  const std::vector<std::string> missing = missing_features(code, host);
  if (missing.empty()) return {};
  return Error(ErrorCode::unsupported, fmt::format("Expected a processor with {}, which code for '{}' may use, found '{}' without", fmt::join(missing, ", "),
                                                   code.str(), host.cpu));
}

namespace {

Expected<std::unique_ptr<runtime::GraphExecutor>> gpu_network_executor(std::shared_ptr<const runtime::Executable> executable,
                                                                       std::shared_ptr<runtime::GpuDevice> gpu) {
  if (!gpu->simulated()) {
    auto complete = std::make_shared<runtime::Executable>(*executable);
    for (const auto& error : codegen::add_images(complete->artifact.gpu, gpu->properties().capability))
      if (error) return *error;
    executable = std::move(complete);
  }
  std::unique_ptr<runtime::LoadedModule> host;
  if (!executable->artifact.object.empty()) {
    if (const std::string& code = executable->artifact.host_target; !code.empty()) {
      TW_TRY(const Target target, parse_target(code));
      TW_CHECK(check_processor(target));
    }
    TW_TRY(host, codegen::load_object(executable->artifact.object));
  }
  return runtime::create_gpu_executor(std::move(executable), std::move(gpu), std::move(host));
}

}  // namespace

Expected<std::unique_ptr<runtime::GraphExecutor>> network_executor(std::shared_ptr<const runtime::Executable> executable,
                                                                   std::shared_ptr<runtime::GpuDevice> gpu, std::shared_ptr<runtime::ThreadPool> pool) {
  TW_TRY(const Target target, parse_target(executable->target));
  if (target.gpu) {
    TW_ASSERT(gpu != nullptr, "a network for a GPU without one");
    return gpu_network_executor(std::move(executable), std::move(gpu));
  }
  TW_CHECK(check_processor(target));
  TW_TRY(auto module, codegen::load_object(executable->artifact.object));
  return pool ? runtime::GraphExecutor::create(std::move(executable), std::move(module), std::move(pool))
              : runtime::GraphExecutor::create(std::move(executable), std::move(module));
}

}  // namespace tw::measure
