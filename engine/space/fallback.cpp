// SPDX-License-Identifier: Apache-2.0
#include "engine/space/fallback.h"

#include <algorithm>

#include "engine/space/knobs/split.h"

namespace tw::space {
namespace {

/// Products beyond this are no axes; their divisors would take long to find.
constexpr int64_t kMaxProduct = int64_t{1} << 31;

const Json* value_of(const Json& entity, const std::string& knob) {
  if (!entity.is_array()) return nullptr;
  for (const Json& item : entity)
    if (item.is_array() && item.size() == 3 && item[0] == knob) return &item[2];
  return nullptr;
}

/// Product of a reference's factors, an open first one left out; 0 if they are no factors for `outputs` loops.
int64_t product_of(const Json* factors, size_t outputs) {
  if (factors == nullptr || !factors->is_array() || factors->size() != outputs) return 0;
  int64_t product = 1;
  for (size_t i = 0; i < outputs; ++i) {
    const Json& f = (*factors)[i];
    if (!f.is_number_integer()) return 0;
    const auto factor = f.get<int64_t>();
    if (i == 0 && factor == -1) continue;
    if (factor < 1 || factor > kMaxProduct / product) return 0;
    product *= factor;
  }
  return product;
}

size_t outputs_of(const Knob& knob) { return knob.candidates.empty() ? 0 : knob.candidates.front().split.size(); }

/// How well a reference fits: the number of splits whose divisors it shares fully, in parts; -1 if it lacks a split.
double fit(const ConfigSpace& space, const Json& reference) {
  double score = 0;
  for (const Knob& knob : space.knobs()) {
    if (knob.kind != KnobKind::split) continue;
    const int64_t product = product_of(value_of(reference, knob.name), outputs_of(knob));
    if (product == 0) return -1;
    const std::vector<int64_t> own = divisors(knob.extent);
    const auto shared = std::count_if(own.begin(), own.end(), [&](int64_t d) { return product % d == 0; });
    score += static_cast<double>(shared) / static_cast<double>(own.size());
  }
  return score;
}

}  // namespace

std::vector<int64_t> fallback_split(int64_t extent, const std::vector<int64_t>& limits) {
  std::vector<int64_t> factors(limits.size(), 1);
  for (size_t i = limits.size(); i-- > 0;) {
    TW_ASSERT(limits[i] == -1 || limits[i] >= 1, "a limit of a fallback split is neither -1 nor positive");
    for (const int64_t d : divisors(extent))
      if (limits[i] == -1 || d <= limits[i]) factors[i] = d;
    extent /= factors[i];
  }
  return factors;
}

ConfigEntity nearest_point(const ConfigSpace& space, std::span<const Json> references) {
  const Json* best = nullptr;
  double best_fit = 0;
  for (const Json& reference : references) {
    const double f = fit(space, reference);
    if (f <= best_fit) continue;
    best = &reference;
    best_fit = f;
  }
  if (best == nullptr) return {};
  Json entity = Json::array();
  for (const Knob& knob : space.knobs()) {
    const Json* value = value_of(*best, knob.name);
    Json lent = value ? *value : Json();
    if (knob.kind == KnobKind::split) {
      auto limits = lent.get<std::vector<int64_t>>();
      limits[0] = -1;
      lent = fallback_split(knob.extent, limits);
    }
    entity.push_back(Json::array({knob.name, knob_kind_code(knob.kind), std::move(lent)}));
  }
  const auto point = space.from_json(entity);
  return point && space.filtered_reason(*point).empty() ? *point : ConfigEntity();
}

ConfigEntity point_with(const ConfigSpace& space, const std::vector<std::pair<std::string, Json>>& values) {
  Json entity = Json::array();
  for (const Knob& knob : space.knobs())
    for (const auto& [name, value] : values)
      if (name == knob.name) entity.push_back(Json::array({name, knob_kind_code(knob.kind), value}));
  const auto point = space.from_json(entity);
  TW_ASSERT(point.has_value(), point ? "" : point.error().message);
  return *point;
}

}  // namespace tw::space
