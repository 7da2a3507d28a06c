// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/measure_role.h"

#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/candidate.h"
#include "engine/measure/device_lock.h"
#include "engine/measure/input_cache.h"
#include "engine/measure/limits.h"
#include "engine/measure/message_fields.h"
#include "engine/measure/network_race.h"
#include "engine/measure/network_run.h"
#include "engine/measure/peak.h"
#include "engine/measure/references.h"
#include "engine/measure/timing.h"
#include "engine/measure/worker.h"
#include "engine/process/child_process.h"
#include "engine/process/handshake.h"
#include "engine/process/limits.h"
#include "engine/process/watched_fork.h"

namespace tw::measure {

namespace {

using records::Status;

constexpr double kPeakSeconds = 0.02;

/// How long the first call of a candidate may take, after which it is known to be far off: not to be waited for. 0: as long as its run.
double first_call_limit(const MeasureJob& job) {
  constexpr double kLeast = 0.1, kFactor = 10;
  const double limit = std::max(kLeast, kFactor * job.incumbent_s);
  return far_off(limit, job.incumbent_s) && limit < job.run_limit_s ? limit : 0;
}

/// Lets go of the machine at the end of its scope.
struct Unlock {
  DeviceLock& lock;
  ~Unlock() { lock.release(); }
};

class MeasureServer {
 public:
  int serve();

 private:
  Json hello() const {
    Json out = process::hello("measure", kProtocolVersion);
    out["peak_flops"] = measure_peak_flops(kPeakSeconds);
    out["isolation"] = fork_.isolation();
    return out;
  }
  Expected<void> answer(const process::Frame& request);
  Expected<void> measure(const process::Frame& request);
  /// Runs networks in a process of their own; `work` says when the first run begins.
  using NetworkWork = std::function<Expected<process::Frame>(const std::function<void()>& begun)>;
  Expected<void> network(const NetworkRun& limits, const NetworkWork& work);
  Expected<void> race(const process::Frame& request);
  Expected<void> references();
  process::Frame network_main(const NetworkRun& limits, const NetworkWork& work);
  process::Frame child_main(const MeasureJob& job, const process::Frame& request, std::span<const std::byte* const> inputs, double inputs_s);
  Json verdict(const MeasureJob& job, const process::ForkEnd& w) const;

