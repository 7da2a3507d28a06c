// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/draft/draft.h"

#include <algorithm>
#include <cmath>

#include "engine/cost/draft/nest.h"
#include "engine/cost/features/statements.h"

namespace tw::cost {

namespace {

using schedule::Annotation;

// Peak, bandwidth and multiprocessors as the release has them, not as data sheets do.
constexpr DraftDevice kDevices[] = {{"k80", 8226, 480, 26},    {"t4", 8141, 320, 40},      {"titanv", 14900, 651, 80},
                                    {"orin", 2660, 204, 16},   {"a100", 19490, 1935, 108}, {"a100_40", 19490, 1555, 108}};

}  // namespace

std::span<const DraftDevice> draft_devices() { return kDevices; }

const DraftDevice* find_draft_device(std::string_view name) {
  const auto* at = std::find_if(std::begin(kDevices), std::end(kDevices), [&](const DraftDevice& d) { return name == d.name; });
  return at == std::end(kDevices) ? nullptr : at;
}

std::vector<Symbols> symbols_of(const space::Program& program, const space::Evaluated& e) {
  return by_stage(program, e, [&](const Statement& s) {
    const Nest nest = nest_of(s.stage, program, e);
    const Operations all = s.operations(program);
    const double operations = all.floats[Operations::kAdd] + all.floats[Operations::kMul] + all.floats[Operations::kDiv];
    double inner = 1, vthread = 1;
    for (const Around& l : s.loops) {
      const Annotation a = program.loops()[static_cast<size_t>(l.loop)].annotation;
      const auto extent = static_cast<double>(e.loops[static_cast<size_t>(l.loop)]);
      if (!schedule::is_binding(a)) inner *= extent;
      if (a == Annotation::vthread) inner *= extent, vthread *= extent;
    }
    const std::vector<ArrayAccess> accesses = accesses_of(s, program, e);
    // Loops along one coordinate of blocks or threads do not count; those along others do, as in the release.
    const auto counts = [&](const Around& l) {
      const Annotation a = program.loops()[static_cast<size_t>(l.loop)].annotation;
      return a != Annotation::thread_x && a != Annotation::block_x;
    };
    const auto volume = [&](const ArrayAccess& a, bool spatial_only) {
      double v = 1;
      for (const Around& l : s.loops)
        if (counts(l) && moves(a, l.loop) && (!spatial_only || moves(accesses.front(), l.loop))) v *= static_cast<double>(e.loops[static_cast<size_t>(l.loop)]);
      return v;
    };
    Symbols out;
    out.thread_operations = inner * operations;
    out.operations = out.thread_operations * nest.grid * nest.block;
    out.is_gpu = nest.bound ? 1 : 0;
    out.grid = nest.grid;
    out.block = nest.block;
    out.vthread = vthread;
    const bool shared = program.scheduled()[static_cast<size_t>(s.stage)].scope == ir::Scope::shared;
    if (out.thread_operations > 0) {
      for (const ArrayAccess& a : accesses) {
        out.registers += volume(a, true);
        out.touched += volume(a, false);
      }
      out.reuse = 1 + out.thread_operations / out.touched;
    } else if (shared) {
      out.shared = volume(accesses.back(), true) * nest.block;
      out.moved = out.shared * nest.grid;
    } else {
      out.moved = inner * nest.grid * nest.block;
    }
    return out;
  });
}

double draft_ms(std::span<const Symbols> symbols, const DraftDevice& d) {
  double sum = 0;
  for (const Symbols& s : symbols) {
    const double warps = s.block / d.warp, full_warps = std::ceil(warps);
    const bool large = s.grid >= static_cast<double>(d.blocks * d.multiprocessors);
    const double units = large ? s.grid : s.grid * std::min<double>(full_warps, d.schedulers);
    const double slots = static_cast<double>(d.multiprocessors * (large ? d.blocks : d.schedulers));
    const double waves = units / (std::ceil(units / slots) * slots);
    const double spilled = s.registers >= d.registers ? s.registers / d.registers : 1;
    const double rate = d.gflops * waves * (warps / full_warps) / spilled;
    const double computing = s.operations * (1 + 1 / s.reuse) / rate / 1e6;
    const double copying = s.moved / d.gigabytes * 1000 / (1 << 30);
    sum += std::max(computing, copying);
  }
  return sum;
}

FeatureRows symbol_program(const space::Program& program, const space::Evaluated& e, const Target& target) {
  const std::vector<Symbols> symbols = symbols_of(program, e);
  const std::vector<DraftTime> times = target.gpu ? gpu_draft(program, e, target) : cpu_draft(program, e, target);
  FeatureRows out{{}, symbols.size()};
  for (size_t i = 0; i < symbols.size(); ++i) {
    const Symbols& s = symbols[i];
    for (const double v : {s.thread_operations, s.operations, s.registers, s.touched, s.shared, s.moved, s.reuse, s.is_gpu, s.grid, s.block, s.vthread,
                           times[i].arithmetic_s, times[i].memory_s})
      out.values.push_back(static_cast<float>(v));
  }
  return out;
}

float draft_score(std::span<const float> rows, const DraftDevice* device) {
  double seconds = 0;
  std::vector<Symbols> symbols;
  for (; rows.size() >= kDraftColumns; rows = rows.subspan(kDraftColumns)) {
    if (device == nullptr)
      seconds += std::max(rows[kSymbols], rows[kSymbols + 1]);
    else
      symbols.push_back({rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7], rows[8], rows[9], rows[10]});
  }
  if (device != nullptr) seconds = draft_ms(symbols, *device) / 1e3;
  return seconds > 0 && std::isfinite(seconds) ? static_cast<float>(1 / seconds) : 0;
}

Expected<FeatureRows> symbol_features(const FeatureInput& input) { return by_program(input, symbol_program); }

}  // namespace tw::cost
