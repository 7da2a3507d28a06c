// SPDX-License-Identifier: Apache-2.0
#include "engine/process/find_program.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

#include "engine/base/text.h"

namespace tw::process {

namespace fs = std::filesystem;

Expected<std::string> own_path() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return Error(ErrorCode::not_found, fmt::format("Expected to find the running program in /proc: {}", error.message()));
  return self.string();
}

Expected<std::string> find_program(const std::string& name, const std::string& purpose, const std::string& given) {
  std::vector<fs::path> places;
  if (!given.empty()) {
    places.emplace_back(given);
  } else {
    TW_TRY(const fs::path self, own_path());
    const fs::path folder = self.parent_path();
    places = {folder / name, folder.parent_path() / "bin" / name, folder.parent_path() / "libexec" / "tilewright" / name};
  }
  for (const fs::path& place : places) {
    if (::access(place.c_str(), X_OK) == 0) return place.string();
  }
  return Error(ErrorCode::not_found, fmt::format("Expected the program \"{}\", {}", name, purpose), places.front().string());
}

}  // namespace tw::process
