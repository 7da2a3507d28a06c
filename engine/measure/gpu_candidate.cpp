// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/gpu_candidate.h"

#include <time.h>

#include <algorithm>
#include <functional>

#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/measure/gpu_timing.h"
#include "engine/measure/output_checks.h"

namespace tw::measure {

namespace {

using records::Status;

constexpr int64_t kZone = 1024;  ///< bytes before and after an argument that no kernel may write
constexpr std::byte kZonePattern{0x5c};

Status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::crash:
      return Status::run_crash;
    case ErrorCode::out_of_memory:
      return Status::out_of_memory;
    case ErrorCode::resource_limit:
    case ErrorCode::unsupported:
      return Status::load_fail;
    case ErrorCode::wrong_result:
      return Status::wrong_output;
    default:
      return Status::infra;
  }
}

/// One candidate's arguments on the device and the checks on them.
class GpuArguments {
 public:
  GpuArguments(runtime::GpuDevice& device, const MeasureJob& job) : device_(device), job_(job), inputs_(job.inputs()), outputs_(job.outputs()) {}

  Expected<void> allocate(std::span<const std::byte* const> row_major_inputs) {
    for (const runtime::ArgSpec& spec : job_.signature.args) {
      TW_TRY(runtime::GpuArray array, runtime::GpuArray::make(device_, spec.physical_bytes() + 2 * kZone));
      TW_CHECK(device_.fill(array.at(), kZonePattern, array.bytes()));
      pointers_.push_back(array.at() + kZone);
      arrays_.push_back(std::move(array));
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto a = static_cast<size_t>(inputs_[i]);
      std::vector<std::byte> packed(static_cast<size_t>(spec(a).physical_bytes()));
      runtime::pack_layout(spec(a), row_major_inputs[i], packed.data());
      input_hashes_.push_back(hash(packed));
      TW_CHECK(device_.upload(pointers_[a], packed));
    }
    return {};
  }

  Expected<void> poison(int pattern) {
    for (const int o : outputs_) {
      const auto a = static_cast<size_t>(o);
      TW_CHECK(device_.fill(pointers_[a], static_cast<std::byte>(pattern), spec(a).physical_bytes()));
    }
    return {};
  }

  Expected<std::vector<HostArray>> unpacked_outputs() {
    std::vector<HostArray> out;
    for (const int o : outputs_) {
      const auto a = static_cast<size_t>(o);
      TW_TRY(const std::vector<std::byte> physical, content(a));
      out.push_back(HostArray::make(spec(a).dtype, spec(a).shape));
      runtime::unpack_layout(spec(a), physical.data(), out.back().data.data());
    }
    return out;
  }

  /// What the kernel did to memory that is not its to write; empty if nothing.
  Expected<std::string> trespass() {
    std::vector<std::byte> zone(static_cast<size_t>(kZone));
    for (size_t a = 0; a < arrays_.size(); ++a) {
      for (const bool before : {true, false}) {
        TW_CHECK(device_.download(before ? pointers_[a] - kZone : pointers_[a] + static_cast<uint64_t>(spec(a).physical_bytes()), zone));
        const auto at = std::find_if(zone.begin(), zone.end(), [](std::byte b) { return b != kZonePattern; });
        if (at == zone.end()) continue;
        return before ? fmt::format("The kernel wrote outside argument \"{}\", {} bytes before its beginning", spec(a).name, zone.end() - at)
                      : fmt::format("The kernel wrote outside argument \"{}\", {} bytes past its end", spec(a).name, at - zone.begin());
      }
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      TW_TRY(const std::vector<std::byte> now, content(static_cast<size_t>(inputs_[i])));
      if (hash(now) != input_hashes_[i]) return fmt::format("The kernel changed its input \"{}\"", spec(static_cast<size_t>(inputs_[i])).name);
    }
    return std::string();
  }

  const std::vector<runtime::DeviceAddress>& pointers() const { return pointers_; }
  const std::string& output_name(size_t o) const { return spec(static_cast<size_t>(outputs_[o])).name; }

 private:
  const runtime::ArgSpec& spec(size_t a) const { return job_.signature.args[a]; }
  static uint64_t hash(const std::vector<std::byte>& bytes) { return stable_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()}); }
  Expected<std::vector<std::byte>> content(size_t a) {
    std::vector<std::byte> bytes(static_cast<size_t>(spec(a).physical_bytes()));
    TW_CHECK(device_.download(pointers_[a], bytes));
    return bytes;
  }

  runtime::GpuDevice& device_;
  const MeasureJob& job_;
  std::vector<int> inputs_, outputs_;
  std::vector<runtime::GpuArray> arrays_;
  std::vector<runtime::DeviceAddress> pointers_;
  std::vector<uint64_t> input_hashes_;
};

