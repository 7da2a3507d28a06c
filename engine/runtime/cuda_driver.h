// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/base/expected.h"

/// NVIDIA's driver, opened when it is first needed; programs start without one. Source of functions, constants and codes: CUDA Driver API, Toolkit 13.0
/// (cuda.h).
namespace tw::runtime {

/// Entry points under the names of the library, with the versions that its header would choose.
struct CudaDriver {
  using Context = void*;
  using Stream = void*;
  using Module = void*;
  using Function = void*;
  using Event = void*;
  using Graph = void*;
  using GraphExec = void*;
  using Address = uint64_t;

  int (*init)(unsigned flags);
  int (*version)(int*);
  int (*device_count)(int*);
  int (*device_get)(int*, int ordinal);
  int (*device_name)(char*, int length, int device);
  int (*device_attribute)(int*, int attribute, int device);
  int (*device_memory)(size_t*, int device);
  int (*device_uuid)(void* bytes16, int device);
  int (*context_retain)(Context*, int device);
  int (*context_release)(int device);
  int (*context_set)(Context);
  int (*alloc)(Address*, size_t);
  int (*free)(Address);
  int (*upload)(Address, const void*, size_t, Stream);
  int (*download)(void*, Address, size_t, Stream);
  int (*fill)(Address, unsigned char, size_t, Stream);
  int (*stream_create)(Stream*, unsigned flags);
  int (*stream_destroy)(Stream);
  int (*stream_synchronize)(Stream);
  int (*module_load)(Module*, const void* image, unsigned options, int* names, void** values);
  int (*module_unload)(Module);
  int (*module_function)(Function*, Module, const char*);
  int (*function_attribute)(int*, int attribute, Function);
  int (*set_function_attribute)(Function, int attribute, int);
  int (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared, Stream, void** params, void** extra);
  int (*event_create)(Event*, unsigned flags);
  int (*event_destroy)(Event);
  int (*event_record)(Event, Stream, unsigned flags);
  int (*event_elapsed)(float* milliseconds, Event, Event);
  int (*capture_begin)(Stream, int mode);
  int (*capture_end)(Stream, Graph*);
  int (*graph_instantiate)(GraphExec*, Graph, unsigned long long flags);
  int (*graph_launch)(GraphExec, Stream);
  int (*graph_exec_destroy)(GraphExec);
  int (*graph_destroy)(Graph);
  int (*error_name)(int, const char**);
  int (*error_string)(int, const char**);

  /// "CUDA_ERROR_OUT_OF_MEMORY (2), out of memory"
  std::string text(int code) const;
};

/// Opens the library (libcuda.so.1, or the file that $TW_CUDA_DRIVER names) and starts it, once. Errors, in one sentence each: not_found without a driver or
/// without a GPU; version for a driver that lacks what is needed; infrastructure with the driver's own word.
Expected<const CudaDriver*> cuda_driver();
/// "13.0", the newest CUDA that the driver knows.
Expected<std::string> cuda_driver_version();
/// GPUs that the driver shows this process. Errors: as cuda_driver.
Expected<int> cuda_device_count();

/// Whether nothing works any more in a process after this code: the context is corrupt.
bool is_sticky(int code);

}  // namespace tw::runtime
