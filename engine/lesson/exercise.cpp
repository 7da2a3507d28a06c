// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/exercise.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/base/rng.h"
#include "engine/tir/interp.h"
#include "engine/tir/parse.h"
#include "engine/tir/verify.h"
#include "engine/tir/visit.h"

namespace tw::lesson {
namespace {

constexpr int64_t kMostBytes = 4 << 20, kMostThreads = 4096;
constexpr std::chrono::seconds kMostTime{5};
constexpr double kTolerance = 1e-4;

/// Asks for an end when its time is over, or when somebody else does.
class Deadline {
 public:
  explicit Deadline(const StopToken& outer) : outer_(outer, [this] { source_.request_stop(); }), thread_([this](const StopToken& stop) {
    std::unique_lock lock(mutex_);
    if (!ended_.wait_for(lock, stop, kMostTime, [] { return false; }) && !stop.stop_requested()) late_ = true, source_.request_stop();
  }) {}
  StopToken token() const { return source_.get_token(); }
  bool is_late() const { return late_; }

 private:
  StopSource source_;
  std::stop_callback<std::function<void()>> outer_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::atomic<bool> late_ = false;
  std::jthread thread_;
};

Expected<tir::Func> function_of(const std::string& text) {
  TW_TRY(tir::Func f, tir::parse_func(text));
  int64_t bytes = 0;
  // Products of extents that overflow are none that fit.
  const auto add = [&](const tir::Buffer& b) {
    double size = b->dtype.bytes();
    for (const int64_t d : b->shape) size *= static_cast<double>(std::max<int64_t>(d, 0));
    bytes = size > kMostBytes ? kMostBytes + 1 : std::min(bytes + static_cast<int64_t>(size), kMostBytes + 1);
  };
  for (const tir::Buffer& b : f.params) add(b);
  double threads = 1;
  tir::walk(f.body, [&](const tir::Stmt& s) {
    if (s->kind() == tir::StmtKind::alloc) add(static_cast<const tir::AllocNode&>(*s).buffer);
    if (s->kind() != tir::StmtKind::for_) return;
    const auto& loop = static_cast<const tir::ForNode&>(*s);
    if (tir::is_bound(loop.for_kind)) threads *= static_cast<double>(ir::as_int(loop.extent).value_or(kMostThreads + 1));
  });
  if (threads > kMostThreads) return Error(ErrorCode::resource_limit, fmt::format("Expected blocks and threads of at most {} together", kMostThreads));
  if (bytes > kMostBytes) return Error(ErrorCode::resource_limit, fmt::format("Expected arrays of at most {} MiB together", kMostBytes >> 20));
  if (const auto sound = tir::verify(f, tir::VerifyLevel::shape); !sound) return Error(ErrorCode::parse_error, sound.error().message, sound.error().where);
  return f;
}

/// The outputs after a run on seeded inputs.
Expected<std::vector<HostArray>> outputs_of(const tir::Func& f, tir::ThreadOrder order, const StopToken& stop) {
  Rng rng(7);
  std::vector<HostArray> arrays;
  for (const tir::Buffer& b : f.params) {
    HostArray a = HostArray::make(b->dtype, b->shape);
    for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, static_cast<double>(rng.range(-8, 8)));
    arrays.push_back(std::move(a));
  }
  TW_CHECK(tir::interpret(f, arrays, stop, order));
  return std::vector<HostArray>(arrays.end() - f.num_outputs, arrays.end());
}

bool have_same_parameters(const tir::Func& a, const tir::Func& b) {
  if (a.params.size() != b.params.size() || a.num_outputs != b.num_outputs) return false;
  for (size_t i = 0; i < a.params.size(); ++i)
    if (a.params[i]->shape != b.params[i]->shape || a.params[i]->dtype != b.params[i]->dtype) return false;
  return true;
}

Error with_code(Error e, ErrorCode code) {
  e.code = code;
  return e;
}

}  // namespace

Expected<void> run_exercise(const std::string& text, const std::string& solution, const StopToken& stop) {
  if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Cancelled");
  const auto right = function_of(solution);
  if (!right) return with_code(right.error(), ErrorCode::internal);
  TW_TRY(const tir::Func f, function_of(text));
  if (!have_same_parameters(f, *right)) return Error(ErrorCode::invalid_argument, "Expected the parameters to stay as they are");
  const Deadline deadline(stop);
  const auto expected = outputs_of(*right, {}, deadline.token());
  if (!expected) return with_code(expected.error(), ErrorCode::internal);
  using Kind = tir::ThreadOrder::Kind;
  for (const tir::ThreadOrder order : {tir::ThreadOrder{Kind::forward, 0}, tir::ThreadOrder{Kind::reverse, 0}, tir::ThreadOrder{Kind::shuffled, 1}}) {
    const auto found = outputs_of(f, order, deadline.token());
    if (!found) {
      if (deadline.is_late()) return Error(ErrorCode::timeout, fmt::format("Expected the program to end within {} seconds", kMostTime.count()));
      return found.error();
    }
    for (size_t o = 0; o < found->size(); ++o)
      for (int64_t i = 0; i < (*found)[o].num_elements(); ++i) {
        const double is = (*found)[o].get(i), should = (*expected)[o].get(i);
        if (std::abs(is - should) <= kTolerance * std::max(1.0, std::abs(should))) continue;
        const std::string& name = f.params[f.params.size() - static_cast<size_t>(f.num_outputs) + o]->name;
        return Error(ErrorCode::wrong_result, fmt::format("Expected element {} of '{}' to be {}, found {}", i, name, should, is));
      }
  }
  return {};
}

}  // namespace tw::lesson
