// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/why_rules.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <cmath>

#include "widgets/common/format.h"

namespace tw::widgets {
namespace {

struct RuleTexts {
  Q_DECLARE_TR_FUNCTIONS(WhyRules)
};

QString rate(double perSecond) { return RuleTexts::tr("%1 GFLOP/s").arg(numberText(perSecond / 1e9, 3)); }

/// The innermost loops whose data fits into `capacity`: the outermost of them, null if not even the innermost fits.
const WhyLoop* fitting(const std::vector<WhyLoop>& loops, double capacity) {
  const WhyLoop* found = nullptr;
  for (auto loop = loops.rbegin(); loop != loops.rend() && loop->bytes <= capacity; ++loop) found = &*loop;
  return found;
}

WhyRule intensity(const WhyFacts& f) {
  const double flopsPerByte = f.flops / f.compulsoryBytes, ridge = f.peak / f.memoryBytesPerS;
  const bool memory = flopsPerByte < ridge;
  const QString formula = RuleTexts::tr("%1 FLOP ÷ %2 in and out = %3 FLOP a byte; the machine balances at %4 ÷ %5 GB/s = %6 FLOP a byte")
                              .arg(numberText(f.flops, 3), bytesText(f.compulsoryBytes), numberText(flopsPerByte, 3), rate(f.peak),
                                   numberText(f.memoryBytesPerS / 1e9, 3), numberText(ridge, 3));
  return {WhyRule::Kind::neutral,
          memory ? RuleTexts::tr("Of the two roofs memory is the lower one: each byte is used for fewer operations than the cores could do while it is fetched.")
                 : RuleTexts::tr("Of the two roofs arithmetic is the lower one: data is used often enough, so the cores can be kept busy if it stays in the caches."),
          formula};
}

WhyRule roof(const WhyFacts& f) {
  const double least = std::max(f.flops / f.peak, f.compulsoryBytes / f.memoryBytesPerS), share = least / f.seconds;
  QString sentence = RuleTexts::tr("It reaches %1 % of what arithmetic and memory allow.").arg(percentText(share));
  // What stays in the caches from one run to the next is not read from memory.
  if (share > 1 && least > f.flops / f.peak)
    sentence = RuleTexts::tr("It is %1 times as fast as memory allows: what it reads comes from the caches.").arg(numberText(share, 3));
  else if (share > 1)
    sentence = RuleTexts::tr("It is %1 times as fast as arithmetic allows for the FLOP of its definition: it does fewer of them, as Winograd's algorithm does, or the peak was "
                             "measured while the machine was busy.")
                   .arg(numberText(share, 3));
  return {share > 0.6    ? WhyRule::Kind::good
          : share < 0.25 ? WhyRule::Kind::bad
                         : WhyRule::Kind::neutral,
          sentence,
          RuleTexts::tr("max(FLOP ÷ peak, bytes ÷ memory rate) ÷ time = max(%1, %2) ÷ %3")
              .arg(secondsText(f.flops / f.peak), secondsText(f.compulsoryBytes / f.memoryBytesPerS), secondsText(f.seconds))};
}

WhyRule cache(const WhyFacts& f, double capacity, const QString& name) {
  const WhyLoop* loop = fitting(f.loops, capacity);
  if (!loop) {
    return {WhyRule::Kind::bad, RuleTexts::tr("Not even one run of the innermost loop fits into the %1.").arg(name),
            RuleTexts::tr("loop %1 touches %2, the %3 holds %4").arg(f.loops.back().name, bytesText(f.loops.back().bytes), name, bytesText(capacity))};
  }
  if (loop == &f.loops.front())
    return {WhyRule::Kind::good, RuleTexts::tr("Everything fits into the %1.").arg(name),
            RuleTexts::tr("the whole nest touches %1, the %2 holds %3").arg(bytesText(loop->bytes), name, bytesText(capacity))};
  return {WhyRule::Kind::neutral,
          RuleTexts::tr("From loop %1 inwards everything stays in the %2; it is filled anew %3 times.")
              .arg(loop->name, name, countText(static_cast<qint64>(loop->runs))),
          RuleTexts::tr("one run of loop %1 touches %2, the %3 holds %4").arg(loop->name, bytesText(loop->bytes), name, bytesText(capacity))};
}

WhyRule vectors(const WhyFacts& f) {
  const int lanes = f.target.lanes();
  if (f.vectorLanes <= 1 && f.usedVectorBits <= 32)
    return {WhyRule::Kind::bad, RuleTexts::tr("The innermost work is not vectorised: one of %1 lanes is used.").arg(lanes),
            RuleTexts::tr("no loop of the nest is a vector loop")};
  if (f.usedVectorBits > 0) {
    const bool whole = f.usedVectorBits >= f.target.vector_bits;
    return {whole ? WhyRule::Kind::good : WhyRule::Kind::bad,
            whole ? RuleTexts::tr("Its multiply-adds use the full width of the vector registers.")
                  : RuleTexts::tr("Its multiply-adds use narrower vectors than the machine has."),
            RuleTexts::tr("registers of %1 bits in the code, %2 bits in the machine").arg(f.usedVectorBits).arg(f.target.vector_bits)};
  }
  const bool whole = std::fmod(f.vectorLanes, lanes) == 0;
  return {whole ? WhyRule::Kind::good : WhyRule::Kind::neutral,
          whole ? RuleTexts::tr("The vector loop fills whole registers.") : RuleTexts::tr("The vector loop does not fill its last register."),
          RuleTexts::tr("%1 iterations over %2 lanes of 32 bits").arg(numberText(f.vectorLanes, 3)).arg(lanes)};
}

WhyRule cores(const WhyFacts& f, double iterations) {
  const double rounds = std::ceil(iterations / f.target.cores), share = iterations / (rounds * f.target.cores);
  return {share > 0.9 ? WhyRule::Kind::good : WhyRule::Kind::bad,
          RuleTexts::tr("The parallel loop keeps the cores busy for %1 % of its time.").arg(percentText(share)),
          RuleTexts::tr("%1 iterations on %2 cores take %3 rounds: %1 ÷ (%3 × %2)")
              .arg(countText(static_cast<qint64>(iterations)))
              .arg(f.target.cores)
              .arg(rounds)};
}

WhyRule occupancy(const WhyLaunch& l) {
  return {l.occupancy < 0.25   ? WhyRule::Kind::bad
          : l.occupancy >= 0.5 ? WhyRule::Kind::good
                               : WhyRule::Kind::neutral,
          l.occupancy > 0.999 ? RuleTexts::tr("All of a multiprocessor's warps can be in use.")
                              : RuleTexts::tr("%1 % of a multiprocessor's warps can be in use; no more fit because of the %2.").arg(percentText(l.occupancy), l.limit),
          RuleTexts::tr("%1 blocks of %2 threads at once, %3 registers a thread (%4), %5 of shared memory a block")
              .arg(l.residentBlocks)
              .arg(l.threads)
              .arg(l.registers)
              .arg(l.compiled ? RuleTexts::tr("as the compiler counts them") : RuleTexts::tr("estimated"), bytesText(static_cast<double>(l.sharedBytes)))};
}

WhyRule rounds(const WhyLaunch& l) {
  const double whole = std::ceil(l.waves), share = whole > 0 ? l.waves / whole : 0;
  // All blocks run at once: there are no rounds to speak of.
  if (l.waves <= 1)
    return {share < 0.6 ? WhyRule::Kind::bad : WhyRule::Kind::good, RuleTexts::tr("The grid fills %1 % of the multiprocessors.").arg(percentText(share)),
            RuleTexts::tr("%1 blocks, where %2 run at once").arg(countText(l.blocks), numberText(share > 0 ? static_cast<double>(l.blocks) / share : 0, 3))};
  return {share < 0.6   ? WhyRule::Kind::bad
          : share > 0.9 ? WhyRule::Kind::good
                        : WhyRule::Kind::neutral,
          RuleTexts::tr("The grid keeps the multiprocessors busy for %1 % of its rounds.").arg(percentText(share)),
          RuleTexts::tr("%1 blocks take %2 rounds, begun %3: %2 ÷ %3").arg(countText(l.blocks), numberText(l.waves, 3), numberText(whole, 3))};
}

void addLaunches(const WhyFacts& f, std::vector<WhyRule>& rules) {
  const auto slowest = std::max_element(f.launches.begin(), f.launches.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  if (slowest == f.launches.end()) return;
  const WhyLaunch& l = *slowest;
  double longest = 0;
  for (const auto& [name, seconds] : l.parts) longest = std::max(longest, seconds);
  rules.push_back({WhyRule::Kind::neutral,
                   f.launches.size() > 1 ? RuleTexts::tr("The slowest of its %1 launches spends most of its time on: %2.").arg(f.launches.size()).arg(l.limiter)
                                         : RuleTexts::tr("Most of its time goes to: %1.").arg(l.limiter),
                   RuleTexts::tr("%1 if nothing else took any time, of %2 by the formula: a smooth maximum of the parts below, and the launch")
                           .arg(secondsText(longest), secondsText(l.seconds)) +
                       (f.seconds > 0 && f.launches.size() == 1 ? RuleTexts::tr("; the trial's %1 is that with the deviation of a measurement").arg(secondsText(f.seconds))
                                                                : QString())});
  rules.push_back(occupancy(l));
  rules.push_back(rounds(l));
  if (l.spilledRegisters > 0)
    rules.push_back({WhyRule::Kind::bad, RuleTexts::tr("%1 registers of every thread do not fit and go to memory.").arg(l.spilledRegisters),
                     RuleTexts::tr("a thread has %1 registers at most here").arg(l.registers)});
}

void addLines(const WhyFacts& f, std::vector<WhyRule>& rules) {
  if (f.lines.empty()) return;
  QStringList parts;
  for (const auto& [line, share] : f.lines) parts << RuleTexts::tr("%1 to %2", "part of the time, a line of the loops").arg(shareText(share), line);
  rules.push_back({WhyRule::Kind::neutral, (f.launches.empty() ? RuleTexts::tr("Of its time go %1.") : RuleTexts::tr("Of its time after the launch go %1.")).arg(parts.join(QStringLiteral("; "))), f.linesSource});
}

void addCounts(const WhyFacts& f, std::vector<WhyRule>& rules) {
  const WhyCounts& c = f.counts;
  if (c.cycles > 0 && c.instructions > 0) {
    const double ipc = c.instructions / c.cycles;
    rules.push_back(
        {ipc > 2   ? WhyRule::Kind::good
         : ipc < 1 ? WhyRule::Kind::bad
                   : WhyRule::Kind::neutral,
         RuleTexts::tr("A core completes %1 instructions a cycle.").arg(numberText(ipc, 3)),
         RuleTexts::tr("%1 instructions ÷ %2 cycles, counted in one call on one thread").arg(numberText(c.instructions, 3), numberText(c.cycles, 3))});
  }
  const auto misses = [&](double count, const QString& name) {
    if (count > 0 && f.flops > 0)
      rules.push_back({WhyRule::Kind::neutral, RuleTexts::tr("%1 loads in 1000 FLOP miss the %2.").arg(numberText(1000 * count / f.flops, 3), name),
                       RuleTexts::tr("%1 misses ÷ %2 FLOP, counted in one call on one thread").arg(numberText(count, 3), numberText(f.flops, 3))});
  };
  misses(c.l1Misses, RuleTexts::tr("L1 cache"));
  misses(c.llcMisses, RuleTexts::tr("last-level cache"));
  if (c.branchMisses > 0 && c.instructions > 0)
    rules.push_back({WhyRule::Kind::neutral,
                     RuleTexts::tr("%1 branches in 1000 instructions are mispredicted.").arg(numberText(1000 * c.branchMisses / c.instructions, 3)),
                     RuleTexts::tr("%1 mispredictions ÷ %2 instructions").arg(numberText(c.branchMisses, 3), numberText(c.instructions, 3))});
  if (!c.missing.isEmpty())
    rules.push_back({WhyRule::Kind::neutral,
                     c.instructions > 0 ? RuleTexts::tr("Not everything could be counted in the processor.")
                                        : RuleTexts::tr("The processor's counters cannot be read here."),
                     c.missing});
}

}  // namespace

std::vector<std::pair<QString, double>> slowestLines(const QString& text, const std::vector<double>& shares) {
  constexpr double kLeast = 0.05;
  constexpr size_t kMost = 3;
  constexpr qsizetype kWidth = 44;
  const QStringList lines = text.split(QLatin1Char('\n'));
  std::vector<size_t> order;
  for (size_t i = 0; i < std::min(shares.size(), static_cast<size_t>(lines.size())); ++i)
    if (shares[i] >= kLeast) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return shares[a] > shares[b]; });
  if (order.size() > kMost) order.resize(kMost);
  std::vector<std::pair<QString, double>> out;
  for (const size_t i : order) {
    QString line = lines[static_cast<qsizetype>(i)].trimmed();
    if (line.size() > kWidth) line = line.left(kWidth - 1) + QChar(0x2026);
    out.emplace_back(RuleTexts::tr("line %1 of the TIR, %2").arg(i + 1).arg(line), shares[i]);
  }
  return out;
}

