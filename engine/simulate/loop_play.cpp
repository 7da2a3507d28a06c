// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/loop_play.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "engine/simulate/access.h"

namespace tw::simulate {

namespace {

/// Steps between two moments that are kept: half of them are played within a fraction of a picture's time.
constexpr size_t kEvery = 4096;
/// Bytes that all kept moments may take; there are fewer of them where caches are large.
constexpr size_t kMomentBytes = 64 << 20;

size_t every(size_t steps, size_t bytes_of_moment) {
  return std::max(kEvery, steps * bytes_of_moment / kMomentBytes);
}

/// The different lines that an access touches, in the order of its lanes.
std::vector<int64_t> lines_of(const tir::TracedAccess& a, const int64_t* positions, int bytes, int64_t base, int line) {
  std::vector<int64_t> lines;
  for (int lane = 0; lane < a.lanes; ++lane) {
    if (positions[lane] < 0) continue;
    const int64_t here = (base + positions[lane] * bytes) / line;
    if (lines.empty() || (lines.back() != here && std::find(lines.begin(), lines.end(), here) == lines.end())) lines.push_back(here);
  }
  return lines;
}

/// What each thread of a warp accesses: neighbours of a vector as one access of up to 16 bytes, where they are that; else one after the other.
std::vector<WarpAccess> warp_accesses(const tir::TracedAccess& a, const int64_t* positions, int bytes, int64_t base) {
  const auto vector = static_cast<size_t>(a.vector), threads = static_cast<size_t>(a.lanes) / vector;
  const bool fits = a.vector * bytes <= 16 && (a.vector & (a.vector - 1)) == 0;
  bool together = fits;
  for (size_t t = 0; together && t < threads; ++t)
    for (size_t k = 1; together && k < vector; ++k) {
      const int64_t first = positions[t * vector], here = positions[t * vector + k];
      together = first < 0 ? here < 0 : here == first + static_cast<int64_t>(k) && first * bytes % (a.vector * bytes) == 0;
    }
  std::vector<WarpAccess> out(together ? 1 : vector);
  for (size_t k = 0; k < out.size(); ++k) {
    out[k].bytes = together ? a.vector * bytes : bytes;
    for (size_t t = 0; t < threads; ++t) {
      const int64_t p = positions[t * vector + k];
      if (p < 0) continue;
      out[k].active |= 1u << t;
      out[k].at[t] = base + p * bytes;
    }
  }
  std::erase_if(out, [](const WarpAccess& w) { return w.active == 0; });
  return out;
}

}  // namespace

PlayCounts& PlayCounts::operator+=(const PlayCounts& o) {
  loads += o.loads, stores += o.stores, lookups += o.lookups;
  warp_accesses += o.warp_accesses, sectors += o.sectors, wavefronts += o.wavefronts;
  if (held.size() < o.held.size()) held.resize(o.held.size(), 0);
  for (size_t k = 0; k < o.held.size(); ++k) held[k] += o.held[k];
  return *this;
}

double PlayCounts::hit_share(size_t level) const {
  int64_t reach = lookups;
  for (size_t k = 0; k < level && k < held.size(); ++k) reach -= held[k];
  return reach > 0 && level < held.size() ? static_cast<double>(held[level]) / static_cast<double>(reach) : 0;
}

LoopPlay::LoopPlay(tir::AccessTrace trace, const Target& target, std::vector<CacheLevel> levels) : trace_(std::move(trace)), levels_(std::move(levels)) {
  int64_t line = 1;
  for (const CacheLevel& l : levels_) line = std::max<int64_t>(line, l.line);
  // Small arrays find room in registers before larger ones.
  std::vector<size_t> order(trace_.arrays.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return trace_.arrays[a]->bytes() < trace_.arrays[b]->bytes(); });
  int64_t room = int64_t{target.vector_registers} * target.vector_bits / 8;
  arrays_.resize(trace_.arrays.size());
  for (const size_t i : order) {
    const ir::BufferNode& b = *trace_.arrays[i];
    if (b.scope == ir::Scope::shared) arrays_[i].home = PlayArray::Home::shared;
    if (b.scope != ir::Scope::local || (!target.gpu && b.bytes() > room)) continue;
    arrays_[i].home = PlayArray::Home::registers;
    room -= b.bytes();
  }
  int64_t address = 0;
  for (size_t i = 0; i < arrays_.size(); ++i) {
    arrays_[i].first_touch.assign(static_cast<size_t>(trace_.arrays[i]->num_elements()), UINT32_MAX);
    if (arrays_[i].home != PlayArray::Home::memory) continue;
    arrays_[i].address = address;
    address += (trace_.arrays[i]->bytes() + line - 1) / line * line;
  }
}

