// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/worker.h"

#include <algorithm>
#include <chrono>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/process/find_program.h"
#include "engine/process/handshake.h"
#include "engine/process/process_state.h"

namespace tw::measure {

Expected<std::string> find_worker(const std::string& given) { return process::find_program("tw-worker", "which compiles and runs candidates", given); }

Expected<std::unique_ptr<process::ChildProcess>> start_worker(const std::string& program, const std::string& role, int64_t memory_bytes, int shared,
                                                              const std::string& through) {
  std::vector<std::string> arguments{role, "--memory-bytes", std::to_string(memory_bytes)};
  if (!through.empty()) arguments.insert(arguments.begin(), program);
  return process::ChildProcess::start(through.empty() ? program : through, arguments, shared);
}

Expected<process::Frame> WorkerLink::exchange(const Json& header, std::span<const std::byte> payload, double limit_s, const process::StopFd& stop_fd) {
  TW_CHECK(ensure_worker(stop_fd));
  const auto now = std::chrono::steady_clock::now();
  // It has nothing else to do than to take a message.
  if (auto sent = process_->send(header, payload, now + process::in_seconds(kPatience)); !sent) return dead(sent.error());
  return wait_for_frame(now + process::in_seconds(limit_s), stop_fd);
}

Expected<process::Frame> WorkerLink::measure(const Json& job, std::span<const std::byte> object, double limit_s, const process::StopFd& stop_fd) {
  TW_TRY(process::Frame frame, exchange(job, object, kQueueSeconds, stop_fd));
  if (!frame.header.contains("started")) return frame;
  return wait_for_frame(std::chrono::steady_clock::now() + process::in_seconds(limit_s + kPatience), stop_fd);
}

Expected<References> WorkerLink::references(const process::StopFd& stop_fd) {
  TW_TRY(const process::Frame frame, exchange(Json{{"command", "references"}}, {}, kQueueSeconds, stop_fd));
  const Json& h = frame.header;
  if (!h.contains("flop_per_s") || !h["flop_per_s"].is_number() || !h.contains("bytes_per_s") || !h["bytes_per_s"].is_number()) {
    drop();
    return Error(ErrorCode::infrastructure, "The measuring worker answered another question");
  }
  return References{h["flop_per_s"].get<double>(), h["bytes_per_s"].get<double>()};
}

Expected<process::Frame> WorkerLink::wait_for_frame(process::Deadline deadline, const process::StopFd& stop_fd) {
  const auto began = std::chrono::steady_clock::now();
  auto heard = began;
  for (;;) {
    auto frame = process_->receive();
    if (!frame) return dead(frame.error());
    if (*frame) {
      const Json& h = (**frame).header;
      if (!h.contains("alive")) return std::move(**frame);
      heard = std::chrono::steady_clock::now();
      const bool long_ago = heard - began >= process::in_seconds(kSaySeconds);
      if (long_ago && h.contains("waiting") && h["waiting"].is_string()) say(printable(h["waiting"].get<std::string>()));
      if (h.contains("notice") && h["notice"].is_string()) say(printable(h["notice"].get<std::string>()));
      continue;
    }
    std::vector<pollfd> fds{{stop_fd.fd(), POLLIN, 0}, {process_->channel(), POLLIN, 0}, {process_->output(), POLLIN, 0}};
    process::poll_until(fds, std::min(deadline, std::chrono::steady_clock::now() + process::in_seconds(kSaySeconds / 4)));
    if (fds[2].revents != 0) process_->drain_output();
    if (fds[0].revents != 0) {
      process_.reset();
      return Error(ErrorCode::cancelled, "Stopped while it was measured");
    }
    if (fds[1].revents != 0) continue;
    if (std::chrono::steady_clock::now() >= deadline) return dead(Error(ErrorCode::timeout, "The measuring worker does not answer"));
    if (const auto given_up = silent_for(std::chrono::steady_clock::now() - heard, heard > began)) return dead(*given_up);
  }
}

std::optional<Error> WorkerLink::silent_for(std::chrono::steady_clock::duration silence, bool gives_signs) {
  if (silence < process::in_seconds(kSaySeconds)) return std::nullopt;
  const auto state = process::state_of(process_->pid());
  const bool stopped = state && state->stopped;
  if (!stopped && !gives_signs) return std::nullopt;  // it may be at work itself
  const std::string who = process::describe_process(process_->pid());
  say(fmt::format("Waiting for the measuring worker, {}", who));
  if (silence < process::in_seconds(stopped ? kPatience : kStartupSeconds + kPatience)) return std::nullopt;
  say(fmt::format("The measuring worker is replaced: {} gave no sign of life for {:.0f} s", who, std::chrono::duration<double>(silence).count()));
  return Error(ErrorCode::infrastructure, fmt::format("The measuring worker, {}, gave no sign of life", who));
}

Error WorkerLink::dead(const Error& why) {
  const process::ProcessEnd end = why.code == ErrorCode::crash ? process_->reap() : process_->kill();
  std::string message = why.code == ErrorCode::crash ? fmt::format("The measuring worker ended with {}", end.text()) : why.text();
  if (!process_->printed().empty()) message += "; it printed: " + printable(trim(process_->printed()));
  process_.reset();
  return Error(why.code == ErrorCode::crash || why.code == ErrorCode::timeout ? why.code : ErrorCode::infrastructure, message);
}

Expected<void> WorkerLink::ensure_worker(const process::StopFd& stop_fd) {
  if (process_) return {};
  TW_TRY(process_, start_worker(program_, role_, memory_bytes_, -1, through_));
  TW_TRY(const process::Frame hello, wait_for_frame(std::chrono::steady_clock::now() + process::in_seconds(kStartupSeconds), stop_fd));
  if (auto checked = process::check_hello(hello, role_, kProtocolVersion); !checked) {
    process_.reset();
    return checked;
  }
  if (hello.header.contains("notice") && hello.header["notice"].is_string()) say(printable(hello.header["notice"].get<std::string>()));
  if (greeted) greeted(hello);
  return {};
}

}  // namespace tw::measure
