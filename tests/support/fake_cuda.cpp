// SPDX-License-Identifier: Apache-2.0
// A stand-in for NVIDIA's driver, for tests on machines without one: the entry points that runtime/cuda_driver opens, over the processor's memory. An image is
// text, one kernel a line: its name, then what a launch does: `double N` (parameter 1 = 2 * parameter 0, N floats), `nothing`, `wild` (writes past the end of
// parameter 1 of N floats: `wild N`; `early N` writes before its beginning, `spoil N` into parameter 0), `hang`, or `fail CODE` (the error shows when the queue is
// waited for, and at every call from then on).
// $TW_FAKE_CUDA sets what the machine is like, separated by spaces: `devices=N version=13000 init=CODE memory=BYTES capability=90 launch=CODE event=NS`.
// It stands in for the management library too: `clock=MHZ slowed=BITS strangers=N nvml=CODE`.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kOk = 0, kInvalidValue = 1, kNoMemory = 2, kInvalidImage = 200, kNotFound = 500;

long setting(const char* name, long otherwise) {
  const char* all = std::getenv("TW_FAKE_CUDA");
  std::istringstream words(all ? all : "");
  const std::string wanted = std::string(name) + "=";
  for (std::string word; words >> word;)
    if (word.rfind(wanted, 0) == 0) return std::atol(word.c_str() + wanted.size());
  return otherwise;
}

struct Kernel {
  std::string name, action;
  long number = 0;
};
using Module = std::vector<Kernel>;
struct Launch {
  const Kernel* kernel;  ///< null for an event
  std::vector<uint64_t> params;
  double* event = nullptr;
};
using Graph = std::vector<Launch>;

int sticky = kOk;  // once set, every call gives it
Graph* capturing = nullptr;
std::map<uint64_t, size_t> memory;
size_t used = 0;
double now_ms = 0;
int capabilities() { return static_cast<int>(setting("capability", 90)); }

void run(const Launch& l) {
  if (!l.kernel) {
    *l.event = now_ms;
    now_ms += 1e-6 * static_cast<double>(setting("event", 0));
    return;
  }
  now_ms += 1e-4;  // less than it takes, so that nobody calls it impossible
  const auto floats = [&](size_t i) { return reinterpret_cast<float*>(l.params[i]); };
  if (const std::string& a = l.kernel->action; a == "double" || a == "wild" || a == "early" || a == "spoil")
    for (long i = 0; i < l.kernel->number; ++i) floats(1)[i] = 2 * floats(0)[i];
  if (l.kernel->action == "wild") floats(1)[l.kernel->number + 3] = 1;
  if (l.kernel->action == "early") floats(1)[-2] = 1;
  if (l.kernel->action == "spoil") floats(0)[l.kernel->number - 1] += 1;
  if (l.kernel->action == "fail") sticky = static_cast<int>(l.kernel->number);
  while (l.kernel->action == "hang") sleep(1);
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) int

