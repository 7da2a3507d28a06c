// SPDX-License-Identifier: Apache-2.0
#include "engine/api/import_apart.h"

#include <algorithm>
#include <filesystem>

#include "engine/api/import_messages.h"
#include "engine/base/text.h"
#include "engine/measure/worker.h"
#include "engine/process/child_process.h"
#include "engine/process/handshake.h"
#include "engine/process/wake.h"

namespace tw::api {

namespace {

using std::chrono::steady_clock;

constexpr double kReadBytesPerSecond = 1e7;  ///< of a slow disk

std::string memory_text(int64_t bytes) {
  constexpr int64_t kGiB = int64_t{1} << 30, kMiB = int64_t{1} << 20;
  return bytes >= kGiB ? fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGiB) : fmt::format("{:.0f} MiB", static_cast<double>(bytes) / kMiB);
}

/// The process that reads one file, and what it has said so far.
class Reading {
 public:
  Reading(std::string path, std::unique_ptr<process::ChildProcess> child, std::shared_ptr<process::SharedMemory> shared, int64_t memory_bytes, bool widens, double seconds)
      : path_(std::move(path)), child_(std::move(child)), shared_(std::move(shared)), memory_bytes_(memory_bytes), widens_(widens), seconds_(seconds) {}

  const process::SharedMemory* shared() const { return shared_.get(); }

  Expected<void> ask(const Json& question, const process::StopFd& stop) {
    TW_TRY(const process::Frame hello, frame(steady_clock::now() + process::in_seconds(measure::kStartupSeconds), stop));
    TW_CHECK(process::check_hello(hello, "import", measure::kProtocolVersion));
    begun_ = steady_clock::now();
    return child_->send(question, std::as_bytes(std::span(path_)), begun_ + process::in_seconds(measure::kStartupSeconds));
  }

  /// The next part of the answer. Errors: what the process says; how it ended.
  Expected<process::Frame> next(const process::StopFd& stop) {
    for (;;) {
      TW_TRY(process::Frame f, frame(begun_ + process::in_seconds(seconds_), stop));
      if (f.header.contains("error")) return error_from_json(f.header);
      if (!f.header.contains("reads") || !f.header["reads"].is_number_integer()) return f;
      const int64_t bytes = std::max<int64_t>(0, f.header["reads"].get<int64_t>());
      seconds_ += static_cast<double>(bytes) / kReadBytesPerSecond;
      if (widens_) memory_bytes_ += kMemoryPerByte * bytes;
    }
  }

 private:
  Expected<process::Frame> frame(process::Deadline deadline, const process::StopFd& stop) {
    for (;;) {
      auto f = child_->receive();
      if (!f) return f.error().code == ErrorCode::crash ? ended() : f.error();
      if (*f) return std::move(**f);
      std::vector<pollfd> fds{{stop.fd(), POLLIN, 0}, {child_->channel(), POLLIN, 0}, {child_->output(), POLLIN, 0}};
      process::poll_until(fds, deadline);
      if (fds[2].revents != 0) child_->drain_output();
      if (fds[0].revents != 0) return Error(ErrorCode::cancelled, "Cancelled");
      if (fds[1].revents == 0 && fds[2].revents == 0 && steady_clock::now() >= deadline)
        return Error(ErrorCode::timeout, fmt::format("Reading '{}' and computing its constants takes more than {:.0f} s", printable(path_), seconds_));
    }
  }

  Error ended() {
    const process::ProcessEnd end = child_->reap();
    if (end.code == process::kExitOutOfMemory && end.signal == 0)
      return Error(ErrorCode::resource_limit, fmt::format("Reading '{}' and computing its constants takes more than {} of memory", printable(path_),
                                                          memory_text(memory_bytes_)));
    Error e(ErrorCode::crash, fmt::format("Reading '{}' ended the process that reads models with {}", printable(path_), end.text()));
    if (const auto printed = trim(child_->printed()); !printed.empty()) e.notes.push_back("It printed: " + printable(printed));
    return e;
  }

