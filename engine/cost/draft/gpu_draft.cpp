// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/cost/draft/draft.h"
#include "engine/cost/draft/nest.h"

namespace tw::cost {

namespace {

using schedule::Annotation;

/// Registers of a thread beside its tile: addresses, loop counters, operands on their way.
constexpr double kOtherRegisters = 24;
/// A dependent multiply-add follows after four clocks, on each of four schedulers: as many warps keep them busy, fewer where a thread has independent sums.
constexpr double kBusyWarps = 16, kMostIndependent = 8;
/// Lanes of a multiprocessor that load from shared memory or the level-1 cache in a clock, and the elements that one of them takes at most.
constexpr double kLoadLanes = 32, kWidestLoad = 4;
/// Bytes that memory moves at least.
constexpr double kSector = 32;
/// Multiply-adds that others of the operations take the time of: divisions are sequences, functions run on few lanes. About.
constexpr double kGpuDivision = 8, kGpuFunction = 4;
constexpr double kLaunch_s = 2e-6;

double slots_of(const Operations& ops) {
  const double paired = std::min(ops.floats[Operations::kAdd], ops.floats[Operations::kMul]);  // one multiply-add each
  return ops.floats[Operations::kAdd] + ops.floats[Operations::kMul] - paired + kGpuDivision * ops.floats[Operations::kDiv] + ops.floats[Operations::kCompare] +
         kGpuFunction * ops.floats[Operations::kFunction] + ops.choices;
}

class GpuDraft {
 public:
  GpuDraft(const space::Program& p, const space::Evaluated& e, const target::Gpu& gpu) : p_(p), e_(e), gpu_(gpu), arch_(target::gpu_arch(gpu.capability)) {}

  DraftTime time_of(const Statement& s) const {
    const Nest nest = nest_of(s.stage, p_, e_);
    const std::vector<ArrayAccess> accesses = accesses_of(s, p_, e_);
    const double tile = volume(accesses.front(), s, accesses.front());  // results of a thread
    double registers = kOtherRegisters, loads = 0;
    for (const ArrayAccess& a : accesses) {
      const double of_tile = volume(a, s, accesses.front());
      registers += of_tile;
      if (&a != &accesses.front()) loads += of_tile / std::min(kWidestLoad, vector_of(a, s));
    }
    const auto threads = static_cast<int>(std::min<double>(nest.block, target::kMaxBlockThreads));
    // The compiler keeps to what lets a block run; the rest it spills.
    const double most = std::min<double>(target::kMaxThreadRegisters, target::kMaxBlockRegisters / (std::ceil(nest.block / target::kWarp) * target::kWarp));
    const double spilled = std::max(1.0, registers / most);
    const target::Occupancy occupied =
        target::occupancy(gpu_.capability, threads, static_cast<int>(std::min(registers, most)), static_cast<int64_t>(nest.shared_bytes));
    if (occupied.blocks == 0) return {std::numeric_limits<double>::infinity(), 0};
    const double each = nest.grid / gpu_.multiprocessors;  // blocks for a multiprocessor
    const double slots = static_cast<double>(gpu_.multiprocessors) * occupied.blocks;
    const double waves = nest.grid < slots ? each / std::ceil(each) : nest.grid / (std::ceil(nest.grid / slots) * slots);
    const double warps = std::ceil(nest.block / target::kWarp), lanes = nest.block / (warps * target::kWarp);
    const double resident = std::min<double>(occupied.blocks, std::ceil(each)) * warps;
    const double busy = std::min(1.0, resident * std::clamp(tile, 1.0, kMostIndependent) / kBusyWarps);

    DraftTime out;
    const bool by_tensor_cores = p_.scheduled()[static_cast<size_t>(s.stage)].warp_product.has_value() && arch_.tensor_rate > 0;
    const Operations ops = s.operations(p_);
    const double rate = by_tensor_cores ? 2.0 * arch_.tensor_rate * gpu_.tensor_share * gpu_.multiprocessors * gpu_.tensor_clock_mhz * 1e6 : target::peak_flops(gpu_);
    const double slots_used = runs(s, nest) * slots_of(ops);
    if (slots_used > 0) {
      // A multiply-add waits for what it loads beyond what registers keep.
      const double loading = by_tensor_cores ? 0 : loads / tile * arch_.fp32_rate / kLoadLanes;
      out.arithmetic_s = 2 * slots_used / rate * (1 + loading) * spilled / (waves * lanes * busy);
    }
    double l2 = 0, memory = 0;
    for (const ArrayAccess& a : accesses) {
      const schedule::Stage& st = p_.scheduled()[static_cast<size_t>(a.array)];
      if (st.scope != ir::Scope::global) continue;
      const double element = st.op.output->dtype.bytes();
      const double moved = moved_elements(a, s) * nest.grid * element * wasted(a, s, element), unique = footprint(a, p_, e_, s.loops) * element;
      l2 += moved;
      const double kept = std::min(1.0, static_cast<double>(gpu_.l2_bytes) / unique);
      memory += unique + std::max(0.0, moved - unique) * (1 - kept);
    }
    const double filled = std::min(1.0, resident * std::min<double>(nest.grid, gpu_.multiprocessors) / (kBusyWarps * gpu_.multiprocessors));
    const double memory_rate = gpu_.memory_bytes_per_s * gpu_.memory_efficiency;
    out.memory_s = std::max(l2 / (gpu_.l2_bytes_per_s > 0 ? gpu_.l2_bytes_per_s : 3 * memory_rate), memory / memory_rate) / std::max(filled, 1e-3);
    if (s.stage == nest.root) out.memory_s += kLaunch_s;
    return out;
  }

