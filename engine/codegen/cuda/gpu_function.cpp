// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/gpu_function.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "engine/codegen/cuda/cuda_source.h"
#include "engine/tir/print.h"

namespace tw::codegen {

namespace {

int index_in(const std::vector<ir::Buffer>& list, const ir::Buffer& b) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].get() == b.get()) return static_cast<int>(i);
  return -1;
}

}  // namespace

Expected<runtime::GpuFunction> gpu_function(const tir::Func& func) {
  TW_TRY(CudaSource source, cuda_source(func));
  runtime::GpuFunction out;
  out.symbol = func.name;
  out.arguments = static_cast<int>(func.params.size());
  out.loops = tir::print(func);
  for (const ir::Buffer& b : source.workspace) out.workspace_bytes.push_back(b->num_elements() * b->dtype.bytes());
  for (const CudaKernel& k : source.kernels) {
    runtime::GpuLaunch launch{k.name, k.grid, k.block, k.dynamic_shared_bytes, {}};
    for (const ir::Buffer& p : k.params) {
      const int argument = index_in(func.params, p), workspace = index_in(source.workspace, p);
      TW_ASSERT(argument >= 0 || workspace >= 0, "a parameter of a kernel that nobody gives");
      launch.params.push_back(argument >= 0 ? argument : out.arguments + workspace);
    }
    out.launches.push_back(std::move(launch));
  }
  out.source = std::move(source.text);
  return out;
}

Expected<std::vector<KernelResources>> add_image(runtime::GpuFunction& function, int capability) {
  if (function.image_for(capability)) return std::vector<KernelResources>();
  TW_TRY(CudaBinary binary, nvrtc_compile(function.source, capability));
  function.images[capability] = std::move(binary.cubin);
  return std::move(binary.kernels);
}

std::vector<std::optional<Error>> add_images(std::span<runtime::GpuFunction> functions, int capability, StopToken stop) {
  std::vector<std::optional<Error>> errors(functions.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < functions.size(); i = next++) {
      if (stop.stop_requested()) {
        errors[i] = Error(ErrorCode::cancelled, "Compilation was cancelled");
        continue;
      }
      if (auto added = add_image(functions[i], capability); !added) errors[i] = added.error();
    }
  };
  std::vector<std::thread> threads;
  const size_t wanted = std::min<size_t>(functions.size(), std::max(1u, std::thread::hardware_concurrency()));
  for (size_t t = 1; t < wanted; ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  return errors;
}

}  // namespace tw::codegen
