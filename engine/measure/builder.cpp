// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <deque>
#include <thread>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/measure.h"
#include "engine/measure/worker.h"
#include "engine/process/handshake.h"
#include "engine/process/limits.h"
#include "engine/process/process_state.h"
#include "engine/process/wake.h"

namespace tw::measure {

namespace {

using records::Status;
using Clock = std::chrono::steady_clock;

constexpr int kMaxStartFailures = 3;
constexpr int kAttempts = 2;  ///< a crash counts only if a fresh process crashes as well
constexpr const char* kKernelName = "kernel";

std::string with_printed(std::string message, const std::string& printed) {
  constexpr size_t kShown = 2000;
  const std::string_view tail = trim(printed.size() > kShown ? std::string_view(printed).substr(printed.size() - kShown) : std::string_view(printed));
  return tail.empty() ? message : message + "; it printed: " + printable(tail);
}

struct Job {
  int index = -1;
  int attempt = 0;
};

/// One build process and what it is doing.
struct Slot {
  enum class State { none, starting, idle, busy };
  State state = State::none;
  std::unique_ptr<process::ChildProcess> process;
  std::string task_key;  ///< told last
  Job job;
  std::optional<int64_t> memory_kills;  ///< when it was given the job
  process::Deadline deadline;
  Clock::time_point assigned;
};

class LocalBuilder final : public Builder {
 public:
  LocalBuilder(std::string worker, const WorkerOptions& options) : worker_(std::move(worker)), options_(options) {
    slots_.resize(options.jobs > 0 ? static_cast<size_t>(options.jobs) : std::max(1U, std::thread::hardware_concurrency()));
  }

  std::vector<BuildOutcome> build(const records::Task& task, std::span<const records::Candidate> candidates, StopToken stop) override {
    Round round{task, candidates, {}, {}, {}, 0};
    round.outcomes.assign(candidates.size(), {Status::cancelled, "Stopped before it was built", nullptr, 0});
    for (size_t i = 0; i < candidates.size(); ++i) round.queue.push_back({static_cast<int>(i), 0});
    round.task_message = Json{{"command", "task"}, {"dag", te::print(*task.dag)}, {"target", to_json(task.target)}};
    const process::StopFd stop_fd(stop);
    start_failures_ = 0;
    while (round.done < candidates.size()) {
      if (stop.stop_requested()) {
        drop_busy();
        break;
      }
      staff(round);
      if (round.done < candidates.size()) wait_for_news(round, stop_fd);
    }
    return std::move(round.outcomes);
  }

 private:
  struct Round {
    const records::Task& task;
    std::span<const records::Candidate> candidates;
    std::vector<BuildOutcome> outcomes;
    std::deque<Job> queue;
    Json task_message;
    size_t done = 0;
  };

  /// Starts processes as long as there is more work than idle ones, and hands out work.
  void staff(Round& round) {
    size_t unserved = round.queue.size();
    for (Slot& slot : slots_) {
      if (unserved == 0 || round.queue.empty() || slot.state == Slot::State::busy) continue;
      if (slot.state == Slot::State::none) start(slot, round);
      if (slot.state == Slot::State::idle && !round.queue.empty()) assign(slot, round);
      if (slot.state != Slot::State::none) --unserved;
    }
  }

  void start(Slot& slot, Round& round) {
    auto process = start_worker(worker_, "build", options_.memory_bytes);
    if (!process) return start_failed(slot, round, process.error().text());
    slot.process = std::move(*process);
    slot.state = Slot::State::starting;
    slot.task_key.clear();
    slot.deadline = Clock::now() + process::in_seconds(kStartupSeconds);
  }

  void start_failed(Slot& slot, Round& round, const std::string& why) {
    slot = Slot();
    if (++start_failures_ < kMaxStartFailures) return;
    for (const Job& job : round.queue) finish(round, job, {Status::infra, fmt::format("The build worker does not start: {}", why), nullptr, 0});
    round.queue.clear();
  }

