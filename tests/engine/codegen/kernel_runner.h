// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/host_array.h"
#include "engine/codegen/codegen.h"
#include "engine/ir/expr.h"
#include "engine/tir/stmt.h"

/// What the tests of code generation share: a runtime without threads, and one call that compiles, loads and runs a function.
namespace tw::codegen::testing {

/// Runs parallel loops in three uneven pieces, last piece first, on the calling thread; counts allocations.
struct SerialRuntime {
  int allocated = 0, freed = 0, parallel_loops = 0;
  runtime::RuntimeApi api;

  SerialRuntime() {
    api.ctx = this;
    api.parallel_for = [](void* ctx, int64_t n, void (*body)(void*, int64_t, int64_t), void* closure) {
      ++static_cast<SerialRuntime*>(ctx)->parallel_loops;
      const int64_t cuts[] = {0, n / 4, n / 4 + n / 3, n};
      for (int i = 2; i >= 0; --i) body(closure, cuts[i], cuts[i + 1]);
    };
    api.alloc = [](void* ctx, int64_t bytes) {
      ++static_cast<SerialRuntime*>(ctx)->allocated;
      return std::aligned_alloc(64, static_cast<size_t>((bytes + 63) / 64 * 64));
    };
    api.free = [](void* ctx, void* p) {
      ++static_cast<SerialRuntime*>(ctx)->freed;
      std::free(p);
    };
  }
};

/// A 64-byte aligned copy of an array with unreachable bytes around it filled by a pattern.
class AlignedCopy {
 public:
  explicit AlignedCopy(const HostArray& a)
      : bytes_(a.data.size()), storage_(static_cast<std::byte*>(std::aligned_alloc(64, (bytes_ + 191) / 64 * 64)), std::free) {
    std::memset(storage_.get(), 0x5a, (bytes_ + 191) / 64 * 64);
    std::memcpy(data(), a.data.data(), bytes_);
  }
  std::byte* data() { return storage_.get() + 64; }
  /// Whether nothing was written beside the array.
  bool margins_intact() const {
    for (size_t i = 0; i < (bytes_ + 191) / 64 * 64; ++i)
      if ((i < 64 || i >= 64 + bytes_) && storage_.get()[i] != std::byte{0x5a}) return false;
    return true;
  }

 private:
  size_t bytes_;
  std::unique_ptr<std::byte, decltype(&std::free)> storage_;
};

/// A function and its arguments; the outputs among them are overwritten.
struct Job {
  tir::Func func;
  std::vector<HostArray> args;
};

inline Expected<void> call(runtime::LoadedModule& module, const std::string& name, std::vector<HostArray>& args, const runtime::RuntimeApi& api) {
  TW_TRY(const runtime::KernelFn kernel, module.find(name));
  std::vector<AlignedCopy> copies(args.begin(), args.end());
  std::vector<void*> pointers;
  for (AlignedCopy& c : copies) pointers.push_back(c.data());
  if (const int32_t status = kernel(pointers.data(), &api); status != 0)
    return Error(ErrorCode::wrong_result, "Expected status 0, found " + std::to_string(status));
  for (size_t i = 0; i < args.size(); ++i) {
    if (!copies[i].margins_intact()) return Error(ErrorCode::wrong_result, "Expected writes inside array " + std::to_string(i) + " only");
    std::memcpy(args[i].data.data(), copies[i].data(), args[i].data.size());
  }
  return {};
}

/// Compiles all functions into one object, loads it and runs each; names are made unique.
inline Expected<void> run_all(std::vector<Job>& jobs, const Target& target, OptLevel opt = OptLevel::tuning, SerialRuntime* runtime = nullptr) {
  std::vector<tir::Func> funcs;
  for (Job& job : jobs) {
    job.func.name += std::to_string(funcs.size());
    funcs.push_back(job.func);
  }
  TW_TRY(const auto object, build_object(funcs, target, {.opt = opt}));
  TW_TRY(const auto module, load_object(object));
  SerialRuntime own;
  for (Job& job : jobs) TW_CHECK(call(*module, job.func.name, job.args, runtime != nullptr ? runtime->api : own.api));
  return {};
}

inline Expected<void> run(const tir::Func& f, std::vector<HostArray>& args, const Target& target, OptLevel opt = OptLevel::tuning,
                          SerialRuntime* runtime = nullptr) {
  std::vector<Job> jobs = {{f, args}};
  TW_CHECK(run_all(jobs, target, opt, runtime));
  args = std::move(jobs[0].args);
  return {};
}

/// out[i] = value(i) for i < n, where `value` makes the expression from the index; vectors of `lanes` if more than one.
template <class F>
tir::Func elementwise(const std::vector<ir::Buffer>& inputs, const ir::Buffer& out, int lanes, F value) {
  const ir::Var i = ir::make_var("i");
  const int64_t n = out->num_elements();
  const ir::Expr first = ir::to_expr(i) * int64_t{lanes};
  const ir::Expr at = lanes == 1 ? first : ir::ramp(first, ir::index(1), lanes);
  std::vector<ir::Buffer> params = inputs;
  params.push_back(out);
  return {"kernel", std::move(params), 1, tir::make_for(i, ir::index(0), ir::index(n / lanes), tir::ForKind::serial, tir::store(out, {at}, value(at)))};
}

}  // namespace tw::codegen::testing
