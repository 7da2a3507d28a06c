// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "engine/base/text.h"
#include "engine/codegen/cuda/toolkit.h"
#include "engine/runtime/cuda_driver.h"

namespace tw::codegen {

namespace {

using Program = void*;
constexpr int kSuccess = 0;

struct Nvrtc {
  int (*version)(int*, int*) = nullptr;
  int (*num_archs)(int*) = nullptr;
  int (*archs)(int*) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*ptx_size)(Program, size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  int (*cubin_size)(Program, size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  const char* (*error_text)(int) = nullptr;
};

template <class F>
bool resolve(void* handle, F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  return function != nullptr;
}

bool resolve_all(void* handle, Nvrtc& n) {
  return resolve(handle, n.version, "nvrtcVersion") && resolve(handle, n.num_archs, "nvrtcGetNumSupportedArchs") &&
         resolve(handle, n.archs, "nvrtcGetSupportedArchs") && resolve(handle, n.create, "nvrtcCreateProgram") &&
         resolve(handle, n.destroy, "nvrtcDestroyProgram") && resolve(handle, n.compile, "nvrtcCompileProgram") &&
         resolve(handle, n.ptx_size, "nvrtcGetPTXSize") && resolve(handle, n.ptx, "nvrtcGetPTX") && resolve(handle, n.cubin_size, "nvrtcGetCUBINSize") &&
         resolve(handle, n.cubin, "nvrtcGetCUBIN") && resolve(handle, n.log_size, "nvrtcGetProgramLogSize") && resolve(handle, n.log, "nvrtcGetProgramLog") &&
         resolve(handle, n.error_text, "nvrtcGetErrorString");
}

/// A driver loads code of compilers of its own major version and of older ones.
bool suits_driver(const Nvrtc& n) {
  const auto driver = runtime::cuda_driver_version();
  int major = 0, minor = 0;
  return !driver || n.version(&major, &minor) != kSuccess || major <= std::atoi(driver->c_str());
}

/// The first that suits the driver, if there is one, else the first.
Expected<Nvrtc> open_library() {
  const char* const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
  std::vector<std::string> candidates(std::begin(names), std::end(names));
  const char* named = std::getenv("TW_NVRTC");
  if (named) candidates = {named};
  for (const std::filesystem::path& folder : named ? std::vector<std::filesystem::path>() : toolkit_folders())
    for (const char* sub : {"lib64", "lib"})
      for (const char* name : names) candidates.push_back((folder / sub / name).string());
  std::optional<Nvrtc> first;
  for (const std::string& path : candidates) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    Nvrtc n;
    if (!handle || !resolve_all(handle, n)) continue;
    if (suits_driver(n)) return n;
    if (!first) first = n;
  }
  if (first) return *first;
  return Error(ErrorCode::not_found,
               "Expected NVIDIA's compiler NVRTC (libnvrtc.so, part of the CUDA toolkit) on the library path, in $CUDA_HOME or in /usr/local/cuda, found none");
}

const Expected<Nvrtc>& library() {
  static const Expected<Nvrtc> opened = open_library();
  return opened;
}

/// Destroys the program when it goes.
struct ProgramOwner {
  const Nvrtc& nvrtc;
  Program program = nullptr;
  ~ProgramOwner() {
    if (program) nvrtc.destroy(&program);
  }
};

std::string log_of(const Nvrtc& n, Program p) {
  size_t size = 0;
  if (n.log_size(p, &size) != kSuccess || size < 2) return {};
  std::string log(size, '\0');
  n.log(p, log.data());
  log.resize(size - 1);
  return log;
}

Expected<void> compile(const Nvrtc& n, ProgramOwner& owner, const std::string& source, const std::vector<std::string>& options, int& status) {
  if (const int made = n.create(&owner.program, source.c_str(), "kernel.cu", 0, nullptr, nullptr); made != kSuccess)
    return Error(ErrorCode::infrastructure, std::string("Expected NVRTC to take a program, found: ") + n.error_text(made));
  std::vector<const char*> arguments;
  for (const std::string& o : options) arguments.push_back(o.c_str());
  status = n.compile(owner.program, static_cast<int>(arguments.size()), arguments.data());
  return {};
}

/// The line that says what is wrong, or the first.
std::string complaint(const std::string& log) {
  std::istringstream lines(log);
  std::string line, first;
  while (std::getline(lines, line)) {
    if (line.find("error") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first;
}

/// `.loc 1 12 5` above instructions, with `inlined_at 1 20 3` for those of a function that a line calls.
std::vector<int> line_table(const std::string& ptx) {
  std::vector<int> out;
  int current = -1;
  std::istringstream lines(ptx);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == ".loc") {
      int file = 0, at = 0;
      words >> file >> at;
      if (const size_t inlined = line.rfind("inlined_at"); inlined != std::string::npos) std::istringstream(line.substr(inlined + 10)) >> file >> at;
      current = at - 1;
    }
    if (word == ".entry" || word == ".visible" || word == "}") current = -1;
    const bool code = !word.empty() && word[0] != '.' && word[0] != '/' && word[0] != '}' && word[0] != '{' && word[0] != '$' && word[0] != ')';
    out.push_back(code ? current : -1);
  }
  return out;
}

}  // namespace

Expected<std::string> nvrtc_version() {
  TW_TRY(const Nvrtc n, library());
  int major = 0, minor = 0;
  n.version(&major, &minor);
  return fmt::format("NVRTC {}.{}", major, minor);
}

Expected<std::vector<int>> nvrtc_archs() {
  TW_TRY(const Nvrtc n, library());
  int count = 0;
  n.num_archs(&count);
  std::vector<int> archs(static_cast<size_t>(count));
  n.archs(archs.data());
  std::sort(archs.begin(), archs.end());
  return archs;
}

Expected<CudaBinary> nvrtc_compile(const std::string& source, int capability, bool lines) {
  TW_TRY(const Nvrtc n, library());
  TW_TRY(const std::vector<int> archs, nvrtc_archs());
  if (!std::binary_search(archs.begin(), archs.end(), capability))
    return Error(ErrorCode::unsupported,
                 fmt::format("Expected one of the architectures {} that NVRTC compiles for, found {}", fmt::join(archs, ", "), capability));
  std::vector<std::string> options{fmt::format("--gpu-architecture=sm_{}", capability), "--std=c++17", "--ptxas-options=-v"};
  if (lines) options.emplace_back("-lineinfo");
  ProgramOwner owner{n};
  int status = 0;
  TW_CHECK(compile(n, owner, source, options, status));
  CudaBinary out;
  out.log = log_of(n, owner.program);
  if (status != kSuccess) {
    // With -v the assembler's own complaint is missing from the log.
    std::erase(options, "--ptxas-options=-v");
    ProgramOwner again{n};
    TW_CHECK(compile(n, again, source, options, status));
    const std::string log = log_of(n, again.program);
    const bool assembler = log.find("ptxas") != std::string::npos;
    return Error(assembler ? ErrorCode::resource_limit : ErrorCode::internal,
                 fmt::format("Expected code that NVRTC compiles for sm_{}, found: {}", capability, complaint(log.empty() ? out.log : log)));
  }
  size_t size = 0;
  n.cubin_size(owner.program, &size);
  out.cubin.resize(size);
  if (size > 0) n.cubin(owner.program, reinterpret_cast<char*>(out.cubin.data()));
  n.ptx_size(owner.program, &size);
  out.ptx.resize(size);
  if (size > 0) {
    n.ptx(owner.program, out.ptx.data());
    out.ptx.resize(size - 1);
  }
  out.kernels = parse_resources(out.log);
  if (lines) out.ptx_line_to_source = line_table(out.ptx);
  return out;
}

const KernelResources* find_resources(const std::vector<KernelResources>& kernels, const std::string& name) {
  const auto it = std::find_if(kernels.begin(), kernels.end(), [&](const KernelResources& k) { return k.name == name; });
  return it == kernels.end() ? nullptr : &*it;
}

std::vector<KernelResources> parse_resources(const std::string& log) {
  std::vector<KernelResources> out;
  /// The number before `unit` in a line such as "0 bytes stack frame, 8 bytes spill stores".
  const auto before = [](const std::string& line, const char* unit) -> int64_t {
    const size_t at = line.find(unit);
    if (at == std::string::npos) return 0;
    const size_t end = line.find_last_of("0123456789", at);
    if (end == std::string::npos) return 0;
    size_t begin = end;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
    return std::strtoll(line.c_str() + begin, nullptr, 10);
  };
  std::istringstream lines(log);
  std::string line;
  while (std::getline(lines, line)) {
    if (const size_t at = line.find("Compiling entry function '"); at != std::string::npos) {
      const size_t begin = at + std::string("Compiling entry function '").size();
      out.emplace_back().name = line.substr(begin, line.find('\'', begin) - begin);
    } else if (!out.empty() && line.find("bytes stack frame") != std::string::npos) {
      out.back().stack_bytes = before(line, " bytes stack frame");
      out.back().spill_store_bytes = before(line, " bytes spill stores");
      out.back().spill_load_bytes = before(line, " bytes spill loads");
    } else if (!out.empty() && line.find("registers") != std::string::npos) {
      out.back().registers = static_cast<int>(before(line, " registers"));
      out.back().barriers = static_cast<int>(before(line, " barriers"));
      out.back().shared_bytes = before(line, " bytes smem");
    }
  }
  return out;
}

}  // namespace tw::codegen
