// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/cache_model.h"

#include <algorithm>

#include "engine/target/gpu.h"

namespace tw::simulate {

namespace {

constexpr int kProcessorLine = 64, kGpuLine = 128;

}  // namespace

int64_t CacheLevel::sets() const { return std::max<int64_t>(1, bytes / (int64_t{line} * ways)); }

std::vector<CacheLevel> cache_levels(const Target& target, int smaller) {
  std::vector<CacheLevel> levels;
  if (target.gpu)
    levels = {{"L1", target::gpu_arch(target.gpu->capability).l1_bytes, kUnknownWays, kGpuLine}, {"L2", target.gpu->l2_bytes, kUnknownWays, kGpuLine}};
  else
    levels = {{"L1", target.l1d_bytes, std::max(1, target.l1d_ways), kProcessorLine}, {"L2", target.l2_bytes, kUnknownWays, kProcessorLine}};
  for (CacheLevel& l : levels) l.bytes = std::max<int64_t>(l.sets() / smaller, 1) * l.ways * l.line;
  return levels;
}

CacheModel::CacheModel(std::vector<CacheLevel> levels) : levels_(std::move(levels)), evictions_(levels_.size(), 0) {
  for (const CacheLevel& l : levels_) lines_.emplace_back(static_cast<size_t>(l.sets() * l.ways), -1);
}

int CacheModel::access(int64_t address) {
  int held = static_cast<int>(levels_.size());
  for (size_t k = 0; k < levels_.size(); ++k) {
    const CacheLevel& level = levels_[k];
    const int64_t line = address / level.line;
    const auto set = lines_[k].begin() + line % level.sets() * level.ways, end = set + level.ways;
    auto at = std::find(set, end, line);
    const bool hit = at != end;
    if (!hit) {
      at = end - 1;
      evictions_[k] += *at >= 0;
    }
    std::move_backward(set, at, at + 1);
    *set = line;
    if (hit) {
      held = static_cast<int>(k);
      break;  // further levels do not hear of it
    }
  }
  return held;
}

}  // namespace tw::simulate
