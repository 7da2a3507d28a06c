// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/cost/draft/draft.h"
#include "engine/cost/draft/nest.h"

namespace tw::cost {

namespace {

using schedule::Annotation;

// A core of the last ten years, in clocks: what counts is how these numbers stand to each other. Source: the tables of instructions and caches in the vendors'
// optimisation guides (Intel 248966, AMD 57647).
constexpr double kClock = 3e9;
constexpr double kProducts = 2, kLoads = 2, kStores = 1;  ///< vectors a clock
constexpr double kLatency = 4;                            ///< of a multiply-add
constexpr double kLoopOverhead = 1;                       ///< of one turn of a loop that is not written out
constexpr double kCpuFunction = 10, kCpuDivision = 5;           ///< multiply-adds' time
/// Bytes a clock of one core from the level-2 cache, the last level and memory.
constexpr double kFromLevel2 = 48, kFromLast = 16, kFromMemory = 6;
constexpr double kThreadStart_s = 2e-6;

class CpuDraft {
 public:
  CpuDraft(const space::Program& p, const space::Evaluated& e, const Target& target) : p_(p), e_(e), target_(target) {}

  DraftTime time_of(const Statement& s) const {
    const std::vector<ArrayAccess> accesses = accesses_of(s, p_, e_);
    const DType type = p_.scheduled()[static_cast<size_t>(s.stage)].op.output->dtype;
    double parallel = 1;
    for (const Around& l : s.loops)
      if (mark(l) == Annotation::parallel) parallel *= extent(l);
    // Threads that have work all the time.
    const double cores = parallel / std::ceil(parallel / target_.cores);

    DraftTime out;
    out.arithmetic_s = s.runs * clocks_of_a_run(s, accesses, static_cast<double>(target_.lanes(type))) / (kClock * cores) + (parallel > 1 ? kThreadStart_s : 0);
    const std::pair<double, double> levels[] = {{static_cast<double>(target_.l1d_bytes), kFromLevel2},
                                                {static_cast<double>(target_.l2_bytes), kFromLast},
                                                {static_cast<double>(target_.l3_bytes), kFromMemory}};
    for (const auto& [bytes, rate] : levels) out.memory_s = std::max(out.memory_s, traffic(s, accesses, bytes) / (rate * kClock * cores));
    return out;
  }

 private:
  Annotation mark(const Around& l) const { return p_.loops()[static_cast<size_t>(l.loop)].annotation; }
  double extent(const Around& l) const { return static_cast<double>(e_.loops[static_cast<size_t>(l.loop)]); }
  double element(const ArrayAccess& a) const { return p_.scheduled()[static_cast<size_t>(a.array)].op.output->dtype.bytes(); }
  bool written_out(const Around& l) const {
    return mark(l) == Annotation::vectorize || mark(l) == Annotation::unroll || mark(l) == Annotation::unroll_explicit;
  }

  double clocks_of_a_run(const Statement& s, const std::vector<ArrayAccess>& accesses, double lanes) const {
    // The tile: loops inside that are written out.
    size_t first = s.loops.size();
    while (first > 0 && written_out(s.loops[first - 1])) --first;
    const std::vector<Around> tile(s.loops.begin() + static_cast<std::ptrdiff_t>(first), s.loops.end());
    double elements = 1, vectors = 1;  // of the tile
    for (const Around& l : tile) {
      elements *= extent(l);
      vectors *= mark(l) == Annotation::vectorize ? std::ceil(extent(l) / lanes) : extent(l);
    }
    const auto loads_of = [&](const ArrayAccess& a) {
      double n = 1;
      for (const Around& l : tile) {
        if (!moves(a, l.loop)) continue;
        const bool whole = mark(l) == Annotation::vectorize && step_of(a, p_, l.loop) <= 1;
        n *= whole ? std::ceil(extent(l) / lanes) : extent(l);
      }
      return n;
    };
    const Operations ops = s.operations(p_);
    const double paired = std::min(ops.floats[Operations::kAdd], ops.floats[Operations::kMul]);
    const double each = ops.floats[Operations::kAdd] + ops.floats[Operations::kMul] - paired + ops.floats[Operations::kCompare] + ops.choices +
                        kCpuDivision * ops.floats[Operations::kDiv] + kCpuFunction * ops.floats[Operations::kFunction] + ops.ints[Operations::kAdd] +
                        ops.ints[Operations::kMul] + kCpuDivision * ops.ints[Operations::kDiv];
    const ArrayAccess& written = accesses.front();
    const double results = loads_of(written);
    // Sums stay in registers while the loop around the tile does not move them.
    const bool sums = written.read, kept = sums && (first == 0 || !moves(written, s.loops[first - 1].loop));
    double loads = 0, operands = 0;
    for (const ArrayAccess& a : accesses)
      if (&a != &written) loads += loads_of(a), operands = std::max(operands, std::min(loads_of(a), lanes));
    double stores = kept ? 0 : results;
    if (sums && !kept) loads += results;
    if (const double missing = results + operands + 1 - target_.vector_registers; kept && missing > 0) loads += missing, stores += missing;
    double clocks = std::max({vectors * each / kProducts, loads / kLoads, stores / kStores});
    if (sums) clocks = std::max(clocks, kLatency * vectors / std::max(results, 1.0));
    return (clocks + (first > 0 ? kLoopOverhead : 0)) / elements;
  }

  /// Bytes that come from beyond a cache: that of the outermost loops whose arrays fit into it, each time they run, but for arrays that the loops around leave where
  /// they are.
  double traffic(const Statement& s, const std::vector<ArrayAccess>& accesses, double cache) const {
    size_t fits = s.loops.size();  // the first loop of those that fit
    std::vector<double> bytes;
    for (const ArrayAccess& a : accesses) bytes.push_back(element(a));
    for (size_t k = s.loops.size(); k-- > 0;) {
      const std::vector<Around> inside(s.loops.begin() + static_cast<std::ptrdiff_t>(k), s.loops.end());
      std::vector<double> now;
      double sum = 0;
      for (const ArrayAccess& a : accesses) sum += now.emplace_back(footprint(a, p_, e_, inside) * element(a));
      if (sum > cache) break;
      fits = k;
      bytes = std::move(now);
    }
    if (fits == 0) return 0;  // it stays there from one call to the next
    double out = 0;
    for (size_t i = 0; i < accesses.size(); ++i) {
      double times = 1;
      bool stays = true;
      for (size_t k = fits; k-- > 0;) {
        stays = stays && !moves(accesses[i], s.loops[k].loop);
        if (!stays) times *= extent(s.loops[k]);
      }
      out += bytes[i] * times;
    }
    return out;
  }

  const space::Program& p_;
  const space::Evaluated& e_;
  const Target& target_;
};

}  // namespace

std::vector<DraftTime> cpu_draft(const space::Program& program, const space::Evaluated& e, const Target& target) {
  const CpuDraft draft(program, e, target);
  return by_stage(program, e, [&](const Statement& s) { return draft.time_of(s); });
}

}  // namespace tw::cost
