// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/gpu_link.h"

#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::measure {

namespace {

constexpr int kRecycledAfter = 200;

}  // namespace

Expected<process::Frame> GpuLink::measure(const Json& question, const MeasureJob& job, std::span<const std::byte> image, const process::StopFd& stop_fd) {
  using Now = std::chrono::steady_clock;
  if (++asked_ % kRecycledAfter == 0) link_.drop();
  const auto blamed = [&](records::Status status, std::string message) {
    MeasureReply reply;
    reply.id = job.id;
    reply.status = status;
    reply.message = std::move(message);
    return process::Frame{reply_header(reply), {}};
  };
  TW_TRY(process::Frame frame, link_.exchange(question, image, kQueueSeconds, stop_fd));
  if (frame.header.contains("started")) {
    TW_TRY(frame, link_.wait_for_frame(Now::now() + process::in_seconds(job.startup_limit_s + kPatience), stop_fd));
  }
  if (frame.header.contains("running")) {
    auto next = link_.wait_for_frame(Now::now() + process::in_seconds(job.run_limit_s), stop_fd);
    if (!next && next.error().code == ErrorCode::timeout)
      return blamed(records::Status::run_timeout, fmt::format("The run took more than {:g} s", job.run_limit_s));
    if (!next && next.error().code == ErrorCode::crash) return blamed(records::Status::run_crash, next.error().text());
    if (!next) return next.error();
    frame = std::move(*next);
  }
  const auto lost = frame.header.find("lost");
  if (lost != frame.header.end() && lost->is_boolean() && lost->get<bool>()) link_.drop();
  return frame;
}

Expected<std::string> GpuLink::target_of_device(const std::string& device, const process::StopFd& stop_fd) {
  TW_TRY(const process::Frame frame, link_.exchange(Json{{"command", "target"}, {"device", device}}, {}, kStartupSeconds, stop_fd));
  const auto text = [&](const char* key) {
    return frame.header.contains(key) && frame.header[key].is_string() ? printable(frame.header[key].get<std::string>()) : std::string();
  };
  if (!text("error").empty()) return Error(ErrorCode::infrastructure, text("error"));
  if (text("target").empty()) return Error(ErrorCode::infrastructure, "The measuring worker answered another question");
  return text("target");
}

}  // namespace tw::measure
