// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench/peer_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "engine/base/text.h"

namespace tw::cli::bench {
namespace {

/// What packages for Python bring has no search path of its own, so the loader names one missing library after the other; those beside it are opened first.
/// `problem`: what the loader said last.
void* open_with_neighbours(const std::filesystem::path& path, std::string& problem) {
  std::string last;
  for (;;) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return handle;
    problem = dlerror();
    const std::string missing = problem.substr(0, problem.find(':'));
    if (missing == last || missing.empty() || missing == path || missing.find('/') != std::string::npos) return nullptr;
    last = missing;
    const std::filesystem::path neighbour = path.parent_path() / missing;
    std::error_code code;
    if (!std::filesystem::exists(neighbour, code) || open_with_neighbours(neighbour, problem) == nullptr) return nullptr;
  }
}

}  // namespace

void* PeerLibrary::find(const char* symbol) const { return handle == nullptr ? nullptr : dlsym(handle, symbol); }

Expected<PeerLibrary> open_peer_library(const std::vector<std::string>& folders, const std::vector<std::string>& names) {
  std::error_code code;
  for (const std::string& folder : folders) {
    for (const std::string& name : names) {
      const std::filesystem::path path = std::filesystem::path(folder) / name;
      if (!std::filesystem::exists(path, code)) continue;
      std::string problem;
      if (void* handle = open_with_neighbours(path, problem)) return PeerLibrary{handle, folder, name};
      return Error(ErrorCode::not_found, fmt::format("'{}' does not open: {}", printable(path.string()), printable(problem)));
    }
  }
  for (const std::string& name : names)
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return PeerLibrary{handle, "", name};
  return Error(ErrorCode::not_found, fmt::format("{} was not found", fmt::join(names, " or ")));
}

}  // namespace tw::cli::bench
