// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

/// Finds the processes that descend from a test, by a mark in their environment.
namespace tw::test {

inline const char* mark_name() { return "TW_TEST_MARK"; }

/// Marks this process and all that it starts from now on; one that has inherited a mark keeps it.
inline std::string mark_processes() {
  if (const char* inherited = getenv(mark_name())) return std::string(mark_name()) + "=" + inherited;
  const std::string value = std::to_string(getpid()) + "-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
  setenv(mark_name(), value.c_str(), 1);
  return std::string(mark_name()) + "=" + value;
}

/// Marked processes other than this one that are not zombies. The environment is what a process was started with: this one is not found by it.
inline std::vector<pid_t> marked_processes(const std::string& mark) {
  std::vector<pid_t> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos || std::stol(name) == getpid()) continue;
    std::ifstream in(entry.path() / "environ", std::ios::binary);
    const std::string environment((std::istreambuf_iterator<char>(in)), {});
    if (environment.find(mark) != std::string::npos) out.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return out;
}

/// Waits up to `seconds` for the number of marked processes to be at least (or at most) `count`.
inline bool wait_for_count(const std::string& mark, size_t at_least, size_t at_most, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    const size_t n = marked_processes(mark).size();
    if (n >= at_least && n <= at_most) return true;
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace tw::test
