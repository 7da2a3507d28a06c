// SPDX-License-Identifier: Apache-2.0
#include "app/cli/case_pool.h"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <new>
#include <optional>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/running.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/device.h"
#include "engine/process/limits.h"
#include "engine/process/subprocess.h"

namespace tw::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPollMs = 50;
/// Of memory that a case may take: to be read, compiled, run and compared; and more for each byte of its files.
constexpr int64_t kCaseMemory = int64_t{2} << 30;
constexpr int64_t kCaseMemoryPerByte = 8;

/// Writes all of `text`, a few kilobytes at most; false if the other end is gone.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

/// One child and the case that it works on.
struct Slot {
  process::Subprocess child;
  int64_t current = -1;  ///< index of the case, -1 when idle
  Clock::time_point since;
  std::string received;
};

class Pool {
 public:
  Pool(const std::vector<std::string>& folders, const PoolOptions& options, const std::function<void(const CaseResult&)>& done)
      : folders_(folders), options_(options), done_(done), results_(folders.size()), slots_(static_cast<size_t>(options.jobs)) {}
  ~Pool() {
    for (Slot& s : slots_) process::end_subprocess(s.child);
  }

  Expected<std::vector<CaseResult>> run(StopToken stop) {
    while (finished_ < folders_.size()) {
      if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Cancelled");
      for (Slot& s : slots_) TW_CHECK(feed(s));
      wait();
      for (Slot& s : slots_) {
        const double seconds = std::chrono::duration<double>(Clock::now() - s.since).count();
        if (s.current >= 0 && seconds > options_.timeout_s) {
          process::end_subprocess(s.child);
          finish(s, {{}, "crashed", fmt::format("Took longer than {:g} s", options_.timeout_s)});
        }
      }
    }
    return std::move(results_);
  }

 private:
  std::vector<std::string> worker_arguments() const {
    std::vector<std::string> out{"check-worker"};
    if (!options_.cases.device.empty()) out.insert(out.end(), {"--device", options_.cases.device});
    for (const std::string& shape : options_.cases.shapes) out.insert(out.end(), {"--input-shape", shape});
    if (options_.cases.rtol >= 0) out.insert(out.end(), {"--rtol", fmt::format("{}", options_.cases.rtol)});
    if (options_.cases.atol >= 0) out.insert(out.end(), {"--atol", fmt::format("{}", options_.cases.atol)});
    return out;
  }

  /// Gives an idle child its next case; starts the child if there is none.
  Expected<void> feed(Slot& s) {
    if (s.current >= 0 || next_ >= folders_.size()) return {};
    if (s.child.pid < 0) {
      TW_TRY(s.child, process::start_self(worker_arguments()));
      s.received.clear();
    }
    s.current = static_cast<int64_t>(next_++);
    s.since = Clock::now();
    if (!write_all(s.child.to, folders_[static_cast<size_t>(s.current)] + "\n")) died(s);
    return {};
  }

  void wait() {
    std::vector<pollfd> polled;
    std::vector<Slot*> owners;
    for (Slot& s : slots_) {
      if (s.current < 0) continue;
      polled.push_back({s.child.from, POLLIN, 0});
      owners.push_back(&s);
    }
    if (poll(polled.data(), polled.size(), kPollMs) <= 0) return;
    for (size_t i = 0; i < polled.size(); ++i)
      if (polled[i].revents != 0) receive(*owners[i]);
  }

  void receive(Slot& s) {
    char buffer[4096];
    const ssize_t n = read(s.child.from, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) return;
    if (n <= 0) return died(s);
    s.received.append(buffer, static_cast<size_t>(n));
    const size_t end = s.received.find('\n');
    if (end == std::string::npos) return;
    const auto document = parse_json(s.received.substr(0, end));
    s.received.erase(0, end + 1);
    CaseResult result = document ? case_from_json(*document) : CaseResult{{}, "crashed", "The child answered with something else than JSON"};
    const bool again = result.status == "crashed" && !options_.cases.device.empty();  // the GPU may be lost to this child
    finish(s, std::move(result));
    if (again) process::end_subprocess(s.child);
  }

  void died(Slot& s) {
    const int status = process::end_subprocess(s.child);
    finish(s, {{}, "crashed", fmt::format("The child process {}", process::status_text(status))});
  }

  void finish(Slot& s, CaseResult result) {
    result.name = folders_[static_cast<size_t>(s.current)];
    if (done_) done_(result);
    results_[static_cast<size_t>(s.current)] = std::move(result);
    s.current = -1;
    ++finished_;
  }

  const std::vector<std::string>& folders_;
  const PoolOptions& options_;
  const std::function<void(const CaseResult&)>& done_;
  std::vector<CaseResult> results_;
  std::vector<Slot> slots_;
  size_t next_ = 0, finished_ = 0;
};

Expected<Target> target_of_device(const std::string& device) {
  if (device.empty()) {
    Target target = host_target();
    target.cores = 1;  // cases run beside each other
    return target;
  }
  TW_TRY(const auto gpu, gpu_device(device));
  return measure::target_of(gpu->properties());
}

/// Bytes of a case's files: what a case may take of memory grows with them.
int64_t bytes_of(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code ec;
  int64_t bytes = 0;
  if (const auto size = fs::file_size(folder, ec); !ec && fs::is_regular_file(folder, ec)) return static_cast<int64_t>(size);
  for (auto it = fs::recursive_directory_iterator(folder, ec); !ec && it != fs::recursive_directory_iterator(); it.increment(ec)) {
    std::error_code unreadable;
    const auto size = it->is_regular_file(unreadable) ? it->file_size(unreadable) : 0;
    if (!unreadable) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

/// One case within a limit of memory: a small file may describe anything. Time is watched by whoever asked.
CaseResult run_case_in(const std::string& folder, const Target& target, const CaseOptions& options) {
  // A GPU's driver maps far more than it takes.
  const int64_t bytes = options.device.empty() ? kCaseMemory + kCaseMemoryPerByte * bytes_of(folder) : 0;
  std::optional<process::MemoryAllowance> memory;
  if (bytes > 0) memory.emplace(bytes);
  try {
    return run_case(folder, target, options);
  } catch (const std::bad_alloc&) {
    memory.reset();
    return {{}, "crashed", fmt::format("Takes more than {:.1f} GiB of memory", static_cast<double>(bytes) / (int64_t{1} << 30))};
  } catch (const std::exception& e) {
    return {{}, "crashed", e.what()};
  }
}

/// Reads folders from standard input, answers one line each on descriptor 3.
int check_worker(const CaseOptions& o) {
  process::become_child();
  const auto target = target_of_device(o.device);
  if (!target) return fail(target.error());
  for (std::string folder; std::getline(std::cin, folder);) {
    if (!write_all(3, dump_json(to_json(run_case_in(folder, *target, o))) + "\n")) return kFailed;
  }
  return kDone;
}

}  // namespace

Expected<std::vector<CaseResult>> run_cases(const std::vector<std::string>& folders, const PoolOptions& options,
                                            const std::function<void(const CaseResult&)>& done, StopToken stop) {
  return Pool(folders, options, done).run(stop);
}

void add_check_worker(Subcommand app, Run& run) {
  auto o = std::make_shared<CaseOptions>();
  Subcommand sub = app.command(run, "check-worker", "Child of `tw check`", o, check_worker);
  sub.option("--device", o->device, "A GPU");
  sub.option("--input-shape", o->shapes, "Shape of an input");
  sub.option("--rtol", o->rtol, "Relative tolerance");
  sub.option("--atol", o->atol, "Absolute tolerance");
  sub.hide();
}

}  // namespace tw::cli
