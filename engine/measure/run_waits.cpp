// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/run_waits.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace tw::measure {

namespace {

/// Waking a thread on an idle processor takes a few microseconds.
constexpr int64_t kWaitNs = 20'000;

}  // namespace

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

int64_t Disturbances::count() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const int64_t waited = waits_.total_ns();
  late_ += waited - waited_ > kWaitNs;
  waited_ = waited;
  return usage.ru_nivcsw + late_;
}

}  // namespace tw::measure