  void assign(Slot& slot, Round& round) {
    const Job job = round.queue.front();
    const process::Deadline deadline = Clock::now() + process::in_seconds(options_.build_timeout_s);
    Expected<void> sent;
    if (slot.task_key != round.task.key) sent = slot.process->send(round.task_message, {}, deadline);
    const records::Candidate& candidate = round.candidates[static_cast<size_t>(job.index)];
    if (sent) {
      sent =
          slot.process->send(Json{{"command", "build"}, {"id", job.index}, {"name", kKernelName}, {"steps", schedule::to_json(candidate.steps)}}, {}, deadline);
    }
    if (!sent) return start_failed(slot, round, with_printed(sent.error().text(), slot.process->printed()));  // it died while idle
    round.queue.pop_front();
    slot.task_key = round.task.key;
    slot.job = job;
    slot.memory_kills = process::memory_kills();
    slot.assigned = Clock::now();
    slot.deadline = slot.assigned + process::in_seconds(options_.build_timeout_s);
    slot.state = Slot::State::busy;
    moved(static_cast<size_t>(job.index), Stage::building);
  }

  void wait_for_news(Round& round, const process::StopFd& stop_fd) {
    std::vector<pollfd> fds{{stop_fd.fd(), POLLIN, 0}};
    process::Deadline first = Clock::now() + std::chrono::seconds(1);
    for (const Slot& slot : slots_) {
      const bool waiting = slot.state == Slot::State::busy || slot.state == Slot::State::starting;
      fds.push_back({waiting ? slot.process->channel() : -1, POLLIN, 0});
      fds.push_back({waiting ? slot.process->output() : -1, POLLIN, 0});
      if (waiting) first = std::min(first, slot.deadline);
    }
    process::poll_until(fds, first);
    for (size_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_[i];
      if (fds[2 * i + 2].revents != 0) slot.process->drain_output();
      if (fds[2 * i + 1].revents != 0) {
        read(slot, round);
      } else if (fds[2 * i + 1].fd >= 0 && Clock::now() >= slot.deadline) {
        late(slot, round);
      }
    }
  }

  void read(Slot& slot, Round& round) {
    auto frame = slot.process->receive();
    if (!frame) return died(slot, round, frame.error());
    if (!*frame) return;
    if (slot.state == Slot::State::starting) {
      if (const auto hello = process::check_hello(**frame, "build", kProtocolVersion); !hello) {
        start_failures_ = kMaxStartFailures;  // another one would be the same
        return start_failed(slot, round, hello.error().text());
      }
      slot.state = Slot::State::idle;
      start_failures_ = 0;
      return;
    }
    auto outcome = outcome_of(**frame, slot, round.task);
    if (!outcome) return died(slot, round, outcome.error());
    if (outcome->seconds > options_.build_timeout_s) outcome = timed_out();  // we looked too late to stop it
    finish(round, slot.job, std::move(*outcome));
    slot.state = Slot::State::idle;
  }

  static Expected<BuildOutcome> outcome_of(process::Frame& frame, const Slot& slot, const records::Task& task) {
    const Json& h = frame.header;
    const auto has = [&](const char* key, bool (*is)(const Json&)) { return h.contains(key) && is(h[key]); };
    const auto number = [](const Json& j) { return j.is_number(); };
    const auto text = [](const Json& j) { return j.is_string(); };
    if (!has("id", number) || !has("seconds", number) || !has("status", text) || !has("message", text) || h["id"] != slot.job.index) {
      return Error(ErrorCode::parse_error, fmt::format("Expected the outcome of build {}, found {}", slot.job.index, printable(dump_json(h))));
    }
    BuildOutcome outcome{records::status_from_name(h["status"].get<std::string>()), h["message"].get<std::string>(), nullptr, h["seconds"].get<double>()};
    if (outcome.status != Status::ok) return outcome;
    if (!h.contains("signature")) return Error(ErrorCode::parse_error, "Expected a signature beside an object");
    TW_TRY(runtime::KernelSignature signature, runtime::signature_from_json(h["signature"]));
    auto artifact = std::make_shared<runtime::Artifact>();
    artifact->target = task.target.str();
    artifact->kernels = {std::move(signature)};
    if (task.target.gpu) {
      if (!h.contains("gpu")) return Error(ErrorCode::parse_error, "Expected code for a GPU from the build worker");
      TW_TRY(runtime::GpuFunction function, runtime::gpu_function_from_json(h["gpu"]));
      function.images[task.target.gpu->capability] = std::move(frame.payload);
      artifact->gpu.push_back(std::move(function));
    } else {
      artifact->object = std::move(frame.payload);
    }
    outcome.artifact = std::move(artifact);
    return outcome;
  }

