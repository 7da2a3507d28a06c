// SPDX-License-Identifier: Apache-2.0
#include "app/cli/running.h"

#include <algorithm>
#include <chrono>

#include "app/cli/common.h"
#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/target/target.h"

namespace tw::cli {

double Latency::min_s() const { return *std::min_element(runs_s.begin(), runs_s.end()); }
double Latency::max_s() const { return *std::max_element(runs_s.begin(), runs_s.end()); }
double Latency::median_s() const {
  std::vector<double> sorted = runs_s;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  return sorted[sorted.size() / 2];
}

Expected<std::unique_ptr<runtime::GraphExecutor>> make_executor(std::shared_ptr<const runtime::Executable> executable) {
  TW_TRY(const Target target, parse_target(executable->target));
  const Target host = host_target();
  if (target.cpu != host.cpu && target.vector_bits > host.vector_bits) {
    return Error(ErrorCode::unsupported,
                 fmt::format("Expected code for this machine ({}), found code for '{}' with wider vectors", host.cpu, executable->target));
  }
  if (target.cpu != host.cpu) note(fmt::format("Note: compiled for '{}', this machine is '{}'", target.cpu, host.cpu));
  TW_TRY(auto module, codegen::load_object(executable->artifact.object));
  return runtime::GraphExecutor::create(std::move(executable), std::move(module));
}

Latency time_runs(runtime::GraphExecutor& executor, int repeat, std::vector<double>* call_seconds, StopToken stop) {
  using Clock = std::chrono::steady_clock;
  executor.run();
  Latency latency;
  std::vector<runtime::CallTime> times;
  for (int i = 0; i < repeat && !stop.stop_requested(); ++i) {
    times.clear();
    const auto start = Clock::now();
    executor.run(call_seconds != nullptr ? &times : nullptr);
    latency.runs_s.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    for (const runtime::CallTime& t : times) {
      if (call_seconds->size() <= static_cast<size_t>(t.call)) call_seconds->resize(static_cast<size_t>(t.call) + 1, 0);
      (*call_seconds)[static_cast<size_t>(t.call)] += t.seconds;
    }
  }
  return latency;
}

}  // namespace tw::cli
