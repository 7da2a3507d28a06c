// SPDX-License-Identifier: Apache-2.0
// `tw doctor`: what this machine can do, what is missing and what that costs.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/host.h"
#include "db/database.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/cuda/nvrtc.h"
#include "engine/farm/farm_file.h"
#include "engine/farm/server.h"
#include "engine/farm/survey.h"
#include "engine/learner/learner.h"
#include "engine/measure/device.h"
#include "engine/process/find_program.h"
#include "engine/runtime/cuda_device.h"
#include "engine/runtime/cuda_driver.h"
#include "engine/runtime/gpu_monitor.h"

namespace tw::cli {
namespace {

struct DoctorArguments {
  bool json = false, farm = false;
};

/// One thing looked for. `cost`: what a person goes without if it is missing.
struct Finding {
  std::string name;
  bool found = false;
  std::string detail, cost;
};

/// Whether an unprivileged process may make a PID namespace, tried in a child.
bool can_make_namespaces() {
  const pid_t child = fork();
  if (child == 0) _exit(unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0 ? 0 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Finding worker() {
  const auto builder = measure::local_builder({});
  return {"tw-worker", builder.has_value(), builder ? "beside this program" : builder.error().text(), "nothing can be imported or tuned"};
}

Finding database() {
  const std::string path = default_database_path();
  if (!std::filesystem::exists(path)) return {"database", true, path + ", made when first used", ""};
  const auto db = db::Database::open(path, db::Mode::read_only);
  return {"database", db.has_value(), db ? path : db.error().text(), "commands without --db fail"};
}

/// The driver and the GPUs that it shows.
Finding driver() {
  const std::string cost = "kernels for GPUs are simulated (--device sim:NAME), not run";
  const auto version = runtime::cuda_driver_version();
  if (!version) return {"NVIDIA driver", false, version.error().message, cost};
  std::string detail = "CUDA " + *version;
  const auto count = runtime::cuda_device_count();
  for (int i = 0; count && i < *count; ++i) {
    const auto gpu = runtime::cuda_properties(i);
    detail += gpu ? fmt::format(", cuda:{} {} ({}, {:.0f} GiB)", i, gpu->name, target::arch_name(gpu->capability),
                                static_cast<double>(gpu->memory_bytes) / (int64_t{1} << 30))
                  : fmt::format(", cuda:{}: {}", i, gpu.error().message);
  }
  const auto fits = measure::check_toolkit();
  return {"NVIDIA driver", fits.has_value() || fits.error().code == ErrorCode::not_found, fits ? detail : detail + "; " + fits.error().message, cost};
}

/// How the GPUs are at this moment.
Finding gpu_clocks() {
  const std::string cost = "clocks, heat and other programs on a GPU are not seen: times taken meanwhile are not flagged";
  const auto count = runtime::cuda_device_count();
  std::vector<std::string> each;
  for (int i = 0; count && i < *count; ++i) {
    const auto gpu = runtime::cuda_properties(i);
    const auto monitor = gpu ? runtime::GpuMonitor::open(gpu->uuid) : Expected<runtime::GpuMonitor>(gpu.error());
    const auto c = monitor ? monitor->condition() : Expected<runtime::GpuCondition>(monitor.error());
    if (!c) return {"GPU clocks", false, c.error().message, cost};
    each.push_back(
        fmt::format("cuda:{} {} of {} MHz, {} C{}", i, c->clock_mhz, c->most_mhz, c->celsius, c->protecting_itself() ? ", slowed to protect itself" : ""));
  }
  return {"GPU clocks", true, fmt::format("{}", fmt::join(each, "; ")), cost};
}

std::vector<Finding> findings() {
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  const auto nvrtc = codegen::nvrtc_version();
  const auto learner = learner::find_program();
  std::vector<Finding> found{
      {"code generator", true, codegen::codegen_version(), ""},
      worker(),
      database(),
      {"sandbox: namespaces", can_make_namespaces(), "user and PID namespaces", "candidates are limited by rlimits and timeouts only"},
      {"CPU frequency", governor.empty() || governor == "performance", governor.empty() ? "not controlled by this kernel" : "governor " + governor,
       "timings drift with the clock; set the governor to performance"},
      driver(),
      {"NVRTC", nvrtc.has_value(), nvrtc ? *nvrtc : nvrtc.error().text(), "no PTX of GPU kernels, and their registers are estimated"},
      {"tw-learner", learner.has_value(), learner ? "beside this program" : learner.error().text(), "no neural cost models: boosted trees stand in for them; no TorchScript files (.pt)"}};
  if (runtime::cuda_driver()) found.push_back(gpu_clocks());
  return found;
}

/// What a farm needs, and how the one of the usual name is.
std::vector<Finding> farm_findings() {
  const auto server = farm::find_nats_server();
  const auto agent = process::find_program("tw-agent", "which measures for a farm", "");
  const std::string nothing = "`tw farm up` starts no server: --device farm:KIND works with farms of other machines only";
  std::vector<Finding> found{{"nats-server", server.has_value(), server ? *server : server.error().message, nothing},
                             {"tw-agent", agent.has_value(), agent ? *agent : agent.error().text(), "this machine is no device"}};
  const auto farm = farm::read_farm(farm::kDefaultFarm);
  if (!farm) {
    found.push_back({"farm", false, farm.error().message, "--device farm:KIND measures nothing"});
    return found;
  }
  const auto s = farm::survey(*farm);
  if (!s) {
    found.push_back({"farm", false, s.error().text(), "sessions wait; `tw farm up` starts its server"});
    return found;
  }
  found.push_back({"farm", true, fmt::format("'{}' at {}:{}, {}", farm->farm, farm->address, farm->port, farm->fingerprint.empty() ? "not encrypted" : "encrypted"), ""});
  for (const farm::FarmFile::Kind& k : farm->kinds) {
    std::vector<std::string> taking, others;
    for (const farm::Presence& p : s->devices) {
      if (p.kind != k.name) continue;
      const bool takes = p.phase == "idle" || p.phase == "measuring";
      (takes ? taking : others).push_back(takes ? p.device : fmt::format("{} is {}{}{}", p.device, p.phase, p.reason.empty() ? "" : ": ", p.reason));
    }
    std::string detail = taking.empty() ? "no device takes jobs" : fmt::format("{}", fmt::join(taking, ", "));
    for (const std::string& other : others) detail += "; " + other;
    found.push_back({"farm:" + k.name, !taking.empty(), detail, fmt::format("sessions with --device farm:{} wait", k.name)});
  }
  return found;
}

int doctor(const DoctorArguments& o) {
  const Target target = host_target();
  const Json host = host_description();
  std::vector<Finding> found = findings();
  if (o.farm)
    for (Finding& f : farm_findings()) found.push_back(std::move(f));
  if (o.json) {
    Json checks = Json::array();
    for (const Finding& f : found)
      checks.push_back({{"name", f.name}, {"found", f.found}, {"detail", f.detail}, {"cost", f.found ? Json(nullptr) : Json(f.cost)}});
    print_json({{"host", host}, {"target", target.str()}, {"database", default_database_path()}, {"checks", checks}});
    return kDone;
  }
  print("{:<20} {}, {} threads, {:.1f} GiB\n", "machine", host["cpu"].get<std::string>(), host["threads"].get<int64_t>(),
        host["memory_bytes"].get<double>() / (int64_t{1} << 30));
  print("{:<20} {}\n", "kernel", host["kernel"].get<std::string>());
  print("{:<20} {}\n", "target", target.str());
  print("{:<20} {} registers of {} bits, L1d {} KiB {}-way, L2 {} KiB, L3 {} KiB\n\n", "", target.vector_registers, target.vector_bits, target.l1d_bytes / 1024,
        target.l1d_ways, target.l2_bytes / 1024, target.l3_bytes / 1024);
  for (const Finding& f : found) print("{:<20} {}{}\n", f.name, printable(f.detail), f.found ? "" : fmt::format(" - {}", f.cost));
  return kDone;
}

}  // namespace

void add_doctor(Subcommand app, Run& run) {
  auto o = std::make_shared<DoctorArguments>();
  Subcommand sub = app.command(run, "doctor", "Says what this machine can do, what is missing and what that costs", o, doctor);
  sub.flag("--farm", o->farm, "Also what a farm of devices needs, and how the usual one is");
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