FAKE cuInit(unsigned) { return static_cast<int>(setting("init", kOk)); }
FAKE cuDriverGetVersion(int* v) { return *v = static_cast<int>(setting("version", 13000)), kOk; }
FAKE cuDeviceGetCount(int* n) { return *n = static_cast<int>(setting("devices", 1)), kOk; }
FAKE cuDeviceGet(int* d, int ordinal) { return *d = ordinal, kOk; }
FAKE cuDeviceGetName(char* name, int length, int) { return std::strncpy(name, "NVIDIA H200", static_cast<size_t>(length)), kOk; }
FAKE cuDeviceGetUuid_v2(void* bytes, int d) { return std::memset(bytes, 0x10 + d, 16), kOk; }
FAKE cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = static_cast<size_t>(setting("memory", 1L << 30)), kOk; }
FAKE cuDeviceGetAttribute(int* value, int attribute, int) {
  const std::map<int, int> known{{13, 1980000}, {16, 132}, {38, 1 << 20}, {75, capabilities() / 10}, {76, capabilities() % 10}, {97, 227 * 1024}};
  const auto it = known.find(attribute);
  if (it == known.end()) return kInvalidValue;
  return *value = it->second, kOk;
}
FAKE cuDevicePrimaryCtxRetain(void** c, int) { return *c = &sticky, sticky; }
FAKE cuDevicePrimaryCtxRelease_v2(int) { return sticky; }
FAKE cuCtxSetCurrent(void*) { return sticky; }
FAKE cuMemAlloc_v2(uint64_t* at, size_t bytes) {
  if (sticky) return sticky;
  if (used + bytes > static_cast<size_t>(setting("memory", 1L << 30))) return kNoMemory;
  *at = reinterpret_cast<uint64_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  memory[*at] = bytes;
  used += bytes;
  return kOk;
}
FAKE cuMemFree_v2(uint64_t at) {
  const auto it = memory.find(at);
  if (it == memory.end()) return kInvalidValue;
  used -= it->second;
  memory.erase(it);
  std::free(reinterpret_cast<void*>(at));
  return sticky;
}
FAKE cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t n, void*) { return std::memcpy(reinterpret_cast<void*>(to), from, n), sticky; }
FAKE cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t n, void*) { return std::memcpy(to, reinterpret_cast<void*>(from), n), sticky; }
FAKE cuMemsetD8Async(uint64_t at, unsigned char v, size_t n, void*) { return std::memset(reinterpret_cast<void*>(at), v, n), sticky; }
FAKE cuStreamCreate(void** s, unsigned) { return *s = &now_ms, sticky; }
FAKE cuStreamDestroy_v2(void*) { return sticky; }
FAKE cuStreamSynchronize(void*) { return sticky; }
FAKE cuModuleLoadDataEx(void** m, const void* image, unsigned, int*, void**) {
  auto module = std::make_unique<Module>();
  std::istringstream lines(std::string(static_cast<const char*>(image)));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Kernel k;
    if (!(words >> k.name >> k.action)) return kInvalidImage;
    words >> k.number;
    module->push_back(k);
  }
  if (module->empty()) return kInvalidImage;
  *m = module.release();
  return sticky;
}
FAKE cuModuleUnload(void* m) { return delete static_cast<Module*>(m), sticky; }
FAKE cuModuleGetFunction(void** f, void* m, const char* name) {
  for (Kernel& k : *static_cast<Module*>(m))
    if (k.name == name) return *f = &k, kOk;
  return kNotFound;
}
FAKE cuFuncGetAttribute(int* value, int attribute, void*) { return *value = attribute == 4 ? 32 : 0, kOk; }
FAKE cuFuncSetAttribute(void*, int attribute, int value) { return attribute == 8 && value <= 227 * 1024 ? kOk : kInvalidValue; }
FAKE cuLaunchKernel(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned, void*, void** params, void**) {
  if (sticky) return sticky;
  if (const long refused = setting("launch", kOk)) return static_cast<int>(refused);
  if (gx * gy * gz == 0 || bx * by * bz == 0 || bx * by * bz > 1024) return kInvalidValue;
  Launch l{static_cast<Kernel*>(f), {}, nullptr};
  for (int i = 0; i < 2; ++i) l.params.push_back(*static_cast<uint64_t*>(params[i]));
  if (capturing)
    capturing->push_back(l);
  else
    run(l);
  return kOk;
}
FAKE cuEventCreate(void** e, unsigned) { return *e = new double(0), sticky; }
FAKE cuEventDestroy_v2(void* e) { return delete static_cast<double*>(e), sticky; }
FAKE cuEventRecordWithFlags(void* e, void*, unsigned flags) {
  if ((capturing != nullptr) != (flags == 1)) return kInvalidValue;  // an event of a capture has a time only if it is external
  const Launch event{nullptr, {}, static_cast<double*>(e)};
  if (capturing)
    capturing->push_back(event);
  else
    run(event);
  return sticky;
}
FAKE cuEventElapsedTime(float* ms, void* from, void* to) { return *ms = static_cast<float>(*static_cast<double*>(to) - *static_cast<double*>(from)), sticky; }
FAKE cuStreamBeginCapture_v2(void*, int) { return capturing = new Graph, sticky; }
FAKE cuStreamEndCapture(void*, void** g) { return *g = capturing, capturing = nullptr, sticky; }
FAKE cuGraphInstantiateWithFlags(void** exec, void* g, unsigned long long) { return *exec = new Graph(*static_cast<Graph*>(g)), sticky; }
FAKE cuGraphLaunch(void* exec, void*) {
  for (const Launch& l : *static_cast<Graph*>(exec)) run(l);
  return kOk;
}
FAKE cuGraphExecDestroy(void* exec) { return delete static_cast<Graph*>(exec), kOk; }
FAKE cuGraphDestroy(void* g) { return delete static_cast<Graph*>(g), kOk; }
FAKE cuGetErrorName(int code, const char** name) {
  static const std::map<int, const char*> names{{1, "CUDA_ERROR_INVALID_VALUE"},
                                                {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
                                                {999, "CUDA_ERROR_UNKNOWN"}};
  const auto it = names.find(code);
  return *name = it == names.end() ? "CUDA_ERROR" : it->second, kOk;
}
FAKE cuGetErrorString(int, const char** words) { return *words = "as the test wants it", kOk; }

FAKE nvmlInit_v2() { return static_cast<int>(setting("nvml", kOk)); }
FAKE nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = &now_ms;
  return std::strcmp(uuid, "GPU-10101010-1010-1010-1010-101010101010") == 0 ? kOk : 6;  // not found
}
FAKE nvmlDeviceGetClockInfo(void*, int kind, unsigned* mhz) { return *mhz = static_cast<unsigned>(setting("clock", 1980)), kind == 1 ? kOk : 2; }
FAKE nvmlDeviceGetMaxClockInfo(void*, int kind, unsigned* mhz) { return *mhz = 1980, kind == 1 ? kOk : 2; }
FAKE nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) { return *celsius = 41, sensor == 0 ? kOk : 2; }
FAKE nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  return *reasons = static_cast<unsigned long long>(setting("slowed", 0)), kOk;
}
/// This process, and the first one of the machine.
FAKE nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void* infos) {
  struct Info {
    unsigned pid;
    unsigned long long bytes;
    unsigned instance, compute_instance;
  };
  auto* out = static_cast<Info*>(infos);
  const auto strangers = static_cast<unsigned>(setting("strangers", 0));
  if (*count < strangers + 1) return 7;  // too little room
  out[0].pid = static_cast<unsigned>(getpid());
  for (unsigned k = 1; k <= strangers; ++k) out[k].pid = 1;
  *count = strangers + 1;
  return kOk;
}
