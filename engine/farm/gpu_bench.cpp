// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/gpu_bench.h"

#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::farm {

Expected<std::unique_ptr<GpuBench>> GpuBench::open(const std::string& worker, const std::string& device, int64_t memory_bytes) {
  std::unique_ptr<GpuBench> bench(new GpuBench(worker, device, memory_bytes));
  const process::StopFd never{StopToken()};
  TW_TRY(const std::string target, bench->gpu_.target_of_device(device, never));
  TW_TRY(bench->target_, parse_target(target));
  if (!bench->target_.gpu) return Error(ErrorCode::infrastructure, fmt::format("Expected a GPU, found '{}'", target));
  return bench;
}

Expected<process::Frame> GpuBench::measure(const Json& job, const std::vector<std::byte>& object, StopToken stop) {
  TW_TRY(const measure::MeasureJob checked, measure::measure_job_from_json(job));
  const process::StopFd stop_fd(stop);
  Json question = job;
  question["device"] = device_;
  return gpu_.measure(question, checked, object, stop_fd);
}

Expected<measure::References> GpuBench::references(StopToken stop) {
  const process::StopFd stop_fd(stop);
  TW_CHECK(gpu_.target_of_device(device_, stop_fd));
  return measure::References{};
}

std::string GpuBench::refusal(const std::string& target) const {
  const auto code = parse_target(target);
  if (!code) return code.error().text();
  if (code->gpu && code->gpu->capability == target_.gpu->capability) return {};
  return fmt::format("Expected code for '{}', found some for '{}'", target_.str(), printable(target));
}

}  // namespace tw::farm
