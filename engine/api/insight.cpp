// SPDX-License-Identifier: Apache-2.0
#include "engine/api/insight.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/cost/features/loop_touches.h"
#include "engine/lower/lower.h"
#include "engine/measure/simulated_gpu.h"
#include "engine/schedule/schedule.h"
#include "engine/simulate/kernel_time.h"
#include "engine/tir/visit.h"

namespace tw::api {
namespace {

/// Names of loop variables in the order in which loop_touches() lists the loops, and bytes of an element of every array.
struct Names {
  std::vector<std::string> loops;
  std::map<std::string, double> element_bytes;

  void buffer(const tir::Buffer& b) { element_bytes[b->name] = b->dtype.bytes(); }
  void visit(const tir::Stmt& s) {
    tir::match(
        s,
        [&](const tir::ForNode& n) {
          loops.push_back(n.var->name);
          visit(n.body);
        },
        [&](const tir::StoreNode& n) { buffer(n.buffer); },
        [&](const tir::AllocNode& n) {
          buffer(n.buffer);
          visit(n.body);
        },
        [&](const tir::LetNode& n) { visit(n.body); },
        [&](const tir::IfNode& n) {
          visit(n.then_body);
          if (n.else_body) visit(*n.else_body);
        },
        [&](const tir::SeqNode& n) {
          for (const tir::Stmt& child : n.stmts) visit(child);
        },
        [](const tir::SyncNode&) {}, [&](const tir::AllReduceNode& n) { buffer(n.buffer); }, [&](const tir::AsyncNode& n) { visit(n.body); },
        [](const tir::WaitNode&) {}, [](const tir::MmaNode&) {});
  }
};

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
  if (auto counted = measure::compiled_registers(func, *task.target.gpu)) registers = std::move(*counted);  // a kernel that is refused has its estimate
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
  Names names;
  for (const tir::Buffer& b : lowered.params) names.buffer(b);
  names.visit(lowered.body);
  const std::vector<cost::LoopTouches> loops = cost::loop_touches(lowered);
  TW_ASSERT(loops.size() == names.loops.size(), "loops are listed in one order");
  // The nest that ends at the loop with most iterations; of equals the innermost.
  int at = -1;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (at < 0 || loops[i].topdown >= loops[static_cast<size_t>(at)].topdown) at = static_cast<int>(i);
  }
  for (int level = at < 0 ? -1 : loops[static_cast<size_t>(at)].level; at >= 0 && level >= 0; --at) {
    const cost::LoopTouches& l = loops[static_cast<size_t>(at)];
    if (l.level != level) continue;
    --level;
    LoopInsight loop;
    loop.name = names.loops[static_cast<size_t>(at)];
    loop.kind = l.kind;
    loop.extent = l.extent;
    loop.runs = l.topdown / std::max(l.extent, 1.0);
    for (const auto& [key, touch] : l.touches) {
      const auto element = names.element_bytes.find(touch.array);
      double& bytes = loop.arrays[touch.array];
      bytes = std::max(bytes, touch.count * (element == names.element_bytes.end() ? 4 : element->second));
    }
    for (const auto& [array, bytes] : loop.arrays) loop.bytes += bytes;
    if (l.kind == tir::ForKind::vectorized && result.vector_lanes == 1) result.vector_lanes = std::max(1.0, l.extent);
    result.nest.insert(result.nest.begin(), std::move(loop));
  }
  return result;
}

}  // namespace tw::api
