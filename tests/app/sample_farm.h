// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "engine/farm/names.h"
#include "engine/farm/survey.h"

namespace tw::app {

/// Four devices of two kinds, one of which is too hot.
inline farm::Survey sampleFarm() {
  farm::Survey s;
  const auto device = [&s](const char* name, const char* kind, const char* target, const char* phase, int64_t measured, double flops, double bytes, double heat, double clock) {
    farm::Presence& p = s.devices.emplace_back();
    p.device = name, p.kind = kind, p.boot = "b", p.target = target, p.phase = phase, p.measured = measured, p.references = {flops, bytes};
    p.temperature_c = heat, p.clock_hz = clock, p.free_bytes = int64_t{21} << 30;
    if (p.phase == "measuring") p.trial = "t" + std::to_string(measured);
  };
  device("cloud-a", "graviton3", "llvm -mcpu=neoverse-v1", "measuring", 1240, 62e9, 31e9, 0, 2.6e9);
  device("pi-1", "rpi4", "llvm -mcpu=cortex-a72", "measuring", 311, 11.4e9, 3.9e9, 58, 1.5e9);
  device("pi-2", "rpi4", "llvm -mcpu=cortex-a72", "idle", 298, 11.3e9, 3.8e9, 55, 1.5e9);
  device("pi-3", "rpi4", "llvm -mcpu=cortex-a72", "quarantined", 120, 7.1e9, 3.6e9, 84, 0.9e9);
  s.devices[1].failures = {{"run_timeout", 4}, {"wrong_result", 1}};
  s.devices[3].reason = "its reference kernel is 38 % slower than at the start";
  s.devices[3].failures = {{"run_timeout", 8}}, s.devices[3].spooled = 2;
  for (int priority = 0; priority < farm::kPriorities; ++priority) s.queues.push_back({"rpi4", farm::priority_queue(priority), {priority == 1 ? 14 : 0, priority == 1 ? 2 : 0, priority == 1 ? 3 : 0}});
  s.queues.push_back({"graviton3", farm::priority_queue(1), {3, 1, 0}});
  s.results = 2;
  return s;
}

}  // namespace tw::app
