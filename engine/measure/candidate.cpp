// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/candidate.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/measure/guarded_array.h"
#include "engine/measure/limits.h"
#include "engine/measure/output_checks.h"
#include "engine/measure/run_waits.h"
#include "engine/measure/timing.h"
#include "engine/runtime/flush_denormals.h"
#include "engine/runtime/object_loader.h"
#include "engine/runtime/thread_pool.h"

namespace tw::measure {

namespace {

using records::Status;

constexpr int64_t kStagger = 13 * 64;  ///< between the starts of arguments within their pages

/// Writes the lines of an array back to memory and out of all caches.
void evict(std::span<const std::byte> array) {
#if defined(__x86_64__)
  constexpr size_t kLine = 64;
  for (size_t at = 0; at < array.size(); at += kLine) _mm_clflush(array.data() + at);
  _mm_mfence();
#elif defined(__aarch64__)
  uint64_t types = 0;
  asm volatile("mrs %0, ctr_el0" : "=r"(types));
  const size_t line = size_t{4} << ((types >> 16) & 15);  // of the smallest data cache, in bytes
  for (size_t at = 0; at < array.size(); at += line) asm volatile("dc civac, %0" ::"r"(array.data() + at) : "memory");
  asm volatile("dsb sy" ::: "memory");
#else
  static_cast<void>(array);
#endif
}

/// Constants leave the caches before every call, unless they stay there in the network as well: in a large one the other layers drive them out, and what is
/// fastest with them at hand need not be so without. Source: the cache flush of AutoTVM's measuring (`enable_cpu_cache_flush`), which takes all arguments but the first.
class KernelProbe final : public Probe {
 public:
  KernelProbe(runtime::KernelFn kernel, std::vector<void*> args, std::vector<std::span<const std::byte>> constants, const runtime::RuntimeApi* api)
      : kernel_(kernel), args_(std::move(args)), constants_(std::move(constants)), api_(api) {}
  bool prepares() const override { return !constants_.empty(); }
  void prepare() override {
    for (const auto& c : constants_) evict(c);
  }
  void call() override { status_ |= kernel_(args_.data(), api_); }
  double now_s() override { return clock_now_s(CLOCK_MONOTONIC_RAW); }
  int64_t disturbances() override { return disturbances_.count(); }
  int32_t status() const { return status_; }

 private:
  runtime::KernelFn kernel_;
  std::vector<void*> args_;
  std::vector<std::span<const std::byte>> constants_;
  const runtime::RuntimeApi* api_;
  Disturbances disturbances_;
  int32_t status_ = 0;
};

std::string_view view(const GuardedArray& a) { return {reinterpret_cast<const char*>(a.data()), static_cast<size_t>(a.bytes())}; }

/// One candidate's arguments and the checks on them.
class Arguments {
 public:
  explicit Arguments(const CandidateSetup& setup) : setup_(setup), inputs_(setup.job.inputs()), outputs_(setup.job.outputs()) {}

  /// False if there is no memory.
  bool allocate() {
    const auto& specs = setup_.job.signature.args;
    for (size_t i = 0; i < specs.size(); ++i) {
      arrays_.push_back(GuardedArray::make(specs[i].physical_bytes(), static_cast<int64_t>(i) * kStagger));
      if (!arrays_.back()) return false;
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      pack_layout(spec(inputs_[i]), setup_.row_major_inputs[i], array(inputs_[i]).data());
      input_hashes_.push_back(stable_hash(view(array(inputs_[i]))));
    }
    return true;
  }