  std::string path_;
  std::unique_ptr<process::ChildProcess> child_;
  std::shared_ptr<process::SharedMemory> shared_;
  int64_t memory_bytes_;
  bool widens_;
  double seconds_;
  steady_clock::time_point begun_;
};

Expected<Reading> start_reading(const std::string& path, const ImportLimits& limits) {
  const auto worker = measure::find_worker(limits.worker_path);
  if (!worker) return Error(ErrorCode::infrastructure, worker.error().message);
  std::error_code ignored;  // a file that is not there has no size, and the process says so
  const auto size = std::filesystem::file_size(path, ignored);
  const int64_t file_bytes = ignored ? 0 : static_cast<int64_t>(size);
  const int64_t memory_bytes = limits.memory_bytes > 0 ? limits.memory_bytes : kMemoryForAny + kMemoryPerByte * file_bytes;
  TW_TRY(auto shared, process::SharedMemory::create());
  TW_TRY(auto child, measure::start_worker(*worker, "import", memory_bytes, shared->fd()));
  return Reading(path, std::move(child), std::move(shared), memory_bytes, limits.memory_bytes <= 0, limits.seconds + static_cast<double>(file_bytes) / kReadBytesPerSecond);
}

Error unasked() { return Error(ErrorCode::internal, "The process that reads models said something else than was asked"); }

Expected<Network> read_network(Reading& reading, const process::StopFd& stop) {
  Network network;
  Constants constants;
  for (int graphs = 0;;) {
    TW_TRY(process::Frame f, reading.next(stop));
    if (f.header.contains("array")) {
      TW_CHECK(add_array(f.header, std::move(f.payload), reading.shared(), constants));
    } else if (f.header.contains("graph")) {
      const std::string_view text(reinterpret_cast<const char*>(f.payload.data()), f.payload.size());
      TW_TRY(graph::Graph graph, graph::parse(text, constants));
      (graphs++ == 0 ? network.imported : network.optimized) = std::move(graph);
    } else if (f.header.contains("content_key") && f.header["content_key"].is_string() && graphs == 2) {
      network.content_key = f.header["content_key"].get<std::string>();
      if (!f.header.contains("what")) return unasked();
      TW_CHECK(reading_from_json(f.header["what"], network));
      return network;
    } else {
      return unasked();
    }
  }
}

}  // namespace

Expected<Network> import_network_apart(const std::string& path, const Target& target, const frontends::ImportOptions& options, const ImportLimits& limits,
                                       StopToken stop, const graph::PassHooks& hooks) {
  TW_ASSERT(options.constants.empty(), "inputs to fix at a value, which nobody sends yet");
  Json dims = Json::array();
  for (const auto& [name, value] : options.dims) dims.push_back({name, value});
  Json shapes = Json::array();
  for (const auto& [name, shape] : options.shapes) shapes.push_back({{"name", name}, {"shape", shape.shape}, {"type", shape.type ? shape.type->name() : ""}});
  const Json question = {{"target", to_json(target)},
                         {"dims", dims},
                         {"shapes", shapes},
                         {"memory_bytes", limits.memory_bytes},
                         {"widens", limits.memory_bytes <= 0},
                         {"disabled", hooks.disabled},
                         {"enabled", hooks.enabled}};
  const process::StopFd stop_fd(stop);
  TW_TRY(Reading reading, start_reading(path, limits));
  TW_CHECK(reading.ask(question, stop_fd));
  TW_TRY(Network network, read_network(reading, stop_fd));
  if (hooks.after) {
    TW_TRY(network.optimized, graph::run_passes(network.imported, target, hooks));
  }
  TW_TRY(network.partition, graph::partition(network.optimized));
  network.enabled = hooks.enabled;
  return network;
}

Expected<std::vector<frontends::OpenSize>> open_sizes_apart(const std::string& path, const ImportLimits& limits, StopToken stop) {
  const process::StopFd stop_fd(stop);
  TW_TRY(Reading reading, start_reading(path, limits));
  TW_CHECK(reading.ask(Json{{"sizes", true}}, stop_fd));
  TW_TRY(const process::Frame f, reading.next(stop_fd));
  if (!f.header.contains("sizes") || !f.header["sizes"].is_array()) return unasked();
  return open_sizes_from_json(f.header["sizes"]);
}

}  // namespace tw::api
