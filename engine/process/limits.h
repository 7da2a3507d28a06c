// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace tw::process {

/// Bytes of address space this process has now; 0 if the system does not say.
int64_t address_space_bytes();

/// Bounds what this process may take from now on; what is 0 or less stays as it is. No core files and 64 open ones in any case. A limit that the system refuses
/// leaves the outer one in force: a watchdog must not depend on any of them.
struct Limits {
  int64_t memory_bytes = 0;  ///< address space beyond what is mapped now; without it under sanitizers, which reserve terabytes
  double cpu_seconds = 0;
  bool no_growing_files = false;
};
void limit_this_process(const Limits& limits);

/// Bounds the address space of this process while it lives, for work of its own on what a stranger wrote: an allocation beyond it throws std::bad_alloc. It may
/// be widened, unlike the limits above. Without effect under sanitizers, and where an outer limit is closer.
class MemoryAllowance {
 public:
  /// `bytes` beyond what is mapped now.
  explicit MemoryAllowance(int64_t bytes);
  ~MemoryAllowance();
  MemoryAllowance(const MemoryAllowance&) = delete;
  MemoryAllowance& operator=(const MemoryAllowance&) = delete;
  void widen(int64_t bytes);
  int64_t bytes() const { return bytes_; }

 private:
  void apply() const;
  int64_t mapped_, bytes_;
  uint64_t outer_;
};

/// While it lives, MemoryAllowance bounds nothing: for a program that is started here and bounds itself.
class LiftedAllowance {
 public:
  LiftedAllowance();
  ~LiftedAllowance();
  LiftedAllowance(const LiftedAllowance&) = delete;
  LiftedAllowance& operator=(const LiftedAllowance&) = delete;

 private:
  uint64_t soft_;
};

/// How many processes the system has killed so far because memory ran out; nothing where it does not say. Source: the field oom_kill of /proc/vmstat.
std::optional<int64_t> memory_kills();

/// Puts this process before others of the machine, as far as the system lets it: what waits for a processor is not measured. A kernel of two threads on a busy
/// machine takes a turn of the scheduler, milliseconds, for every time that its threads meet. Only the administrator may; for others nothing changes.
void raise_priority();

}  // namespace tw::process