Error wrong(std::string what) { return Error(ErrorCode::wrong_result, std::move(what)); }

/// Two launches over differently poisoned outputs, which are returned. Errors: of the device; wrong_result for what the kernel did.
Expected<std::vector<HostArray>> verified_launches(GpuArguments& args, const std::function<Expected<void>()>& launch) {
  TW_CHECK(args.poison(kFirstPattern));
  TW_CHECK(launch());
  TW_TRY(const std::vector<HostArray> first, args.unpacked_outputs());
  TW_CHECK(args.poison(kSecondPattern));
  TW_CHECK(launch());
  TW_TRY(std::vector<HostArray> outputs, args.unpacked_outputs());
  TW_TRY(std::string complaint, args.trespass());  // what it wrote elsewhere explains the rest
  for (size_t o = 0; o < outputs.size() && complaint.empty(); ++o) complaint = difference(first[o], outputs[o], args.output_name(o));
  if (!complaint.empty()) return wrong(std::move(complaint));
  return outputs;
}

/// Fills `reply` and `payload`. Errors: of the device; wrong_result for what the kernel did.
Expected<void> verify_and_time(runtime::GpuDevice& device, const GpuCandidate& c, const runtime::GpuLoaded& kernel, GpuArguments& args, MeasureReply& reply,
                               std::vector<std::byte>& payload) {
  const auto launch = [&] { return device.launch(kernel, args.pointers()); };
  const double start = clock_now_s(CLOCK_MONOTONIC);
  std::vector<HostArray> outputs;
  if (c.job.verify && c.job.verify_below_s <= 0) {
    TW_TRY(outputs, verified_launches(args, launch));
    reply.verified = true;
    reply.verify_s = clock_now_s(CLOCK_MONOTONIC) - start;
  }
  TimingOptions timing;
  timing.incumbent_s = c.job.incumbent_s;
  timing.samples = c.job.samples;
  timing.warm = c.job.warm_weights;
  if (c.job.min_sample_s > 0) timing.min_sample_s = c.job.min_sample_s;
  TW_TRY(Timing timed, time_on_gpu(device, launch, timing));
  const double timed_at = clock_now_s(CLOCK_MONOTONIC);
  TW_TRY(const std::string after, args.trespass());
  if (!after.empty()) return wrong(after);
  reply.samples_s = std::move(timed.samples_s);
  reply.flags = std::move(timed.flags);
  reply.inner = timed.inner;
  reply.censored = timed.censored;
  const bool fast = !reply.censored && !reply.samples_s.empty() && *std::min_element(reply.samples_s.begin(), reply.samples_s.end()) < c.job.verify_below_s;
  if (!reply.verified && !(c.job.verify && fast)) return {};
  TW_TRY(const std::vector<HostArray> last, args.unpacked_outputs());
  if (!reply.verified) {
    TW_TRY(outputs, verified_launches(args, launch));
    reply.verified = true;
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (last[o].data != outputs[o].data) return wrong("The output changed while the kernel was called again and again");
    reply.first_nan.push_back(first_nan(outputs[o]));
  }
  if (!collect_values(c.job, outputs, payload)) return Error(ErrorCode::infrastructure, "A position to compare lies outside the output");
  reply.verify_s += clock_now_s(CLOCK_MONOTONIC) - timed_at;
  return {};
}

}  // namespace

Expected<MeasureReply> run_gpu_candidate(runtime::GpuDevice& device, const GpuCandidate& c, std::vector<std::byte>& payload, bool& lost) {
  MeasureReply reply;
  reply.id = c.job.id;
  const auto failed = [&](const Error& e) {
    lost = lost || e.code == ErrorCode::crash;
    reply.status = status_of(e.code);
    reply.message = e.text();
    return reply;
  };
  const double load_start = clock_now_s(CLOCK_MONOTONIC);
  const auto kernel = device.load(c.function);
  if (!kernel) return failed(kernel.error());
  reply.load_s = clock_now_s(CLOCK_MONOTONIC) - load_start;
  const double fill_start = clock_now_s(CLOCK_MONOTONIC);
  GpuArguments args(device, c.job);
  if (const auto done = args.allocate(c.row_major_inputs); !done) return failed(done.error());
  reply.fill_s = c.inputs_s + clock_now_s(CLOCK_MONOTONIC) - fill_start;
  TW_CHECK(c.running());
  const double run_start = clock_now_s(CLOCK_MONOTONIC);
  const auto done = verify_and_time(device, c, **kernel, args, reply, payload);
  reply.run_s = clock_now_s(CLOCK_MONOTONIC) - run_start;
  if (!done) return failed(done.error());
  reply.status = Status::ok;
  return reply;
}

}  // namespace tw::measure
