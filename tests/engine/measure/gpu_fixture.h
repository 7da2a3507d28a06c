// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/engine/measure/fixtures.h"

namespace tw::test {

/// The doubling task for a GPU, and a "kernel" of the stand-in driver's language (tests/support/fake_cuda.cpp) for it.
inline records::Task gpu_doubling_task() {
  const records::Task cpu = doubling_task();
  return records::make_task(cpu.name, cpu.dag, gpu_target(*target::find_gpu("h200")));
}

inline measure::BuildOutcome fake_kernel(const std::string& action) {
  auto artifact = std::make_shared<runtime::Artifact>();
  artifact->kernels = {doubling_signature()};
  runtime::GpuFunction f;
  f.symbol = "kernel";
  f.arguments = 2;
  f.launches = {{"kernel", {1, 1, 1}, {32, 1, 1}, 0, {0, 1}}};
  const std::string text = "kernel " + action;
  for (const char c : text) f.images[90].push_back(static_cast<std::byte>(c));
  f.images[90].push_back(std::byte{0});
  artifact->gpu.push_back(f);
  return {records::Status::ok, "", artifact, 0};
}

}  // namespace tw::test
