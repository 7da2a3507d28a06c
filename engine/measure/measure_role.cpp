// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/measure_role.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/measure/candidate.h"
#include "engine/measure/device_lock.h"
#include "engine/measure/input_cache.h"
#include "engine/measure/limits.h"
#include "engine/measure/peak.h"
#include "engine/measure/references.h"
#include "engine/measure/worker.h"
#include "engine/process/child_process.h"
#include "engine/process/handshake.h"
#include "engine/process/limits.h"
#include "engine/process/sandbox.h"

namespace tw::measure {

namespace {

using records::Status;

constexpr double kPeakSeconds = 0.02;
constexpr size_t kShownLimit = 2000;

struct Pipe {
  int read = -1, write = -1;
  bool open() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    read = fds[0];
    write = fds[1];
    ::fcntl(read, F_SETFL, O_NONBLOCK);
    return true;
  }
  void close_write() {
    if (write >= 0) ::close(std::exchange(write, -1));
  }
  ~Pipe() {
    close_write();
    if (read >= 0) ::close(read);
  }
};

/// What the watching process learned about one candidate.
struct Watch {
  process::FrameReader reader;
  std::optional<process::Frame> frame;
  std::string printed;
  bool result_open = true, output_open = true;
  bool timed_out = false, abandoned = false;  ///< abandoned: the program that asked is gone
  int status = 0;
  Phase phase = Phase::setup;
  double suspended_s = 0;
};

/// Lets go of the machine at the end of its scope.
struct Unlock {
  DeviceLock& lock;
  ~Unlock() { lock.release(); }
};

class MeasureServer {
 public:
  MeasureServer() {
    void* p = ::mmap(nullptr, sizeof(SharedPhase), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TW_ASSERT(p != MAP_FAILED, "no memory for a page");
    shared_ = new (p) SharedPhase();
    [[maybe_unused]] const auto warm = codegen::load_object({});  // refused, but brings the loader up once instead of in every candidate
  }
  int serve();

 private:
  Json hello() const {
    Json out = process::hello("measure", kProtocolVersion);
    out["peak_flops"] = measure_peak_flops(kPeakSeconds);
    out["isolation"] = sandbox_.name();
    return out;
  }
  Expected<void> answer(const process::Frame& request);
  Expected<void> measure(const process::Frame& request);
  Expected<void> references();
  [[noreturn]] void child_main(const MeasureJob& job, const process::Frame& request, std::span<const std::byte* const> inputs, int result_fd, int output_fd);
  void watch(const MeasureJob& job, const process::ForkedChild& child, int result_fd, int output_fd, Watch& w);
  void read_pipes(int result_fd, int output_fd, Watch& w);
  Json verdict(const MeasureJob& job, const Watch& w) const;

  SharedPhase* shared_;
  process::Sandbox sandbox_;
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
  return Error(ErrorCode::parse_error, fmt::format("Unknown command \"{}\"", printable(command)));
}

Expected<void> MeasureServer::references() {
  if (!lock_.acquire(&process::peer_is_there)) return Error(ErrorCode::cancelled, "The program that asked is gone");
  const Unlock unlock{lock_};
  const References r = measure_references();
  return process::write_frame(process::kChannelFd, Json{{"flop_per_s", r.flop_per_s}, {"bytes_per_s", r.bytes_per_s}});
}

void MeasureServer::child_main(const MeasureJob& job, const process::Frame& request, std::span<const std::byte* const> inputs, int result_fd, int output_fd) {
  process::enter_child(result_fd, output_fd);
  limit_candidate(job.tensor_bytes() + job.memory_bytes, job.cores * (job.run_limit_s + job.startup_limit_s) + 2);
  std::vector<std::byte> payload;
  MeasureReply reply;
  try {
    reply = run_candidate({job, request.payload, inputs, *shared_}, payload);
  } catch (const InternalError& e) {
    reply.id = job.id;
    reply.message = fmt::format("Internal error: {}", e.what());
  } catch (const std::bad_alloc&) {
    _exit(process::kExitOutOfMemory);
  }
  const auto written = process::write_frame(process::kChannelFd, reply_header(reply), payload);
  _exit(written ? 0 : 1);
}

Expected<void> MeasureServer::measure(const process::Frame& request) {
  TW_TRY(const MeasureJob job, measure_job_from_json(request.header));
  const auto refuse = [&](const std::string& why) {
    MeasureReply reply;
    reply.id = job.id;
    reply.message = why;
    return process::write_frame(process::kChannelFd, reply_header(reply));
  };
  const auto inputs = inputs_.get(job);
  if (!inputs) return refuse(inputs.error().text());
  Pipe result, output;
  if (!result.open() || !output.open()) return refuse(fmt::format("Making a pipe failed: {}", std::strerror(errno)));
  shared_->phase = Phase::setup;
  shared_->run_start_ns = 0;

  if (!lock_.acquire(&process::peer_is_there)) return Error(ErrorCode::cancelled, "The program that asked is gone");
  const Unlock unlock{lock_};
  TW_CHECK(process::write_frame(process::kChannelFd, Json{{"started", job.id}}));  // from here on the program's clock for this candidate runs
  const process::ForkedChild child = sandbox_.fork();
  if (child.pid == 0) child_main(job, request, *inputs, result.write, output.write);
  if (child.pid < 0) return refuse(fmt::format("Forking a process for the candidate failed: {}", std::strerror(errno)));
  result.close_write();
  output.close_write();
  Watch w;
  w.reader = process::FrameReader(static_cast<uint64_t>(job.tensor_bytes()) + 4096);
  watch(job, child, result.read, output.read, w);
  if (w.abandoned) return Error(ErrorCode::cancelled, "The program that asked is gone");
  const Json header = verdict(job, w);
  const bool whole = w.frame && header["status"] == "ok";
  return process::write_frame(process::kChannelFd, header, whole ? std::span<const std::byte>(w.frame->payload) : std::span<const std::byte>());
}

void MeasureServer::read_pipes(int result_fd, int output_fd, Watch& w) {
  char buffer[4096];
  for (ssize_t n = 1; w.output_open && n > 0;) {
    n = ::read(output_fd, buffer, sizeof buffer);
    if (n == 0) w.output_open = false;
    if (n > 0) w.printed.append(buffer, static_cast<size_t>(n));
    if (w.printed.size() > 2 * kShownLimit) w.printed.erase(0, w.printed.size() - kShownLimit);
  }
  if (!w.result_open) return;
  const auto open = w.reader.fill(result_fd);
  w.result_open = open && *open;
  if (w.frame) return;
  auto next = w.reader.next();
  if (next) {
    w.frame = std::move(*next);
  } else {
    w.result_open = false;  // rubbish: the verdict will be that there is no result
  }
}

void MeasureServer::watch(const MeasureJob& job, const process::ForkedChild& child, int result_fd, int output_fd, Watch& w) {
  const double start = clock_now_s(CLOCK_MONOTONIC), asleep = clock_now_s(CLOCK_BOOTTIME) - start;
  const double last = start + job.startup_limit_s + job.run_limit_s;  // whatever the shared page says
  for (;;) {
    const double now = clock_now_s(CLOCK_MONOTONIC);
    const bool running = shared_->phase.load() >= Phase::run;
    const double limit = running ? 1e-9 * static_cast<double>(shared_->run_start_ns.load()) + job.run_limit_s : start + job.startup_limit_s;
    const double left = std::min(limit, last) - now;
    if (left <= 0) {
      w.timed_out = true;
      break;
    }
    // A candidate that has not begun to run is looked at again soon, since its limit changes when it does.
    const double wait = running ? left : std::min(left, std::max(0.01, job.run_limit_s / 4));
    pollfd fds[4] = {{child.pidfd, POLLIN, 0},
                     {w.result_open ? result_fd : -1, POLLIN, 0},
                     {w.output_open ? output_fd : -1, POLLIN, 0},
                     {process::kChannelFd, POLLRDHUP, 0}};
    ::poll(fds, 4, static_cast<int>(wait * 1e3) + 1);
    if ((fds[3].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
      w.abandoned = true;
      break;
    }
    if (fds[0].revents != 0) break;
    if ((fds[1].revents | fds[2].revents) != 0) read_pipes(result_fd, output_fd, w);
  }
  w.phase = shared_->phase;
  w.status = w.timed_out || w.abandoned ? sandbox_.kill_and_wait(child) : sandbox_.wait(child);
  read_pipes(result_fd, output_fd, w);  // what it left behind
  w.suspended_s = clock_now_s(CLOCK_BOOTTIME) - clock_now_s(CLOCK_MONOTONIC) - asleep;
}

Json MeasureServer::verdict(const MeasureJob& job, const Watch& w) const {
  MeasureReply reply;
  reply.id = job.id;
  const auto say = [&](Status status, std::string message) {
    reply.status = status;
    reply.message = std::move(message);
    if (!w.printed.empty()) reply.message += fmt::format("; it printed: {}", printable(trim(w.printed)));
    return reply_header(reply);
  };
  if (w.suspended_s > 0.5) return say(Status::infra, "The machine was suspended during the run");
  if (w.timed_out && w.phase == Phase::setup) return say(Status::infra, fmt::format("Preparing the arguments took more than {:g} s", job.startup_limit_s));
  if (w.timed_out && w.phase == Phase::load) return say(Status::load_fail, fmt::format("Loading the object took more than {:g} s", job.startup_limit_s));
  if (w.timed_out) return say(Status::run_timeout, fmt::format("The run took more than {:g} s", job.run_limit_s));
  if (WIFSIGNALED(w.status) && WTERMSIG(w.status) == SIGKILL)
    return say(Status::out_of_memory, "The system killed the candidate, most likely for lack of memory");
  if (WIFEXITED(w.status) && WEXITSTATUS(w.status) == process::kExitOutOfMemory) {
    return say(Status::out_of_memory,
               fmt::format("The candidate asked for more than {} of memory beyond its arrays", si_text(static_cast<double>(job.memory_bytes), "B")));
  }
  if (WIFEXITED(w.status) && WEXITSTATUS(w.status) == 0 && w.frame) return w.frame->header;
  const std::string how = WIFSIGNALED(w.status)                                          ? process::signal_name(WTERMSIG(w.status))
                          : WIFEXITED(w.status) && WEXITSTATUS(w.status) == kExitAborted ? "SIGABRT"
                                                                                         : fmt::format("exit code {} and no result", WEXITSTATUS(w.status));
  switch (w.phase) {
    case Phase::setup:
      return say(Status::infra, fmt::format("The process ended with {} before the candidate was loaded", how));
    case Phase::load:
      return say(Status::load_fail, fmt::format("Loading the object ended with {}", how));
    case Phase::run:
    case Phase::done:
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