  std::vector<void*> pointers() const {
    std::vector<void*> out;
    for (const auto& a : arrays_) out.push_back(a->data());
    return out;
  }
  std::vector<std::span<const std::byte>> constants() const {
    std::vector<std::span<const std::byte>> out;
    for (const int i : inputs_)
      if (spec(i).constant) out.emplace_back(array(i).data(), static_cast<size_t>(array(i).bytes()));
    return out;
  }
  void poison(int pattern) {
    for (const int o : outputs_) std::memset(array(o).data(), pattern, static_cast<size_t>(array(o).bytes()));
  }
  std::vector<HostArray> unpacked_outputs() const {
    std::vector<HostArray> out;
    for (const int o : outputs_) {
      out.push_back(HostArray::make(spec(o).dtype, spec(o).shape));
      unpack_layout(spec(o), array(o).data(), out.back().data.data());
    }
    return out;
  }
  uint64_t output_hash() const {
    uint64_t h = 0;
    for (const int o : outputs_) h = hash_combine(h, stable_hash(view(array(o))));
    return h;
  }
  /// What the kernel did to memory that is not its to write.
  std::string trespass() const {
    for (size_t i = 0; i < arrays_.size(); ++i) {
      if (const auto damage = arrays_[i]->damage())
        return fmt::format("The kernel wrote outside argument \"{}\", {}", setup_.job.signature.args[i].name, *damage);
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (stable_hash(view(array(inputs_[i]))) != input_hashes_[i]) return fmt::format("The kernel changed its input \"{}\"", spec(inputs_[i]).name);
    }
    return {};
  }
  const runtime::ArgSpec& spec(int i) const { return setup_.job.signature.args[static_cast<size_t>(i)]; }
  const std::vector<int>& outputs() const { return outputs_; }