  process::WatchedFork fork_;
  InputCache inputs_;
  DeviceLock lock_;
};

int MeasureServer::serve() {
  process::raise_priority();
  if (!process::write_frame(process::kChannelFd, hello())) return 1;
  for (;;) {
    auto request = process::read_frame(process::kChannelFd);
    if (!request) return 1;
    if (!*request) return 0;
    if (!answer(**request)) return 1;
  }
}

Expected<void> MeasureServer::answer(const process::Frame& request) {
  const Json& h = request.header;
  const std::string command = h.contains("command") && h["command"].is_string() ? h["command"].get<std::string>() : "";
  if (command == "measure") return measure(request);
  if (command == "peak") return process::write_frame(process::kChannelFd, Json{{"peak_flops", measure_peak_flops(2 * kPeakSeconds)}});
  if (command == "references") return references();
  if (command == kRaceCommand) return race(request);
  if (command == kNetworkCommand) {
    TW_TRY(const NetworkRun run, network_run_from_json(h));
    return network(run, [&](const std::function<void()>& begun) -> Expected<process::Frame> {
      TW_TRY(const NetworkRunTimes times, run_network(run, request.payload, begun));
      return to_frame(times);
    });
  }
  return Error(ErrorCode::parse_error, fmt::format("Unknown command \"{}\"", printable(command)));
}

Expected<void> MeasureServer::references() {
  TW_CHECK(lock_.take_turn(kProcessors));
  const Unlock unlock{lock_};
  const References r = measure_references();
  return process::write_frame(process::kChannelFd, Json{{"flop_per_s", r.flop_per_s}, {"bytes_per_s", r.bytes_per_s}});
}

Expected<void> MeasureServer::race(const process::Frame& request) {
  TW_TRY(const NetworkJob job, network_job_from_json(request.header));
  Fields f(request.header);
  NetworkRun limits;
  limits.run_limit_s = job.run_limit_s;
  limits.memory_bytes = f.number<int64_t>("memory_bytes");
  if (f.error()) return *f.error();
  return network(limits, [&](const std::function<void()>& begun) -> Expected<process::Frame> {
    TW_TRY(auto variants, networks_from_bytes(request.payload));
    if (variants.size() != job.files.size()) return Error(ErrorCode::parse_error, "Expected as many networks as the job has, found another number");
    NetworkRace race(job, std::move(variants));
    TW_CHECK(race.load_here());
    begun();
    TW_TRY(NetworkTimes times, race.run());
    process::Frame frame = to_frame(std::move(times));
    frame.header["status"] = "ok";
    return frame;
  });
}

process::Frame MeasureServer::network_main(const NetworkRun& run, const NetworkWork& work) {
  const auto processors = static_cast<double>(std::max(1u, std::thread::hardware_concurrency()));
  limit_candidate(run.memory_bytes, processors * (run.run_limit_s + run.startup_limit_s) + 2);
  process::SharedPhase& shared = fork_.shared();
  const auto failed = [](const std::string& why) {
    MeasureReply reply;
    reply.status = Status::load_fail;
    reply.message = why;
    return process::Frame{reply_header(reply), {}};
  };
  shared.phase = process::Phase::load;
  try {
    auto frame = work([&] {
      shared.run_start_ns = static_cast<int64_t>(clock_now_s(CLOCK_MONOTONIC) * 1e9);
      shared.phase = process::Phase::run;
    });
    return frame ? std::move(*frame) : failed(frame.error().text());
  } catch (const InternalError& e) {
    return failed(fmt::format("Internal error: {}", e.what()));
  }
}

Expected<void> MeasureServer::network(const NetworkRun& run, const NetworkWork& work) {
  TW_CHECK(lock_.take_turn(kProcessors));
  const Unlock unlock{lock_};
  TW_CHECK(process::write_frame(process::kChannelFd, Json{{"started", true}}));
  const auto end = fork_.run({run.startup_limit_s, run.run_limit_s, static_cast<uint64_t>(run.memory_bytes)}, [&] { return network_main(run, work); });
  MeasureJob limits;
  limits.startup_limit_s = run.startup_limit_s;
  limits.run_limit_s = run.run_limit_s;
  limits.memory_bytes = run.memory_bytes;
  MeasureReply refused;
  if (!end) refused.message = end.error().text();
  if (!end) return process::write_frame(process::kChannelFd, reply_header(refused));
  if (end->abandoned) return Error(ErrorCode::cancelled, "The program that asked is gone");
  const Json header = verdict(limits, *end);
  const bool whole = end->frame && header["status"] == "ok";
  return process::write_frame(process::kChannelFd, header, whole ? std::span<const std::byte>(end->frame->payload) : std::span<const std::byte>());
}

process::Frame MeasureServer::child_main(const MeasureJob& job, const process::Frame& request, std::span<const std::byte* const> inputs, double inputs_s) {
  limit_candidate(job.tensor_bytes() + job.memory_bytes, job.cores * (job.run_limit_s + job.startup_limit_s) + 2);
  std::vector<std::byte> payload;
  MeasureReply reply;
  try {
    reply = run_candidate({job, request.payload, inputs, fork_.shared(), inputs_s}, payload);
  } catch (const InternalError& e) {
    reply.id = job.id;
    reply.message = fmt::format("Internal error: {}", e.what());
  }
  return {reply_header(reply), std::move(payload)};
}

Expected<void> MeasureServer::measure(const process::Frame& request) {
  TW_TRY(const MeasureJob job, measure_job_from_json(request.header));
  const auto refuse = [&](const std::string& why) {
    MeasureReply reply;
    reply.id = job.id;
    reply.message = why;
    return process::write_frame(process::kChannelFd, reply_header(reply));
  };
  const double start = clock_now_s(CLOCK_MONOTONIC);
  const auto inputs = inputs_.get(job);
  if (!inputs) return refuse(inputs.error().text());
  const double inputs_s = clock_now_s(CLOCK_MONOTONIC) - start;
  TW_CHECK(lock_.take_turn(kProcessors));
  const Unlock unlock{lock_};
  TW_CHECK(process::write_frame(process::kChannelFd, Json{{"started", job.id}}));  // from here on the program's clock for this candidate runs
  const process::ForkLimits limits{job.startup_limit_s, job.run_limit_s, static_cast<uint64_t>(job.tensor_bytes()), first_call_limit(job)};
  const auto end = fork_.run(limits, [&] { return child_main(job, request, *inputs, inputs_s); });
  if (!end) return refuse(end.error().text());
  if (end->abandoned) return Error(ErrorCode::cancelled, "The program that asked is gone");
  const Json header = verdict(job, *end);
  const bool whole = end->frame && header["status"] == "ok";
  return process::write_frame(process::kChannelFd, header, whole ? std::span<const std::byte>(end->frame->payload) : std::span<const std::byte>());
}

Json MeasureServer::verdict(const MeasureJob& job, const process::ForkEnd& w) const {
  MeasureReply reply;
  reply.id = job.id;
  const auto say = [&](Status status, std::string message) {
    reply.status = status;
    reply.message = std::move(message);
    if (!w.printed.empty()) reply.message += fmt::format("; it printed: {}", printable(trim(w.printed)));
    return reply_header(reply);
  };
  if (w.suspended_s > 0.5) return say(Status::infra, "The machine was suspended during the run");
  if (w.stopped) return say(Status::infra, "Somebody stopped the candidate from outside");
  if (w.timed_out && w.phase == process::Phase::setup)
    return say(Status::infra, fmt::format("Preparing the arguments took more than {:g} s", job.startup_limit_s));
  if (w.timed_out && w.phase == process::Phase::load)
    return say(Status::load_fail, fmt::format("Loading the object took more than {:g} s", job.startup_limit_s));
  if (const double limit = first_call_limit(job); w.timed_out && w.phase == process::Phase::first && limit > 0) {
    reply.status = Status::ok;
    reply.samples_s = {limit};
    reply.flags = {false};
    reply.censored = true;
    reply.run_s = limit;
    return reply_header(reply);
  }
  if (w.timed_out) return say(Status::run_timeout, fmt::format("The run took more than {:g} s", job.run_limit_s));
  if (WIFSIGNALED(w.status) && WTERMSIG(w.status) == SIGKILL) {
    return w.out_of_memory ? say(Status::out_of_memory, "The system killed the candidate for lack of memory")
                           : say(Status::infra, "Somebody killed the candidate from outside");
  }
  if (WIFEXITED(w.status) && WEXITSTATUS(w.status) == process::kExitOutOfMemory) {
    return say(Status::out_of_memory,
               fmt::format("The candidate asked for more than {} of memory beyond its arrays", si_text(static_cast<double>(job.memory_bytes), "B")));
  }
  if (w.frame) return w.frame->header;
  const std::string how = WIFSIGNALED(w.status)                                          ? process::signal_name(WTERMSIG(w.status))
                          : WIFEXITED(w.status) && WEXITSTATUS(w.status) == kExitAborted ? "SIGABRT"
                                                                                         : fmt::format("exit code {} and no result", WEXITSTATUS(w.status));
  switch (w.phase) {
    case process::Phase::setup:
      return say(Status::infra, fmt::format("The process ended with {} before the candidate was loaded", how));
    case process::Phase::load:
      return say(Status::load_fail, fmt::format("Loading the object ended with {}", how));
    case process::Phase::first:
    case process::Phase::run:
    case process::Phase::done:
      return say(Status::run_crash, fmt::format("The run ended with {}", how));
  }
  TW_UNREACHABLE("phase");
}

}  // namespace

int measure_role() {
  mallopt(M_ARENA_MAX, 1);  // arenas of further threads reserve address space that a candidate's limit would count
  MeasureServer server;
  return server.serve();
}

}  // namespace tw::measure
