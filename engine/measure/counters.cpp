// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/counters.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace tw::measure {
namespace {

struct EventRow {
  Event event;
  const char* name;
  uint32_t type;
  uint64_t config;
};

constexpr uint64_t cache_misses(uint64_t cache) {
  return cache | (uint64_t{PERF_COUNT_HW_CACHE_OP_READ} << 8) | (uint64_t{PERF_COUNT_HW_CACHE_RESULT_MISS} << 16);
}

constexpr EventRow kEvents[] = {
    {Event::cycles, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {Event::instructions, "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {Event::l1d_misses, "L1 misses", PERF_TYPE_HW_CACHE, cache_misses(PERF_COUNT_HW_CACHE_L1D)},
    {Event::llc_misses, "last-level cache misses", PERF_TYPE_HW_CACHE, cache_misses(PERF_COUNT_HW_CACHE_LL)},
    {Event::branch_misses, "mispredicted branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {Event::task_clock, "task clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {Event::page_faults, "page faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
};

const EventRow& row(Event event) { return kEvents[static_cast<size_t>(event)]; }

int open_event(Event event, int leader) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = row(event).type;
  attr.config = row(event).config;
  attr.disabled = leader < 0;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

std::string why_not(int error) {
  if (error == EACCES || error == EPERM) {
    std::ifstream setting("/proc/sys/kernel/perf_event_paranoid");
    std::string level;
    setting >> level;
    return level.empty() ? "the kernel does not permit it"
                         : fmt::format("the kernel does not permit it: perf_event_paranoid is {}, 2 or less is needed", level);
  }
  if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP) return "this machine has no such counters, as virtual machines often have none";
  if (error == ENOSYS) return "the kernel has no perf_event_open";
  return std::strerror(error);
}

}  // namespace

const char* event_name(Event event) { return row(event).name; }

EventGroup::EventGroup(std::span<const Event> events) {
  std::string names, reason;
  for (const Event event : events) {
    const int fd = open_event(event, opened_.empty() ? -1 : opened_[0].fd);
    if (fd >= 0) {
      opened_.push_back({event, fd});
      continue;
    }
    if (reason.empty()) reason = why_not(errno);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row(event).name);
  }
  if (!names.empty()) missing_ = fmt::format("Not counted: {}; {}", names, reason);
}

EventGroup::~EventGroup() {
  for (const Opened& o : opened_) ::close(o.fd);
}

void EventGroup::resume() {
  if (!opened_.empty()) ioctl(opened_[0].fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

void EventGroup::pause() {
  if (!opened_.empty()) ioctl(opened_[0].fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
}

CounterReading EventGroup::read() const {
  CounterReading reading{{}, missing_};
  if (opened_.empty()) return reading;
  // Number of events, time enabled, time counted, then the counts.
  std::vector<uint64_t> values(3 + opened_.size());
  const auto bytes = static_cast<ssize_t>(values.size() * sizeof(uint64_t));
  if (::read(opened_[0].fd, values.data(), static_cast<size_t>(bytes)) != bytes || values[2] == 0) {
    reading.missing = "Nothing was counted: the processor had no counters left";
    return reading;
  }
  const double scale = static_cast<double>(values[1]) / static_cast<double>(values[2]);
  for (size_t i = 0; i < opened_.size(); ++i) reading.counts.push_back({opened_[i].event, scale * static_cast<double>(values[3 + i])});
  return reading;
}

}  // namespace tw::measure