 private:
  GuardedArray& array(int i) const { return *arrays_[static_cast<size_t>(i)]; }
  const CandidateSetup& setup_;
  std::vector<int> inputs_, outputs_;
  std::vector<std::unique_ptr<GuardedArray>> arrays_;
  std::vector<uint64_t> input_hashes_;
};

MeasureReply failed(MeasureReply reply, Status status, std::string message) {
  reply.status = status;
  reply.message = std::move(message);
  return reply;
}

double timed_call(KernelProbe& probe) {
  probe.prepare();
  const double start = probe.now_s();
  probe.call();
  return probe.now_s() - start;
}

double poisoned_call(KernelProbe& probe, Arguments& args, int pattern) {
  args.poison(pattern);
  return timed_call(probe);
}

/// Behind a call over outputs poisoned with the first pattern, one over the second. Returns its time; fills `outputs`, or `complaint`.
double second_call(KernelProbe& probe, Arguments& args, std::vector<HostArray>& outputs, std::string& complaint) {
  const std::vector<HostArray> first = args.unpacked_outputs();
  const double time = poisoned_call(probe, args, kSecondPattern);
  outputs = args.unpacked_outputs();
  for (size_t o = 0; o < outputs.size() && complaint.empty(); ++o) complaint = difference(first[o], outputs[o], args.spec(args.outputs()[o]).name);
  return time;
}

/// Events of one call, as the mean of some.
CounterReading counted_calls(KernelProbe& probe, EventGroup& events, double call_s) {
  constexpr double kSeconds = 0.02;
  constexpr int kMostCalls = 1000;
  const int calls = call_s > 0 ? static_cast<int>(std::clamp(kSeconds / call_s, 1.0, static_cast<double>(kMostCalls))) : 1;
  for (int i = 0; i < calls; ++i) {
    probe.prepare();
    events.resume();
    probe.call();
    events.pause();
  }
  CounterReading reading = events.read();
  for (EventCount& e : reading.counts) e.count /= calls;
  return reading;
}

}  // namespace

MeasureReply run_candidate(const CandidateSetup& setup, std::vector<std::byte>& payload) {
  const MeasureJob& job = setup.job;
  MeasureReply reply;
  reply.id = job.id;
  keep_last_processors(job.cores);
  const double fill_start = clock_now_s(CLOCK_MONOTONIC);
  Arguments args(setup);
  if (!args.allocate()) return failed(reply, Status::out_of_memory, "There is no memory for the arguments");
  reply.fill_s = setup.inputs_s + clock_now_s(CLOCK_MONOTONIC) - fill_start;
  runtime::ThreadPool pool(runtime::ThreadPool::with_processors(job.cores));
  std::optional<EventGroup> events;
  if (job.count_events) events.emplace(kAllEvents);

  setup.shared.phase = process::Phase::load;
  const double load_start = clock_now_s(CLOCK_MONOTONIC);
  auto module = runtime::load_object(setup.object);
  if (!module) return failed(reply, Status::load_fail, module.error().text());
  const auto kernel = (*module)->find(job.signature.name);
  if (!kernel) return failed(reply, Status::load_fail, kernel.error().text());
  const double run_start = clock_now_s(CLOCK_MONOTONIC);
  reply.load_s = run_start - load_start;

  setup.shared.run_start_ns = static_cast<int64_t>(run_start * 1e9);
  setup.shared.phase = process::Phase::first;
  const runtime::ThreadPool::Hot hot(pool);
  const runtime::FlushDenormals flush;
  KernelProbe probe(*kernel, args.pointers(), job.warm_weights ? std::vector<std::span<const std::byte>>() : args.constants(), pool.api());
  std::vector<HostArray> outputs;
  std::string complaint;
  TimingOptions timing_options;
  timing_options.incumbent_s = job.incumbent_s;
  timing_options.samples = job.samples;
  if (job.min_sample_s > 0) timing_options.min_sample_s = job.min_sample_s;
  const auto ended = [&](Status status, std::string message) {
    reply.run_s = clock_now_s(CLOCK_MONOTONIC) - run_start;
    return failed(reply, status, std::move(message));
  };
  uint64_t verified = 0;  // what the outputs were then
  const auto verify = [&] {
    const double last = second_call(probe, args, outputs, complaint);
    if (std::string first = args.trespass(); !first.empty()) complaint = std::move(first);  // what it wrote elsewhere explains the rest
    verified = args.output_hash();
    reply.verified = true;
    return last;
  };
  timing_options.last_call_s = poisoned_call(probe, args, kFirstPattern);
  setup.shared.phase = process::Phase::run;
  if (job.verify && job.verify_below_s <= 0 && !far_off(timing_options.last_call_s, job.incumbent_s)) {
    timing_options.last_call_s = std::min(timing_options.last_call_s, verify());
    reply.verify_s = clock_now_s(CLOCK_MONOTONIC) - run_start;
    if (!complaint.empty()) return ended(Status::wrong_output, complaint);
  }
  const Timing timing = time_kernel(probe, timing_options);
  const double timed = clock_now_s(CLOCK_MONOTONIC);
  if (probe.status() != 0) return ended(Status::run_crash, fmt::format("The kernel returned {}, expected 0", probe.status()));
  complaint = args.trespass();
  const uint64_t after = job.verify ? args.output_hash() : 0;
  const bool fast = !timing.censored && !timing.samples_s.empty() && *std::min_element(timing.samples_s.begin(), timing.samples_s.end()) < job.verify_below_s;
  if (complaint.empty() && job.verify && fast) {
    poisoned_call(probe, args, kFirstPattern);
    verify();
  }
  if (complaint.empty() && reply.verified && after != verified) complaint = "The output changed while the kernel was called again and again";
  reply.run_s = clock_now_s(CLOCK_MONOTONIC) - run_start;
  reply.verify_s += run_start + reply.run_s - timed;
  if (!complaint.empty()) return failed(reply, Status::wrong_output, complaint);
  if (events) reply.events = counted_calls(probe, *events, timing.samples_s.empty() ? 0 : timing.samples_s[0]);
  setup.shared.phase = process::Phase::done;

  reply.samples_s = timing.samples_s;
  reply.flags = timing.flags;
  reply.inner = timing.inner;
  reply.censored = timing.censored;
  if (reply.verified) {
    for (const HostArray& o : outputs) reply.first_nan.push_back(first_nan(o));
    if (!collect_values(job, outputs, payload)) return failed(reply, Status::infra, "A position to compare lies outside the output");
  }
  reply.status = Status::ok;
  return reply;
}

}  // namespace tw::measure
