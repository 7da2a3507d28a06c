// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/worker_bench.h"

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/measure_job.h"
#include "engine/measure/network_job.h"
#include "engine/measure/network_run.h"

namespace tw::farm {

WorkerBench::WorkerBench(const std::string& program, int64_t memory_bytes, Target machine, const std::string& emulator)
    : link_(program, "measure", memory_bytes, emulator), machine_(std::move(machine)) {
  link_.greeted = [this](const process::Frame& hello) {
    if (hello.header.contains("isolation") && hello.header["isolation"].is_string()) isolation_ = hello.header["isolation"].get<std::string>();
  };
}

Expected<process::Frame> WorkerBench::measure(const Json& job, const std::vector<std::byte>& object, StopToken stop) {
  const process::StopFd stop_fd(stop);
  const auto command = job.find("command");
  if (command != job.end() && *command == measure::kNetworkCommand) {
    TW_TRY(const measure::NetworkRun run, measure::network_run_from_json(job));
    return link_.measure(job, object, run.startup_limit_s + run.run_limit_s, stop_fd);
  }
  if (command != job.end() && *command == measure::kRaceCommand) {
    TW_TRY(const measure::NetworkJob race, measure::network_job_from_json(job));
    return link_.measure(job, object, measure::NetworkRun().startup_limit_s + race.run_limit_s, stop_fd);
  }
  TW_TRY(const measure::MeasureJob checked, measure::measure_job_from_json(job));
  return link_.measure(job, object, checked.startup_limit_s + checked.run_limit_s, stop_fd);
}

Expected<measure::References> WorkerBench::references(StopToken stop) {
  const process::StopFd stop_fd(stop);
  return link_.references(stop_fd);
}

std::string WorkerBench::refusal(const std::string& target) const {
  const auto code = parse_target(target);
  if (!code) return code.error().text();
  if (code->gpu) return fmt::format("Expected code for a processor, found some for '{}'", printable(target));
  const std::vector<std::string> missing = missing_features(*code, machine_);
  if (missing.empty()) return {};
  return fmt::format("Expected code for '{}', found some that needs {}", machine_.str(), fmt::join(missing, ", "));
}

}  // namespace tw::farm