Expected<std::shared_ptr<const LoopPlay>> LoopPlay::make(tir::AccessTrace trace, const Target& target, std::vector<CacheLevel> levels, StopToken stop) {
  if (trace.size() >= UINT32_MAX) return Error(ErrorCode::resource_limit, "Expected at most 2^32 steps to play, found more");
  std::shared_ptr<LoopPlay> play(new LoopPlay(std::move(trace), target, std::move(levels)));
  PlayCounts none;
  none.held.assign(play->levels_.size() + 1, 0);
  Moment now{CacheModel(play->levels_), std::vector<PlayCounts>(play->trace_.statements.size() * play->arrays_.size(), none)};
  size_t bytes = now.counts.size() * (sizeof(PlayCounts) + none.held.size() * sizeof(int64_t));
  for (size_t k = 0; k < play->levels_.size(); ++k) bytes += now.caches.lines(k).size_bytes();
  play->every_ = every(play->size(), bytes);
  for (size_t at = 0; at < play->size(); ++at) {
    if (at % play->every_ == 0) {
      if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Cancelled while playing loops");
      play->moments_.push_back(now);
    }
    play->play(at, now, nullptr);
    for (size_t a = play->trace_.steps[at].accesses; a < play->trace_.steps[at + 1].accesses; ++a) {
      const tir::TracedAccess& access = play->trace_.accesses[a];
      for (size_t k = 0; k < static_cast<size_t>(access.lanes); ++k)
        if (const int64_t p = play->trace_.positions[access.first + k]; p >= 0) {
          uint32_t& first = play->arrays_[static_cast<size_t>(access.array)].first_touch[static_cast<size_t>(p)];
          first = std::min(first, static_cast<uint32_t>(at));
        }
    }
  }
  if (play->moments_.empty()) play->moments_.push_back(now);
  play->totals_ = std::move(now.counts);
  return std::shared_ptr<const LoopPlay>(std::move(play));
}

void LoopPlay::play(size_t at, Moment& moment, std::vector<PlayedAccess>* played) const {
  const tir::TraceStep& step = trace_.steps[at];
  if (played) played->clear();
  for (size_t i = step.accesses; i < trace_.steps[at + 1].accesses; ++i) {
    const tir::TracedAccess& a = trace_.accesses[i];
    const PlayArray& array = arrays_[static_cast<size_t>(a.array)];
    const int64_t* positions = trace_.positions.data() + a.first;
    const int bytes = trace_.arrays[static_cast<size_t>(a.array)]->dtype.bytes();
    PlayCounts& counts = moment.counts[index(step.statement, a.array)];
    PlayedAccess result;
    const auto elements = std::count_if(positions, positions + a.lanes, [](int64_t p) { return p >= 0; });
    (a.is_store ? counts.stores : counts.loads) += elements;
    if (step.warp >= 0 && array.home != PlayArray::Home::registers) {
      for (const WarpAccess& w : warp_accesses(a, positions, bytes, array.address)) {
        ++counts.warp_accesses;
        (array.home == PlayArray::Home::shared ? result.wavefronts : result.sectors) += array.home == PlayArray::Home::shared ? wavefronts(w) : sectors(w);
      }
      counts.sectors += result.sectors, counts.wavefronts += result.wavefronts;
    }
    if (array.home == PlayArray::Home::memory && !levels_.empty()) {
      // A line serves all lanes that want it at once.
      const std::vector<int64_t> asked = lines_of(a, positions, bytes, array.address, levels_.front().line);
      result.level = 0;
      for (const int64_t line : asked) {
        const int level = moment.caches.access(line * levels_.front().line);
        ++counts.held[static_cast<size_t>(level)];
        result.level = std::max(result.level, level);
      }
      result.lines = static_cast<int>(asked.size());
      counts.lookups += result.lines;
    }
    if (played) played->push_back(result);
  }
}

PlayCounts LoopPlay::sum(const std::vector<PlayCounts>& counts, int loop, int array) const {
  PlayCounts all;
  all.held.assign(levels_.size() + 1, 0);
  for (size_t s = 0; s < trace_.statements.size(); ++s) {
    const std::vector<int>& around = trace_.statements[s].loops;
    if (loop >= 0 && std::find(around.begin(), around.end(), loop) == around.end()) continue;
    for (size_t a = 0; a < arrays_.size(); ++a)
      if (array < 0 || static_cast<int>(a) == array) all += counts[index(static_cast<int>(s), static_cast<int>(a))];
  }
  return all;
}

std::pair<int, int64_t> LoopPlay::element_at(int64_t address) const {
  for (size_t a = 0; a < arrays_.size(); ++a) {
    if (arrays_[a].home != PlayArray::Home::memory) continue;
    const int64_t offset = address - arrays_[a].address;
    if (offset >= 0 && offset < trace_.arrays[a]->bytes()) return {static_cast<int>(a), offset / trace_.arrays[a]->dtype.bytes()};
  }
  return {-1, 0};
}

size_t LoopPlay::after_loop(size_t at, int loop) const {
  if (at >= size()) return size();
  /// The turns of the loops around the loop, if the step is in it.
  const auto around = [&](size_t step) -> std::optional<std::span<const int64_t>> {
    const tir::TraceStep& s = trace_.steps[step];
    const std::vector<int>& loops = trace_.statements[static_cast<size_t>(s.statement)].loops;
    const auto found = std::find(loops.begin(), loops.end(), loop);
    if (found == loops.end()) return std::nullopt;
    return std::span(trace_.turns).subspan(s.turns, static_cast<size_t>(found - loops.begin()));
  };
  const auto now = around(at);
  if (!now) return at + 1;
  for (++at; at < size(); ++at) {
    const auto here = around(at);
    if (!here || !std::equal(here->begin(), here->end(), now->begin())) break;
  }
  return at;
}

LoopCursor::LoopCursor(std::shared_ptr<const LoopPlay> play) : play_(std::move(play)), now_(play_->moments_.front()) {}

void LoopCursor::seek(size_t steps) {
  steps = std::min(steps, play_->size());
  if (steps == at_) return;
  // From the kept moment before the last step, unless where we are is nearer.
  const size_t kept = std::min(steps == 0 ? 0 : (steps - 1) / play_->every_, play_->moments_.size() - 1);
  if (steps < at_ || kept * play_->every_ > at_) now_ = play_->moments_[kept], at_ = kept * play_->every_;
  played_.clear();
  for (; at_ < steps; ++at_) play_->play(at_, now_, at_ + 1 == steps ? &played_ : nullptr);
}

}  // namespace tw::simulate
