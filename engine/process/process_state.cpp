// SPDX-License-Identifier: Apache-2.0
#include "engine/process/process_state.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "engine/base/text.h"

namespace tw::process {

std::optional<ProcessState> state_of(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  // "PID (name) S ...", where the name may hold anything.
  const size_t begin = text.find('('), end = text.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end + 2 >= text.size()) return std::nullopt;
  const char state = text[end + 2];
  return ProcessState{text.substr(begin + 1, end - begin - 1), state == 'T' || state == 't'};
}

std::string describe_process(pid_t pid) {
  const auto state = state_of(pid);
  if (!state) return fmt::format("process {}", pid);
  return fmt::format("process {} ({}){}", pid, printable(state->name), state->stopped ? ", which is stopped" : "");
}

std::optional<pid_t> lock_holder(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return std::nullopt;
  std::ifstream in("/proc/locks");
  for (std::string line; std::getline(in, line);) {  // "1: FLOCK  ADVISORY  WRITE 123 00:1a:456 0 EOF"
    char kind[16], access[16];
    int pid = 0;
    unsigned device_major = 0, device_minor = 0;
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), "%*d: %15s %*s %15s %d %x:%x:%lu", kind, access, &pid, &device_major, &device_minor, &inode) != 6) continue;
    const bool same = inode == info.st_ino && device_major == major(info.st_dev) && device_minor == minor(info.st_dev);
    if (same && std::string(kind) == "FLOCK" && std::string(access) == "WRITE" && pid > 0) return pid;
  }
  return std::nullopt;
}

}  // namespace tw::process
