// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/learner.h"

#include <fmt/format.h>

#include "engine/base/text.h"
#include "engine/process/find_program.h"
#include "engine/process/handshake.h"
#include "engine/process/limits.h"

namespace tw::learner {
namespace {

using std::chrono::steady_clock;

constexpr double kStartupSeconds = 30;  ///< libtorch from a cold disk on a busy machine
constexpr double kSilenceSeconds = 120; ///< between signs of life of a fit, and for a prediction
constexpr const char* kWeightsName = "current";

}  // namespace

Expected<std::string> find_program(const std::string& given) {
  auto found = process::find_program(kProgram, "which holds the neural networks and reads TorchScript", given);
  if (found) return found;
  return std::move(found).error().note("installers/learner builds it, with Debian's libtorch");
}

Expected<void> Learner::ensure(const process::StopFd& stop) {
  if (process_) return {};
  if (deaths_ >= options_.deaths) return Error(ErrorCode::infrastructure, fmt::format("{} died {} times in a row and is not started any more", kProgram, deaths_));
  TW_TRY(const std::string program, find_program(options_.program));
  const auto began = steady_clock::now();
  std::vector<std::string> arguments{"--memory-bytes", std::to_string(options_.memory_bytes)};
  if (options_.reads_scripts) arguments.emplace_back("--scripts");
  {
    const process::LiftedAllowance own;  // libtorch maps more than who asks may
    TW_TRY(process_, process::ChildProcess::start(program, arguments));
  }
  loaded_ = 0;
  TW_TRY(const process::Frame hello, next(kStartupSeconds, stop));
  if (auto checked = process::check_hello(hello, kRole, kProtocolVersion); !checked) {
    process_.reset();
    return checked;
  }
  about_ = hello.header;
  about_["started_s"] = std::chrono::duration<double>(steady_clock::now() - began).count();
  return {};
}

Expected<void> Learner::send(const Json& header, std::span<const std::byte> payload) {
  if (auto sent = process_->send(header, payload, steady_clock::now() + process::in_seconds(kSilenceSeconds)); !sent) return dead(sent.error());
  return {};
}

Error Learner::dead(const Error& why) {
  ++deaths_;
  const std::unique_ptr<process::ChildProcess> process = std::move(process_);
  if (why.code == ErrorCode::timeout) {
    process->kill();
    return Error(ErrorCode::crash, fmt::format("{} gave no sign of life and was ended", kProgram));
  }
  const process::ProcessEnd end = process->reap();
  if (end.code == process::kExitOutOfMemory && end.signal == 0)
    return Error(ErrorCode::out_of_memory, fmt::format("{} needs more than its {} MiB of memory", kProgram, options_.memory_bytes >> 20));
  Error e(ErrorCode::crash, fmt::format("{} ended with {}", kProgram, end.text()));
  process->drain_output();
  if (const auto printed = trim(process->printed()); !printed.empty()) e.notes.push_back("It printed: " + printable(printed));
  return e;
}

Expected<process::Frame> Learner::next(double patience_s, const process::StopFd& stop) {
  const auto deadline = steady_clock::now() + process::in_seconds(patience_s);
  bool told = false;
  for (;;) {
    auto f = process_->receive();
    if (!f) return dead(f.error());
    if (*f) return std::move(**f);
    std::vector<pollfd> fds{{process_->channel(), POLLIN, 0}, {process_->output(), POLLIN, 0}, {told ? -1 : stop.fd(), POLLIN, 0}};
    process::poll_until(fds, deadline);
    if (fds[1].revents != 0) process_->drain_output();
    if (fds[2].revents != 0) {
      if (options_.reads_scripts) {
        process_.reset();
        return Error(ErrorCode::cancelled, "Cancelled");
      }
      told = true;
      TW_CHECK(send(Json{{"op", "cancel"}}, {}));
    }
    if (fds[0].revents == 0 && fds[1].revents == 0 && steady_clock::now() >= deadline) return dead(Error(ErrorCode::timeout, "silent"));
  }
}

Expected<void> Learner::ask(const Json& header, std::span<const std::byte> payload, StopToken stop, const std::function<Expected<bool>(process::Frame&&)>& take) {
  const process::StopFd stop_fd(stop);
  TW_CHECK(ensure(stop_fd));
  TW_CHECK(send(header, payload));
  for (;;) {
    TW_TRY(process::Frame f, next(kSilenceSeconds, stop_fd));
    if (f.header.contains("error")) return error_from_json(f.header);
    if (f.header.contains("alive")) continue;
    TW_TRY(const bool last, take(std::move(f)));
    if (!last) continue;
    deaths_ = 0;
    return {};
  }
}

Expected<Fitted> Learner::fit(const Network& network, std::span<const float> weights, const FitData& data, const FitOptions& options, StopToken stop,
                              const std::function<void(int, int, double)>& progress) {
  const process::StopFd stop_fd(stop);
  TW_CHECK(ensure(stop_fd));
  Arrays arrays;
  arrays.add(weights);
  arrays.add(data.labels);
  arrays.add(data.tasks);
  arrays.add(data.begins);
  arrays.add(data.rows);
  TW_CHECK(send(Json{{"op", "fit"}, {"network", network.name}, {"options", to_json(options)}, {"weights", weights.size()}, {"candidates", data.labels.size()}}, arrays.bytes()));
  for (;;) {
    TW_TRY(const process::Frame f, next(kSilenceSeconds, stop_fd));
    if (f.header.contains("error")) return error_from_json(f.header);
    if (f.header.contains("losses")) {
      ArrayReader reader(f.payload);
      Fitted out;
      TW_TRY(out.weights, reader.take<float>(network.elements()));
      for (const Json& l : f.header["losses"])
        if (l.is_number()) out.losses.push_back(l.get<double>());
      deaths_ = 0;
      return out;
    }
    if (progress && f.header.contains("epoch")) progress(f.header.value("epoch", 0), f.header.value("of", 0), f.header.value("loss", 0.0));
  }
}

Expected<std::vector<float>> Learner::predict(const Network& network, std::span<const float> weights, uint64_t version, std::span<const float> rows,
                                              std::span<const uint32_t> begins, bool batch_statistics, int threads) {
  const process::StopFd never{StopToken()};
  TW_CHECK(ensure(never));
  if (loaded_ != version) {
    TW_CHECK(send(Json{{"op", "load"}, {"name", kWeightsName}, {"network", network.name}}, std::as_bytes(weights)));
    TW_TRY(const process::Frame f, next(kSilenceSeconds, never));
    if (f.header.contains("error")) return error_from_json(f.header);
    loaded_ = version;
  }
  Arrays arrays;
  arrays.add(begins);
  arrays.add(rows);
  const size_t count = begins.size() - 1;
  TW_CHECK(send(Json{{"op", "predict"}, {"name", kWeightsName}, {"candidates", count}, {"batch_statistics", batch_statistics}, {"threads", threads}}, arrays.bytes()));
  TW_TRY(const process::Frame f, next(kSilenceSeconds, never));
  if (f.header.contains("error")) return error_from_json(f.header);
  deaths_ = 0;
  ArrayReader reader(f.payload);
  return reader.take<float>(count);
}

}  // namespace tw::learner
