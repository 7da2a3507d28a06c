// SPDX-License-Identifier: Apache-2.0
#include "app/cli/running.h"

#include <algorithm>

#include <map>

#include "app/cli/common.h"
#include "engine/base/text.h"
#include "engine/measure/interpreted_gpu.h"
#include "engine/measure/network_executor.h"
#include "engine/target/target.h"

namespace tw::cli {

double Latency::min_s() const { return *std::min_element(runs_s.begin(), runs_s.end()); }
double Latency::max_s() const { return *std::max_element(runs_s.begin(), runs_s.end()); }
double Latency::median_s() const {
  std::vector<double> sorted = runs_s;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  return sorted[sorted.size() / 2];
}

Expected<std::shared_ptr<runtime::GpuDevice>> gpu_device(const std::string& name) {
  static std::map<std::string, std::shared_ptr<runtime::GpuDevice>> opened;
  std::shared_ptr<runtime::GpuDevice>& device = opened[name];
  if (!device) {
    TW_TRY(device, measure::open_gpu(name));
  }
  return device;
}

namespace {

Expected<std::unique_ptr<runtime::GraphExecutor>> make_gpu_executor(std::shared_ptr<const runtime::Executable> executable, const Target& target,
                                                                    const std::string& device) {
  const auto opened = gpu_device(device.empty() ? "cuda:0" : device);
  if (!opened) {
    Error e = opened.error();
    return device.empty() ? std::move(e).note(fmt::format("--device sim:{} runs it in the interpreter, with simulated times", target.gpu->name)) : e;
  }
  return measure::network_executor(std::move(executable), *opened);
}

}  // namespace

Expected<std::unique_ptr<runtime::GraphExecutor>> make_executor(std::shared_ptr<const runtime::Executable> executable, const std::string& device) {
  TW_TRY(const Target target, parse_target(executable->target));
  if (target.gpu) return make_gpu_executor(std::move(executable), target, device);
  if (!device.empty())
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a network for a GPU to run on '{}', found one for '{}'", printable(device), executable->target));
  if (const Target host = host_target(); target.cpu != host.cpu) note(fmt::format("Note: compiled for '{}', this machine is '{}'", target.cpu, host.cpu));
  return measure::network_executor(std::move(executable), nullptr);
}

Expected<Latency> time_runs(runtime::GraphExecutor& executor, int repeat, std::vector<double>* call_seconds, StopToken stop, bool simulated) {
  if (simulated) repeat = 1;
  if (!simulated) TW_CHECK(executor.run());
  Latency latency;
  std::vector<runtime::CallTime> times;
  for (int i = 0; i < repeat && !stop.stop_requested(); ++i) {
    times.clear();
    TW_TRY(const double seconds, executor.run(call_seconds != nullptr ? &times : nullptr));
    latency.runs_s.push_back(seconds);
    for (const runtime::CallTime& t : times) {
      if (call_seconds->size() <= static_cast<size_t>(t.call)) call_seconds->resize(static_cast<size_t>(t.call) + 1, 0);
      (*call_seconds)[static_cast<size_t>(t.call)] += t.seconds;
    }
  }
  return latency;
}

}  // namespace tw::cli
