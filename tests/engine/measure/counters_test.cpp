// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/counters.h"

#include <sys/mman.h>
#include <unistd.h>

#include <QtTest>
#include <map>

#include "engine/measure/measure.h"
#include "tests/engine/measure/fixtures.h"

using namespace tw;
using measure::Event;

namespace {

std::map<Event, double> by_event(const measure::CounterReading& reading) {
  std::map<Event, double> counts;
  for (const measure::EventCount& c : reading.counts) counts[c.event] = c.count;
  return counts;
}

/// Touches fresh pages.
void touch(int pages) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* memory = static_cast<volatile char*>(mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  madvise(const_cast<char*>(memory), pages * page, MADV_NOHUGEPAGE);
  for (int i = 0; i < pages; ++i) memory[static_cast<size_t>(i) * page] = 1;
  munmap(const_cast<char*>(memory), pages * page);
}

}  // namespace

class CountersTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// With events of the kernel, which every machine has: what is counted, and what is not while the group is paused.
  void pageFaultsAreCounted() {
    const Event events[] = {Event::task_clock, Event::page_faults};
    measure::EventGroup group(events);
    if (group.read().counts.empty()) QSKIP(group.read().missing.c_str());
    touch(100);
    group.resume();
    touch(64);
    group.pause();
    touch(100);
    auto counts = by_event(group.read());
    QVERIFY2(counts[Event::page_faults] >= 64 && counts[Event::page_faults] < 100, qPrintable(QString::number(counts[Event::page_faults])));
    QVERIFY(counts[Event::task_clock] > 0);
    group.resume();
    touch(64);
    group.pause();
    QVERIFY(by_event(group.read())[Event::page_faults] >= 128);
  }

  /// Each event is counted, or the sentence names it.
  void whatIsMissingIsNamed() {
    measure::EventGroup group(measure::kAllEvents);
    group.resume();
    touch(8);
    group.pause();
    const measure::CounterReading reading = group.read();
    const auto counts = by_event(reading);
    for (const Event e : measure::kAllEvents)
      QVERIFY2(counts.contains(e) || reading.missing.find(measure::event_name(e)) != std::string::npos || counts.empty(), measure::event_name(e));
    QCOMPARE(reading.missing.empty(), counts.size() == std::size(measure::kAllEvents));
  }
};

QTEST_APPLESS_MAIN(CountersTest)
#include "counters_test.moc"
