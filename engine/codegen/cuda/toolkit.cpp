// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/toolkit.h"

#include <algorithm>
#include <cstdlib>

namespace tw::codegen {

std::vector<std::filesystem::path> toolkit_folders() {
  namespace fs = std::filesystem;
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable)) roots.emplace_back(home);
  std::vector<fs::path> installed;
  std::error_code ignored;
  for (const fs::directory_entry& e : fs::directory_iterator("/usr/local", ignored))
    if (e.path().filename().string().starts_with("cuda")) installed.push_back(e.path());
  std::sort(installed.rbegin(), installed.rend());
  roots.insert(roots.end(), installed.begin(), installed.end());
  return roots;
}

}  // namespace tw::codegen
