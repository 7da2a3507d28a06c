// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

#include "engine/base/assert.h"
#include "engine/base/text.h"
#include "engine/farm/agent.h"
#include "engine/farm/gpu_bench.h"
#include "engine/farm/names.h"
#include "engine/farm/worker_bench.h"
#include "engine/measure/measure_role.h"
#include "engine/process/child_process.h"
#include "engine/process/find_program.h"

/// The program of a device: takes candidates from a farm's queue, measures them and sends what came out. `tw-agent measure` is its own child, which runs them.
namespace tw::farm {
namespace {

constexpr int kDone = 0, kFailed = 1, kUsage = 2;
constexpr int64_t kMemoryBytes = int64_t{2} << 30;

constexpr const char* kHelp =
    "tw-agent join LINE [--name NAME] [--folder DIR] [--cooldown SECONDS] [--emulator PROGRAM] [--gpu DEVICE [--worker PROGRAM]]\n"
    "  Makes this machine a device of a farm. LINE is what `tw farm up` prints; '-' reads it from standard input.\n"
    "  The device runs code that comes from the farm's queue, as `tw run` runs a .twx file: join farms of people that you trust with this user's account.\n"
    "  --name      of the device; the host's name if absent. Two on one machine need two names\n"
    "  --folder    for results that wait to be sent and the device's state; $XDG_STATE_HOME/tilewright/agent/NAME if absent\n"
    "  --cooldown  seconds between measurements; 0 if absent\n"
    "  --emulator  path of the emulator that runs this program, such as /usr/bin/qemu-aarch64, where the system does not know to; its times are called "
    "emulated\n"
    "  --gpu       measures on a GPU of this machine, such as cuda:0, instead of its processors; needs Tilewright's tw-worker and NVIDIA's driver, and no "
    "compiler\n"
    "  --worker    path of tw-worker; beside this program or in PATH if absent\n"
    "tw-agent target\n"
    "  Prints the target that this machine is, for `tw tune --target`.\n";

std::string default_folder(const std::string& name) {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  const std::string base = state != nullptr && *state != 0 ? std::string(state) : std::string(home != nullptr ? home : ".") + "/.local/state";
  return base + "/tilewright/agent/" + name;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

/// A program for AArch64 whose system tells of another processor runs in an emulator of processes, such as qemu-user.
bool is_emulated() {
#if defined(__aarch64__)
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("vendor_id") || line.starts_with("model name")) return true;
#endif
  return false;
}

int usage(const std::string& what) {
  std::fprintf(stderr, "tw-agent: %s\n%s", what.c_str(), kHelp);
  return kUsage;
}

int failed(const Error& error) {
  std::fprintf(stderr, "tw-agent: %s\n", error.text().c_str());
  return kFailed;
}

int join(int argc, char** argv) {
  if (argc < 3) return usage("Expected the line of a farm after 'join', found nothing");
  std::string line = argv[2];
  AgentOptions options;
  std::string emulator, gpu, worker;
  for (int i = 3; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) return usage(fmt::format("Expected a value after '{}', found nothing", printable(name)));
    const std::string value = argv[i + 1];
    if (name == "--name") {
      options.device = value;
    } else if (name == "--folder") {
      options.folder = value;
    } else if (name == "--emulator") {
      emulator = value;
    } else if (name == "--gpu") {
      gpu = value;
    } else if (name == "--worker") {
      worker = value;
    } else if (name == "--cooldown") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), options.cooldown_s);
      if (error != std::errc() || end != value.data() + value.size() || !(options.cooldown_s >= 0 && options.cooldown_s <= 3600))
        return usage(fmt::format("Expected seconds from 0 to 3600 after '--cooldown', found '{}'", printable(value)));
    } else {
      return usage(fmt::format("Expected '--name', '--folder', '--cooldown', '--emulator', '--gpu' or '--worker', found '{}'", printable(name)));
    }
  }
  if (line == "-") std::getline(std::cin, line);
  auto access = access_from_line(line);
  if (!access) return failed(access.error());
  options.access = std::move(*access);
  if (options.device.empty()) options.device = name_from(host_name());
  if (const auto good = check_name(options.device, "a device's name"); !good) return failed(good.error());
  if (options.folder.empty()) options.folder = default_folder(options.device);
  options.log = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  const auto program = process::own_path();
  if (!program) return failed(program.error());

  // Signals wake this thread, which asks the agent to stop: its job goes back to the queue.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, s);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  StopSource stop;
  std::thread([signals, stop]() mutable {
    int received = 0;
    sigwait(&signals, &received);
    stop.request_stop();
    sigwait(&signals, &received);
    _exit(128 + received);
  }).detach();

  std::unique_ptr<Bench> bench;
  if (gpu.empty()) {
    const Target machine = host_target();
    options.target = machine.str();
    options.emulated = !emulator.empty() || is_emulated();
    bench = std::make_unique<WorkerBench>(*program, kMemoryBytes, machine, emulator);
  } else {
    const auto found = process::find_program("tw-worker", "which owns the GPU", worker);
    auto opened = found ? GpuBench::open(*found, gpu, kMemoryBytes) : Expected<std::unique_ptr<GpuBench>>(found.error());
    if (!opened) return failed(opened.error());
    options.target = (*opened)->target().str();
    bench = std::move(*opened);
  }
  auto agent = Agent::create(std::move(options), *bench);
  if (!agent) return failed(agent.error());
  const auto ended = (*agent)->run(stop.get_token());
  return ended ? kDone : failed(ended.error());
}

int agent_main(int argc, char** argv) {
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "join") return join(argc, argv);
  if (role == "target" && argc == 2) {
    std::printf("%s\n", host_target().str().c_str());
    return kDone;
  }
  if (role == "--help" || role == "-h") {
    std::fputs(kHelp, stdout);
    return kDone;
  }
  if (role == "measure" && fcntl(process::kChannelFd, F_GETFD) >= 0) {
    sigset_t none;  // blocked signals are inherited
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    fcntl(process::kChannelFd, F_SETFD, FD_CLOEXEC);
    return measure::measure_role();
  }
  return usage("Expected 'join' or 'target'");
}

}  // namespace
}  // namespace tw::farm

int main(int argc, char** argv) {
  try {
    return tw::farm::agent_main(argc, argv);
  } catch (const tw::InternalError& e) {
    std::fprintf(stderr, "Internal error: %s\n", e.what());
    return 70;
  }
}