  /// The channel broke. A candidate is blamed only if two processes in a row died over it.
  void died(Slot& slot, Round& round, const Error& error) {
    if (slot.state == Slot::State::starting) {
      const process::ProcessEnd end = slot.process->reap();
      return start_failed(slot, round, with_printed(fmt::format("it ended with {}", end.text()), slot.process->printed()));
    }
    Job job = slot.job;
    const process::ProcessEnd end = error.code == ErrorCode::crash ? slot.process->reap() : slot.process->kill();
    BuildOutcome outcome = classify(end, error, slot);
    outcome.seconds = std::chrono::duration<double>(Clock::now() - slot.assigned).count();
    slot = Slot();
    if (++job.attempt < kAttempts) {
      round.queue.push_front(job);
    } else {
      finish(round, job, std::move(outcome));
    }
  }

  BuildOutcome classify(const process::ProcessEnd& end, const Error& error, const Slot& slot) const {
    const std::string& printed = slot.process->printed();
    const auto kills = process::memory_kills();
    if (end.signal == SIGKILL && !end.killed_by_us && !(kills && slot.memory_kills && *kills > *slot.memory_kills))
      return {Status::infra, "Somebody killed the build worker from outside", nullptr, 0};
    if (end.killed_by_us) return {Status::infra, with_printed(fmt::format("The build worker broke the protocol: {}", error.text()), printed), nullptr, 0};
    const bool said_so = printed.find("ut of memory") != std::string::npos;  // LLVM's last words
    if (end.code == process::kExitOutOfMemory || end.signal == SIGKILL || said_so) {
      return {Status::out_of_memory, fmt::format("The compiler needed more than {}", si_text(static_cast<double>(options_.memory_bytes), "B")), nullptr, 0};
    }
    return {Status::build_crash, with_printed(fmt::format("The compiler ended with {}", end.text()), printed), nullptr, 0};
  }

  void late(Slot& slot, Round& round) {
    const bool starting = slot.state == Slot::State::starting;
    Job job = slot.job;
    const auto state = process::state_of(slot.process->pid());
    slot.process->kill();
    if (!starting && state && state->stopped) {  // whatever it was doing, it was not given its time
      slot = Slot();
      if (++job.attempt < kAttempts) {
        round.queue.push_front(job);
      } else {
        finish(round, job, {Status::infra, "Somebody stopped the build worker from outside", nullptr, 0});
      }
      return;
    }
    if (starting) return start_failed(slot, round, fmt::format("it said nothing for {:g} s", kStartupSeconds));
    finish(round, job, timed_out());
    slot = Slot();
  }

  BuildOutcome timed_out() const {
    return {Status::build_timeout, fmt::format("Compiling took more than {:g} s", options_.build_timeout_s), nullptr, options_.build_timeout_s};
  }

  void finish(Round& round, const Job& job, BuildOutcome outcome) {
    round.outcomes[static_cast<size_t>(job.index)] = std::move(outcome);
    ++round.done;
    moved(static_cast<size_t>(job.index), Stage::built);
  }

  void drop_busy() {
    for (Slot& slot : slots_) {
      if (slot.state == Slot::State::busy) slot = Slot();
    }
  }

  std::string worker_;
  WorkerOptions options_;
  std::vector<Slot> slots_;
  int start_failures_ = 0;
};

}  // namespace

Expected<std::unique_ptr<Builder>> local_builder(const WorkerOptions& options) {
  TW_TRY(std::string worker, find_worker(options.worker_path));
  return std::unique_ptr<Builder>(std::make_unique<LocalBuilder>(std::move(worker), options));
}

}  // namespace tw::measure
