// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/gpu_role.h"

#include <time.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/device.h"
#include "engine/measure/device_lock.h"
#include "engine/measure/gpu_candidate.h"
#include "engine/measure/input_cache.h"
#include "engine/measure/interpreted_gpu.h"
#include "engine/measure/limits.h"
#include "engine/measure/worker.h"
#include "engine/process/child_process.h"
#include "engine/process/handshake.h"
#include "engine/process/limits.h"

namespace tw::measure {

namespace {

class GpuServer {
 public:
  int serve() {
    process::raise_priority();
    if (!process::write_frame(process::kChannelFd, process::hello("gpu", kProtocolVersion))) return 1;
    for (;;) {
      auto request = process::read_frame(process::kChannelFd);
      if (!request) return 1;
      if (!*request) return leave(0);
      const auto answered = answer(**request);
      if (!answered) return leave(1);
      if (!*answered) return leave(0);
    }
  }

 private:
  /// A corrupt context must not be taken down in order: the driver may hang or abort over it.
  int leave(int code) {
    if (lost_) _exit(code);
    return code;
  }

  /// False if this process is of no use any more.
  Expected<bool> answer(const process::Frame& request) {
    if (const auto command = request.header.find("command"); command != request.header.end() && *command == "target") return describe(request.header);
    TW_TRY(const MeasureJob job, measure_job_from_json(request.header));
    const auto refuse = [&](const Error& why) -> Expected<bool> {
      MeasureReply reply;
      reply.id = job.id;
      reply.message = why.text();
      TW_CHECK(process::write_frame(process::kChannelFd, reply_header(reply)));
      return true;
    };
    const Json& h = request.header;
    if (!h.contains("device") || !h["device"].is_string() || !h.contains("gpu"))
      return Error(ErrorCode::parse_error, "Expected a device and code for it in a message to the GPU's worker");
    auto function = runtime::gpu_function_from_json(h["gpu"]);
    if (!function) return refuse(function.error());
    if (auto opened = open(h["device"].get<std::string>()); !opened) return refuse(opened.error());
    function->images[device_->properties().capability] = request.payload;
    const double start = clock_now_s(CLOCK_MONOTONIC);
    const auto inputs = inputs_.get(job);
    if (!inputs) return refuse(inputs.error());
    const double inputs_s = clock_now_s(CLOCK_MONOTONIC) - start;
    TW_CHECK(lock_->take_turn(device_->name()));
    TW_CHECK(process::write_frame(process::kChannelFd, Json{{"started", job.id}}));
    std::vector<std::byte> payload;
    const GpuCandidate candidate{job, *function, *inputs, [&] { return process::write_frame(process::kChannelFd, Json{{"running", job.id}}); }, inputs_s};
    auto reply = run_gpu_candidate(*device_, candidate, payload, lost_);
    lock_->release();
    if (!reply) return reply.error();
    Json header = reply_header(*reply);
    header["lost"] = lost_;
    TW_CHECK(process::write_frame(process::kChannelFd, header,
                                  reply->status == records::Status::ok ? std::span<const std::byte>(payload) : std::span<const std::byte>()));
    return !lost_;
  }

  /// Says what code the GPU is for.
  Expected<bool> describe(const Json& question) {
    if (!question.contains("device") || !question["device"].is_string())
      return Error(ErrorCode::parse_error, "Expected a device in a question to the GPU's worker");
    auto opened = open(question["device"].get<std::string>());
    const auto target = opened ? target_of(device_->properties()) : Expected<Target>(opened.error());
    TW_CHECK(process::write_frame(process::kChannelFd, target ? Json{{"target", target->str()}} : Json{{"error", target.error().text()}}));
    return true;
  }

  Expected<void> open(const std::string& name) {
    if (device_ && device_->name() == name) return {};
    device_.reset();
    TW_TRY(device_, open_gpu(name));
    lock_.emplace(device_->properties().uuid.empty() ? name : device_->properties().uuid);
    return {};
  }

  std::unique_ptr<runtime::GpuDevice> device_;
  std::optional<DeviceLock> lock_;
  InputCache inputs_;
  bool lost_ = false;
};

}  // namespace

int gpu_role() { return GpuServer().serve(); }

}  // namespace tw::measure
