// SPDX-License-Identifier: Apache-2.0
#include "app/cli/running.h"

#include <algorithm>

#include <map>

#include "app/cli/common.h"
#include "app/cli/host.h"
#include "engine/base/paired_ratio.h"
#include "engine/base/text.h"
#include "engine/measure/interpreted_gpu.h"
#include "engine/measure/network_executor.h"
#include "engine/target/target.h"

namespace tw::cli {

double Latency::min_s() const { return *std::min_element(runs_s.begin(), runs_s.end()); }
double Latency::max_s() const { return *std::max_element(runs_s.begin(), runs_s.end()); }
double Latency::median_s() const { return median_of(runs_s); }

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
  note_missing_processors(target);
  return measure::network_executor(std::move(executable), nullptr);
}

Expected<Latency> time_runs(runtime::GraphExecutor& executor, int repeat, CallProfile* profile, StopToken stop, bool simulated) {
  if (simulated) repeat = 1;
  if (!simulated) TW_CHECK(executor.run());
  Latency latency;
  std::vector<runtime::CallTime> times;
  std::vector<std::vector<double>> seconds_of;  // per call
  std::vector<size_t> wakes;
  for (int i = 0; i < repeat && !stop.stop_requested(); ++i) {
    TW_TRY(const double seconds, executor.run(profile != nullptr ? &times : nullptr));
    latency.runs_s.push_back(seconds);
    seconds_of.resize(times.size());
    wakes.resize(times.size());
    for (const runtime::CallTime& t : times) {
      seconds_of[static_cast<size_t>(t.call)].push_back(t.seconds);
      wakes[static_cast<size_t>(t.call)] += t.woke;
    }
  }
  for (size_t c = 0; c < seconds_of.size(); ++c) {
    profile->woke.push_back(2 * wakes[c] > seconds_of[c].size());
    profile->median_s.push_back(median_of(std::move(seconds_of[c])));
  }
  return latency;
}

}  // namespace tw::cli
