// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/network_role.h"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/measure/device_lock.h"
#include "engine/measure/interpreted_gpu.h"
#include "engine/measure/limits.h"
#include "engine/measure/network_executor.h"
#include "engine/measure/network_race.h"
#include "engine/measure/worker.h"
#include "engine/process/handshake.h"
#include "engine/process/limits.h"
#include "engine/process/watched_fork.h"
#include "engine/target/target.h"

namespace tw::measure {

namespace {

using ExecutablePtr = NetworkRace::ExecutablePtr;

/// Bytes that an executor takes for a network.
int64_t network_bytes(const runtime::Executable& e) {
  int64_t total = e.arena_bytes;
  for (const runtime::Slot& slot : e.slots)
    if (slot.kind != runtime::Slot::Kind::intermediate) total += slot.spec.physical_bytes();
  return total;
}

class NetworkServer {
 public:
  explicit NetworkServer(int64_t memory_bytes) : memory_bytes_(memory_bytes) {}

  int serve() {
    process::raise_priority();
    if (!process::write_frame(process::kChannelFd, process::hello("network", kProtocolVersion))) return 1;
    for (;;) {
      auto request = process::read_frame(process::kChannelFd);
      if (!request) return 1;
      if (!*request) return 0;
      if (!answer(**request)) return 1;
    }
  }

 private:
  Expected<void> answer(const process::Frame& request) {
    TW_TRY(const NetworkJob job, network_job_from_json(request.header));
    const auto refuse = [](const std::string& why) { return process::write_frame(process::kChannelFd, Json{{"error", why}}); };
    if (auto loaded = load_files(job.files); !loaded) return refuse(loaded.error().text());
    std::vector<ExecutablePtr> variants;
    for (const std::string& file : job.files) variants.push_back(loaded_.at(file));
    std::shared_ptr<runtime::GpuDevice> gpu;
    if (!job.device.empty()) {
      auto opened = open_gpu(job.device);
      if (!opened) return refuse(opened.error().text());
      gpu = std::move(*opened);
    }
    DeviceLock lock(gpu ? (gpu->properties().uuid.empty() ? job.device : gpu->properties().uuid) : "");
    TW_CHECK(lock.take_turn(gpu ? gpu->name() : kProcessors));
    TW_CHECK(process::write_frame(process::kChannelFd, Json{{"started", true}}));  // from here on the program's clock runs
    if (gpu) {
      const process::Frame frame = race(job, variants, gpu);
      return process::write_frame(process::kChannelFd, frame.header, frame.payload);
    }
    return race_in_child(job, variants);
  }

  /// Keeps what the last job used.
  Expected<void> load_files(const std::vector<std::string>& files) {
    std::erase_if(loaded_, [&](const auto& entry) { return std::find(files.begin(), files.end(), entry.first) == files.end(); });
    for (const std::string& file : files) {
      if (loaded_.count(file) != 0) continue;
      TW_TRY(runtime::Executable e, runtime::load_executable(file));
      loaded_[file] = std::make_shared<const runtime::Executable>(std::move(e));
    }
    return {};
  }

  static Expected<void> load(NetworkRace& race, const std::string& code, const std::shared_ptr<runtime::GpuDevice>& gpu) {
    if (gpu) return race.load([&](const ExecutablePtr& variant) { return network_executor(variant, gpu); }, true);
    TW_TRY(const Target target, parse_target(code));
    TW_CHECK(check_processor(target));
    return race.load_here();
  }

  process::Frame race(const NetworkJob& job, const std::vector<ExecutablePtr>& variants, const std::shared_ptr<runtime::GpuDevice>& gpu) {
    const auto times = [&]() -> Expected<NetworkTimes> {
      NetworkRace race(job, variants);
      fork_.shared().phase = process::Phase::load;
      TW_CHECK(load(race, variants[0]->target, gpu));
      fork_.shared().run_start_ns = static_cast<int64_t>(clock_now_s(CLOCK_MONOTONIC) * 1e9);
      fork_.shared().phase = process::Phase::run;
      return race.run();
    };
    try {
      auto done = times();
      return done ? to_frame(std::move(*done)) : process::Frame{Json{{"error", done.error().text()}}, {}};
    } catch (const InternalError& e) {
      return {Json{{"error", fmt::format("Internal error: {}", e.what())}}, {}};
    }
  }

  Expected<void> race_in_child(const NetworkJob& job, const std::vector<ExecutablePtr>& variants) {
    TW_TRY(const Target target, parse_target(variants[0]->target));
    int64_t bytes = memory_bytes_;
    for (const ExecutablePtr& e : variants) bytes += network_bytes(*e);
    const process::ForkLimits limits{kStartupSeconds, job.run_limit_s, static_cast<uint64_t>(bytes)};
    const auto end = fork_.run(limits, [&] {
      limit_candidate(bytes, target.cores * (limits.run_s + limits.startup_s) + 2);
      return race(job, variants, nullptr);
    });
    if (end && end->abandoned) return Error(ErrorCode::cancelled, "The program that asked is gone");
    if (end && end->frame && end->suspended_s < kSlept) return process::write_frame(process::kChannelFd, end->frame->header, end->frame->payload);
    return process::write_frame(process::kChannelFd, Json{{"error", end ? how_it_ended(*end, limits) : end.error().text()}});
  }

  static std::string how_it_ended(const process::ForkEnd& end, const process::ForkLimits& limits) {
    std::string text;
    if (end.suspended_s >= kSlept) {
      text = "The machine was suspended while the network ran";
    } else if (end.stopped) {
      text = "Somebody stopped the network from outside";
    } else if (end.timed_out) {
      text = end.phase < process::Phase::run ? fmt::format("Loading the network took more than {:g} s", limits.startup_s)
                                             : fmt::format("Running the network took more than {:g} s", limits.run_s);
    } else if (WIFSIGNALED(end.status)) {
      text = fmt::format("The network ended with {}", process::signal_name(WTERMSIG(end.status)));
    } else if (WEXITSTATUS(end.status) == process::kExitOutOfMemory) {
      text = "The network ran out of memory";
    } else {
      text =
          fmt::format("The network ended with {}", WEXITSTATUS(end.status) == kExitAborted ? "SIGABRT" : fmt::format("exit code {}", WEXITSTATUS(end.status)));
    }
    return end.printed.empty() ? text : fmt::format("{}; it printed: {}", text, printable(trim(end.printed)));
  }

  static constexpr double kSlept = 0.5;
  int64_t memory_bytes_;
  process::WatchedFork fork_;
  std::map<std::string, ExecutablePtr> loaded_;
};

}  // namespace

int network_role(int64_t memory_bytes) {
  mallopt(M_ARENA_MAX, 1);  // as in measure_role
  return NetworkServer(memory_bytes).serve();
}

}  // namespace tw::measure
