// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/worker_path.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

#include "engine/base/text.h"

namespace tw::measure {

Expected<std::string> find_worker(const std::string& given) {
  namespace fs = std::filesystem;
  std::vector<fs::path> places;
  if (!given.empty()) {
    places.emplace_back(given);
  } else {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (error) return Error(ErrorCode::not_found, fmt::format("Expected to find the running program in /proc: {}", error.message()));
    const fs::path folder = self.parent_path();
    places = {folder / "tw-worker", folder.parent_path() / "bin" / "tw-worker", folder.parent_path() / "libexec" / "tilewright" / "tw-worker"};
  }
  for (const fs::path& place : places) {
    if (::access(place.c_str(), X_OK) == 0) return place.string();
  }
  return Error(ErrorCode::not_found, "Expected the program \"tw-worker\", which compiles and runs candidates", places.front().string());
}

}  // namespace tw::measure
