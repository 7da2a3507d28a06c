// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/run_waits.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace tw::measure {

RunWaits::RunWaits() {
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    if (const int file = open((task.path() / "schedstat").c_str(), O_RDONLY | O_CLOEXEC); file >= 0) files_.push_back(file);
  }
}

RunWaits::~RunWaits() {
  for (const int file : files_) close(file);
}

int64_t RunWaits::total_ns() const {
  int64_t total = 0;
  for (const int file : files_) {
    char text[96];
    const ssize_t n = pread(file, text, sizeof text - 1, 0);
    if (n <= 0) continue;  // the thread ended
    text[n] = 0;
    char* waited = nullptr;
    std::strtoll(text, &waited, 10);
    total += std::strtoll(waited, nullptr, 10);
  }
  return total;
}

}  // namespace tw::measure
