// SPDX-License-Identifier: Apache-2.0
#include "engine/api/insight.h"

#include <algorithm>

#include "engine/lower/lower.h"
#include "engine/measure/device.h"
#include "engine/measure/simulated_gpu.h"
#include "engine/schedule/schedule.h"
#include "engine/simulate/kernel_time.h"
#include "engine/tir/footprints.h"

namespace tw::api {
namespace {

LaunchInsight launch_insight(const simulate::LaunchFacts& f, const simulate::KernelTime& t, bool compiled) {
  LaunchInsight l;
  l.blocks = f.blocks(), l.threads = f.threads();
  l.registers = t.registers, l.spilled_registers = t.spilled_registers, l.compiled = compiled;
  l.shared_bytes = f.shared_bytes;
  l.resident_blocks = t.occupancy.blocks, l.occupancy = t.occupancy.share, l.limit = target::limit_name(t.occupancy.limit);
  l.waves = t.waves, l.seconds = t.total, l.limiter = t.limiter();
  l.parts = {{"arithmetic", t.arithmetic}, {"instructions issued", t.issue}, {"shared memory", t.shared}, {"level-2 cache", t.l2},
             {"memory", t.memory},         {"latency", t.latency},           {"launch", t.launch}};
  return l;
}

Expected<Insight> gpu_insight(const records::Task& task, const schedule::Schedule& s) {
  TW_TRY(const tir::Func func, lower::lower_and_optimize(s, "main", task.target));
  TW_TRY(const auto launches, simulate::launch_facts(func));
  Insight result;
  result.flops = static_cast<double>(task.flops);
  result.compulsory_bytes = static_cast<double>(te::io_bytes(*task.dag));
  std::vector<int> registers;
  // Trials of a simulated GPU are timed with estimated registers, so they are explained with these. A kernel that NVRTC refuses has its estimate too.
  if (!measure::is_simulated(measure::device_for(task.target)))
    if (auto counted = measure::compiled_registers(func, *task.target.gpu)) registers = std::move(*counted);
  for (size_t k = 0; k < launches.size(); ++k) {
    const bool compiled = k < registers.size();
    result.launches.push_back(
        launch_insight(launches[k], simulate::kernel_time(launches[k], *task.target.gpu, compiled ? std::optional(registers[k]) : std::nullopt), compiled));
  }
  return result;
}

}  // namespace

Expected<Insight> insight(const records::Task& task, const std::vector<schedule::Step>& steps) {
  TW_TRY(const schedule::Schedule s, schedule::Schedule::replay(task.dag, steps));
  if (task.target.gpu) return gpu_insight(task, s);
  TW_TRY(const tir::Func lowered, lower::lower(s, "main"));
  Insight result;
  result.flops = static_cast<double>(task.flops);
  result.compulsory_bytes = static_cast<double>(te::io_bytes(*task.dag));
  const std::vector<tir::LoopFootprint> loops = tir::loop_footprints(lowered);
  // The nest that ends at the loop with most iterations; of equals the innermost.
  int at = -1;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (at < 0 || loops[i].iterations >= loops[static_cast<size_t>(at)].iterations) at = static_cast<int>(i);
  }
  for (int level = at < 0 ? -1 : loops[static_cast<size_t>(at)].level; at >= 0 && level >= 0; --at) {
    const tir::LoopFootprint& l = loops[static_cast<size_t>(at)];
    if (l.level != level) continue;
    --level;
    LoopInsight loop;
    loop.name = l.loop->var->name;
    loop.kind = l.loop->for_kind;
    loop.extent = static_cast<double>(l.extent);
    loop.runs = l.iterations / std::max(loop.extent, 1.0);
    for (const auto& [array, elements] : l.arrays) loop.arrays[array->name] += elements * array->dtype.bytes();
    for (const auto& [array, bytes] : loop.arrays) loop.bytes += bytes;
    if (loop.kind == tir::ForKind::vectorized && result.vector_lanes == 1) result.vector_lanes = std::max(1.0, loop.extent);
    result.nest.insert(result.nest.begin(), std::move(loop));
  }
  return result;
}

}  // namespace tw::api