int usedVectorBits(const std::string& assembly) {
  int bits = 0;
  for (size_t begin = 0; begin < assembly.size();) {
    const size_t end = std::min(assembly.find('\n', begin), assembly.size());
    const std::string_view line(assembly.data() + begin, end - begin);
    begin = end + 1;
    const auto has = [&](const char* text) { return line.find(text) != std::string_view::npos; };
    if (!has("vfmadd") && !has("vmul") && !has("mulps") && !has("mulss")) continue;
    const bool scalar = has("ss\t") || has("ss ") || has("sd\t") || has("sd ");
    bits = std::max(bits, has("zmm") ? 512 : has("ymm") ? 256 : scalar ? 32 : has("xmm") ? 128 : 0);
  }
  return bits;
}

std::vector<WhyRule> whyRules(const WhyFacts& f) {
  std::vector<WhyRule> rules;
  const bool machine = f.peak > 0 && f.memoryBytesPerS > 0;
  if (machine && f.seconds > 0 && f.flops > 0) rules.push_back(roof(f));
  if (machine && f.flops > 0 && f.compulsoryBytes > 0) rules.push_back(intensity(f));
  if (!f.loops.empty()) {
    rules.push_back(cache(f, static_cast<double>(f.target.l1d_bytes), RuleTexts::tr("L1 cache")));
    rules.push_back(cache(f, static_cast<double>(f.target.l2_bytes), RuleTexts::tr("L2 cache")));
    if (f.flops > 0) rules.push_back(vectors(f));
  }
  double parallel = 1;
  for (const WhyLoop& loop : f.loops) {
    if (loop.parallel) parallel *= std::max(1.0, loop.extent);
  }
  addLaunches(f, rules);
  addLines(f, rules);
  if (!f.launches.empty()) return rules;
  if (f.target.cores > 1 && parallel > 1) rules.push_back(cores(f, parallel));
  if (f.target.cores > 1 && parallel <= 1 && !f.loops.empty())
    rules.push_back({WhyRule::Kind::bad, RuleTexts::tr("It runs on one core of %1.").arg(f.target.cores), RuleTexts::tr("no loop of the nest is parallel")});
  addCounts(f, rules);
  return rules;
}

}  // namespace tw::widgets
