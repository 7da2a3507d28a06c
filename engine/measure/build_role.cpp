// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/build_role.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "engine/base/heap.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/cuda/gpu_function.h"
#include "engine/lower/lower.h"
#include "engine/measure/limits.h"
#include "engine/measure/signature.h"
#include "engine/measure/worker.h"
#include "engine/process/child_process.h"
#include "engine/process/frame.h"
#include "engine/process/handshake.h"
#include "engine/records/measure_result.h"
#include "engine/simulate/legality.h"

namespace tw::measure {

namespace {

using records::Status;

struct CurrentTask {
  te::DagPtr dag;
  Target target;
  std::optional<codegen::ObjectBuilder> builder;
};

struct Built {
  Status status = Status::ok;
  std::string message;
  Json signature;
  std::vector<std::byte> object;  ///< for a GPU: the image
  Json gpu = {};                  ///< for a GPU: runtime::GpuFunction
};

Expected<std::string> text_of(const Json& header, const char* key) {
  if (header.contains(key) && header[key].is_string()) return header[key].get<std::string>();
  return Error(ErrorCode::parse_error, fmt::format("Expected text as \"{}\" in a message to the build worker", key));
}

Expected<CurrentTask> read_task(const Json& header) {
  CurrentTask task;
  TW_TRY(const std::string dag, text_of(header, "dag"));
  TW_TRY(task.dag, te::parse_dag(dag));
  if (!header.contains("target")) return Error(ErrorCode::parse_error, "Expected a target in a message to the build worker");
  TW_TRY(task.target, target_from_json(header["target"]));
  if (!task.target.gpu) task.builder.emplace(task.target, codegen::BuildOptions{.verify = false});
  return task;
}

/// CUDA C++ and machine code, refused where no block of it would fit on a multiprocessor.
Built build_for_gpu(const tir::Func& func, const target::Gpu& gpu, const Json& signature) {
  // A machine without the compiler is not the candidate's fault.
  const auto fail = [](const Error& e) { return Built{e.code == ErrorCode::not_found ? Status::infra : Status::build_fail, e.text(), {}, {}}; };
  if (const auto legal = simulate::check_launches(func, gpu); !legal) return fail(legal.error());
  auto function = codegen::gpu_function(func);
  if (!function) return fail(function.error());
  const auto kernels = codegen::add_image(*function, gpu.capability);
  if (!kernels) return fail(kernels.error());
  for (const runtime::GpuLaunch& l : function->launches) {
    const codegen::KernelResources* found = codegen::find_resources(*kernels, l.kernel);
    if (!found) return fail(Error(ErrorCode::not_found, fmt::format("Expected NVRTC to name what '{}' takes, found nothing in its log", l.kernel)));
    const codegen::KernelResources& k = *found;
    const auto threads = static_cast<int>(l.block[0] * l.block[1] * l.block[2]);
    if (target::occupancy(gpu.capability, threads, k.registers, k.shared_bytes + l.dynamic_shared_bytes).blocks == 0)
      return fail(
          Error(ErrorCode::resource_limit, fmt::format("Expected a block that fits on a multiprocessor, found {} threads of {} registers with {} bytes of "
                                                       "shared memory",
                                                       threads, k.registers, k.shared_bytes + l.dynamic_shared_bytes)));
  }
  return {Status::ok, "", signature, function->images.at(gpu.capability), runtime::to_json(*function)};
}

Built build(CurrentTask& task, const Json& header) {
  const auto fail = [](Status status, const Error& e) { return Built{status, e.text(), {}, {}}; };
  const auto name = text_of(header, "name");
  if (!name) return fail(Status::infra, name.error());
  const auto steps = schedule::steps_from_json(header.contains("steps") ? header["steps"] : Json());
  if (!steps) return fail(Status::lower_fail, steps.error());
  const auto schedule = schedule::Schedule::replay(task.dag, *steps);
  if (!schedule) return fail(Status::lower_fail, schedule.error());
  const auto func = lower::lower_and_optimize(*schedule, *name, task.target);
  if (!func) return fail(Status::lower_fail, func.error());
  const Json signature = runtime::to_json(signature_of(*schedule, *name));
  if (task.target.gpu) return build_for_gpu(*func, *task.target.gpu, signature);
  auto object = task.builder->build({*func});
  if (!object) return fail(Status::build_fail, object.error());
  return {Status::ok, "", signature, std::move(*object)};
}

/// Ends this process and what it started as soon as the other end of the channel is gone, even in the middle of a compilation.
/// A death signal of the system would not do: it follows the thread that started the worker, not the program.
void die_with_the_program() {
  std::thread([] {
    pollfd channel{process::kChannelFd, POLLRDHUP, 0};
    while (::poll(&channel, 1, -1) < 0) {
    }
    ::kill(0, SIGKILL);
  }).detach();
}

Expected<void> answer_request(const process::Frame& request, std::optional<Expected<CurrentTask>>& task) {
  TW_TRY(const std::string command, text_of(request.header, "command"));
  if (command == "task") {
    task = read_task(request.header);
    return {};
  }
  if (command != "build") return Error(ErrorCode::parse_error, fmt::format("Unknown command \"{}\"", printable(command)));
  const auto start = std::chrono::steady_clock::now();
  Built built{Status::infra, "The build worker was told no task", {}, {}};
  if (task && !*task) built.message = task->error().text();
  try {
    if (task && *task) built = build(**task, request.header);
  } catch (const InternalError& e) {
    built = {Status::infra, fmt::format("Internal error: {}", e.what()), {}, {}};
  } catch (const std::bad_alloc&) {
    _exit(process::kExitOutOfMemory);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Json header{{"id", request.header.contains("id") ? request.header["id"] : Json(-1)},
                    {"status", records::status_name(built.status)},
                    {"message", built.message},
                    {"seconds", seconds},
                    {"signature", built.signature},
                    {"gpu", built.gpu}};
  return process::write_frame(process::kChannelFd, header, built.object);
}

}  // namespace

int build_role(int64_t memory_bytes) {
  die_with_the_program();
  limit_builder(memory_bytes);
  keep_freed_memory();
  sched_param none{};
  sched_setscheduler(0, SCHED_BATCH, &none);  // interactive programs go first
  if (!process::write_frame(process::kChannelFd, process::hello("build", kProtocolVersion))) return 1;
  std::optional<Expected<CurrentTask>> task;
  for (;;) {
    auto request = process::read_frame(process::kChannelFd);
    if (!request) return 1;
    if (!*request) return 0;
    if (!answer_request(**request, task)) return 1;
  }
}

}  // namespace tw::measure
