// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/cuda_driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "engine/base/text.h"

namespace tw::runtime {

namespace {

constexpr int kNoDevice = 100;

/// The first function that is missing, or nothing.
std::optional<std::string> resolve_driver(void* library, CudaDriver& d) {
  std::optional<std::string> missing;
  const auto take = [&](auto& function, const char* name, const char* older = nullptr) {
    void* found = dlsym(library, name);
    if (!found && older) found = dlsym(library, older);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    if (!function && !missing) missing = name;
  };
  take(d.init, "cuInit");
  take(d.version, "cuDriverGetVersion");
  take(d.device_count, "cuDeviceGetCount");
  take(d.device_get, "cuDeviceGet");
  take(d.device_name, "cuDeviceGetName");
  take(d.device_attribute, "cuDeviceGetAttribute");
  take(d.device_memory, "cuDeviceTotalMem_v2");
  take(d.device_uuid, "cuDeviceGetUuid_v2", "cuDeviceGetUuid");
  take(d.context_retain, "cuDevicePrimaryCtxRetain");
  take(d.context_release, "cuDevicePrimaryCtxRelease_v2");
  take(d.context_set, "cuCtxSetCurrent");
  take(d.alloc, "cuMemAlloc_v2");
  take(d.free, "cuMemFree_v2");
  take(d.upload, "cuMemcpyHtoDAsync_v2");
  take(d.download, "cuMemcpyDtoHAsync_v2");
  take(d.fill, "cuMemsetD8Async");
  take(d.stream_create, "cuStreamCreate");
  take(d.stream_destroy, "cuStreamDestroy_v2");
  take(d.stream_synchronize, "cuStreamSynchronize");
  take(d.module_load, "cuModuleLoadDataEx");
  take(d.module_unload, "cuModuleUnload");
  take(d.module_function, "cuModuleGetFunction");
  take(d.function_attribute, "cuFuncGetAttribute");
  take(d.set_function_attribute, "cuFuncSetAttribute");
  take(d.launch, "cuLaunchKernel");
  take(d.event_create, "cuEventCreate");
  take(d.event_destroy, "cuEventDestroy_v2");
  take(d.event_record, "cuEventRecordWithFlags");
  take(d.event_elapsed, "cuEventElapsedTime");
  take(d.capture_begin, "cuStreamBeginCapture_v2");
  take(d.capture_end, "cuStreamEndCapture");
  take(d.graph_instantiate, "cuGraphInstantiateWithFlags");
  take(d.graph_launch, "cuGraphLaunch");
  take(d.graph_exec_destroy, "cuGraphExecDestroy");
  take(d.graph_destroy, "cuGraphDestroy");
  take(d.error_name, "cuGetErrorName");
  take(d.error_string, "cuGetErrorString");
  return missing;
}

struct StartedDriver {
  CudaDriver functions;
  std::optional<Error> error;
};

StartedDriver start_driver() {
  StartedDriver s{};
  const char* named = std::getenv("TW_CUDA_DRIVER");
  const std::string file = named ? named : "libcuda.so.1";
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    s.error = Error(ErrorCode::not_found, fmt::format("Expected NVIDIA's driver ({}) on this machine, found none", printable(file)));
    return s;
  }
  if (const auto missing = resolve_driver(library, s.functions)) {
    s.error = Error(ErrorCode::version, fmt::format("Expected a driver of CUDA 11.4 or newer, found one without {}", *missing), file);
    return s;
  }
  int count = 0;
  int code = s.functions.init(0);
  if (code == 0) code = s.functions.device_count(&count);
  if (code == kNoDevice || (code == 0 && count == 0))
    s.error = Error(ErrorCode::not_found, "Expected a GPU that NVIDIA's driver shows to this process, found none");
  else if (code != 0)
    s.error = Error(ErrorCode::infrastructure, fmt::format("Expected NVIDIA's driver to start, found {}", s.functions.text(code)), file);
  return s;
}

const StartedDriver& started_driver() {
  static const StartedDriver driver = start_driver();
  return driver;
}

}  // namespace

std::string CudaDriver::text(int code) const {
  const char *name = nullptr, *words = nullptr;
  if (error_name(code, &name) != 0 || !name) return fmt::format("error {}", code);
  error_string(code, &words);
  return fmt::format("{} ({}){}{}", name, code, words ? ", " : "", words ? words : "");
}

Expected<const CudaDriver*> cuda_driver() {
  const StartedDriver& d = started_driver();
  if (d.error) return *d.error;
  return &d.functions;
}

Expected<std::string> cuda_driver_version() {
  TW_TRY(const CudaDriver* d, cuda_driver());
  int version = 0;
  if (const int code = d->version(&version); code != 0)
    return Error(ErrorCode::infrastructure, fmt::format("Expected the driver's version, found {}", d->text(code)));
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Expected<int> cuda_device_count() {
  TW_TRY(const CudaDriver* d, cuda_driver());
  int count = 0;
  if (const int code = d->device_count(&count); code != 0)
    return Error(ErrorCode::infrastructure, fmt::format("Expected the number of GPUs, found {}", d->text(code)));
  return count;
}

bool is_sticky(int code) {
  // Illegal address, launch timeout, assert, hardware stack, illegal instruction, misaligned address, invalid address space, invalid program counter, launch
  // failed, uncorrectable ECC error.
  constexpr int kSticky[] = {214, 700, 702, 710, 714, 715, 716, 717, 718, 719};
  return std::find(std::begin(kSticky), std::end(kSticky), code) != std::end(kSticky);
}

}  // namespace tw::runtime
