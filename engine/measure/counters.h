// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::measure {

/// What the processor (the first five) and the kernel count of a thread. Misses of the last-level cache are those of loads; task_clock is in nanoseconds.
enum class Event { cycles, instructions, l1d_misses, llc_misses, branch_misses, task_clock, page_faults };
inline constexpr Event kAllEvents[] = {Event::cycles,        Event::instructions, Event::l1d_misses, Event::llc_misses,
                                       Event::branch_misses, Event::task_clock,   Event::page_faults};
const char* event_name(Event event);  ///< for people

struct EventCount {
  Event event = Event::cycles;
  double count = 0;
};
struct CounterReading {
  std::vector<EventCount> counts;  ///< of the events that could be counted
  std::string missing;             ///< one sentence on why the others could not; empty if there are none
};

/// Counts events of the calling thread, user code only, all at once as one group; begins paused. Events that this machine or the kernel's settings refuse are
/// left out: virtual machines often have no counters of the processor, and perf_event_paranoid may forbid them. Source: perf_event_open(2).
class EventGroup {
 public:
  explicit EventGroup(std::span<const Event> events);
  ~EventGroup();
  EventGroup(const EventGroup&) = delete;
  EventGroup& operator=(const EventGroup&) = delete;

  void resume();
  void pause();
  /// Counts so far. If the processor had too few counters for the group, or shared them with others, scaled to the whole time.
  CounterReading read() const;

 private:
  struct Opened {
    Event event;
    int fd;
  };
  std::vector<Opened> opened_;  ///< the first one leads the group
  std::string missing_;
};

}  // namespace tw::measure