 private:
  Annotation mark(const Around& l) const { return p_.loops()[static_cast<size_t>(l.loop)].annotation; }
  double extent(const Around& l) const { return static_cast<double>(e_.loops[static_cast<size_t>(l.loop)]); }
  bool is_block(const Around& l) const { return schedule::is_binding(mark(l)) && !schedule::is_thread(mark(l)) && mark(l) != Annotation::vthread; }

  /// Of all threads: a stage in the loops of another runs in that one's threads or, where it has loops over threads itself, in as many as those say.
  double runs(const Statement& s, const Nest& nest) const {
    double n = nest.grid;
    std::map<Annotation, double> threads;
    for (const Around& l : s.loops)
      if (schedule::is_thread(mark(l)))
        threads[mark(l)] = extent(l);
      else if (!is_block(l))
        n *= extent(l);
    for (const auto& [coordinate, count] : threads) n *= count;
    return n;
  }
  /// Elements of `a` that a thread touches in those of its loops that move what is written.
  double volume(const ArrayAccess& a, const Statement& s, const ArrayAccess& written) const {
    double v = 1;
    for (const Around& l : s.loops)
      if ((!schedule::is_binding(mark(l)) || mark(l) == Annotation::vthread) && moves(written, l.loop) && moves(a, l.loop)) v *= extent(l);
    return v;
  }
  /// Neighbours that one access of a thread takes together.
  double vector_of(const ArrayAccess& a, const Statement& s) const {
    for (const Around& l : s.loops)
      if (mark(l) == Annotation::vectorize && step_of(a, p_, l.loop) == 1) return extent(l);
    return 1;
  }
  /// Elements that a block fetches: once for all threads that share one.
  double moved_elements(const ArrayAccess& a, const Statement& s) const {
    double n = 1;
    for (const Around& l : s.loops) {
      if (!is_block(l) && moves(a, l.loop)) n *= extent(l);
    }
    return n;
  }
  /// Bytes that are moved for one that is used, by how far apart neighbouring threads read.
  double wasted(const ArrayAccess& a, const Statement& s, double element) const {
    const double run = vector_of(a, s) * element;
    for (const Around& l : s.loops)
      if (mark(l) == Annotation::thread_x) {
        const double step = step_of(a, p_, l.loop) * element;
        return step == 0 ? 1 : std::clamp(step / run, 1.0, std::max(1.0, kSector / run));
      }
    return 1;
  }

  const space::Program& p_;
  const space::Evaluated& e_;
  const target::Gpu& gpu_;
  const target::GpuArch& arch_;
};

}  // namespace

std::vector<DraftTime> gpu_draft(const space::Program& program, const space::Evaluated& e, const Target& target) {
  const GpuDraft draft(program, e, *target.gpu);
  return by_stage(program, e, [&](const Statement& s) { return draft.time_of(s); });
}

}  // namespace tw::cost
