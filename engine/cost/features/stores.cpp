// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/stores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/cost/features/itervar.h"

namespace tw::cost {
namespace {

/// What a statement does with an array, over all its accesses to it.
struct ArrayUse {
  bool written = false, read = false;
  double bytes = 0, reuse = 1, stride = 0;  ///< seen from the outermost loop; of the innermost one
  std::array<double, kStoreFootprints> footprints{};  ///< bytes, from the innermost loop outwards
};

void append_arrays(std::vector<ArrayUse> arrays, std::vector<float>& row) {
  std::stable_sort(arrays.begin(), arrays.end(), [](const ArrayUse& a, const ArrayUse& b) { return a.written != b.written ? a.written : a.bytes > b.bytes; });
  arrays.resize(std::min(arrays.size(), kStoreArrays));
  for (const ArrayUse& a : arrays) {
    row.insert(row.end(), {a.written ? 1.0F : 0.0F, log_scaled(a.bytes), log_scaled(a.reuse), log_scaled(a.stride)});
    for (const double f : a.footprints) row.push_back(log_scaled(f));
  }
}

std::vector<float> store_row(const StoreOps& ops, int store, const std::vector<LoopTouches>& loops) {
  std::vector<const LoopTouches*> around;  // outermost first
  std::map<std::string, ArrayUse> arrays;
  for (const LoopTouches& l : loops) {
    const bool is_around = std::any_of(l.touches.begin(), l.touches.end(), [&](const auto& t) { return t.second.store == store; });
    if (is_around) around.push_back(&l);
  }
  std::array<double, kLoopKinds> kinds;
  kinds.fill(1);
  double runs = 1;
  for (size_t i = 0; i < around.size(); ++i) {
    const double extent = std::max(around[i]->extent, 1.0);
    runs *= extent;
    kinds[static_cast<size_t>(loop_kind_place(around[i]->kind))] *= extent;
    const size_t from_inside = around.size() - 1 - i;
    for (const auto& [key, t] : around[i]->touches) {
      if (t.store != store) continue;
      ArrayUse& use = arrays[t.array];
      (t.written ? use.written : use.read) = true;
      const double bytes = t.count * t.bytes;
      if (i == 0) use.bytes = std::max(use.bytes, bytes), use.reuse = std::max(use.reuse, t.reuse);
      if (from_inside < kStoreFootprints) use.footprints[from_inside] = std::max(use.footprints[from_inside], bytes);
      if (from_inside == 0 && std::abs(t.stride) > std::abs(use.stride)) use.stride = t.stride;
    }
  }
  const bool adds_up = std::any_of(arrays.begin(), arrays.end(), [](const auto& a) { return a.second.written && a.second.read; });
  std::vector<float> row = {log_scaled(runs),
                            log_scaled(runs * ops.adds),
                            log_scaled(runs * ops.muls),
                            log_scaled(runs * ops.divs),
                            log_scaled(runs * ops.others),
                            static_cast<float>(around.size()),
                            log_scaled(around.empty() ? 0 : around.back()->extent),
                            adds_up ? 1.0F : 0.0F};
  for (const double product : kinds) row.push_back(product > 1 ? log_scaled(product) : 0);
  std::vector<ArrayUse> uses;
  for (const auto& [name, use] : arrays) uses.push_back(use);
  append_arrays(std::move(uses), row);
  row.resize(kStoreColumns, 0.0F);
  return row;
}

}  // namespace

FeatureRows stores_rows(const Touches& touches) {
  FeatureRows rows{{}, touches.stores.size()};
  for (size_t s = 0; s < touches.stores.size(); ++s) {
    const std::vector<float> row = store_row(touches.stores[s], static_cast<int>(s), touches.loops);
    rows.values.insert(rows.values.end(), row.begin(), row.end());
  }
  return rows;
}

Expected<FeatureRows> stores_features(const FeatureInput& input) {
  TW_TRY(const tir::Func func, lowered_candidate(input));
  return stores_rows(touches(func));
}

}  // namespace tw::cost
