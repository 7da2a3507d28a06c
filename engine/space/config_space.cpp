// SPDX-License-Identifier: Apache-2.0
#include "engine/space/config_space.h"

#include <algorithm>

#include "engine/base/json.h"
#include "engine/base/json_text.h"
#include "engine/base/text.h"
#include "engine/space/knobs/annotate.h"
#include "engine/space/knobs/other.h"
#include "engine/space/knobs/reorder.h"
#include "engine/space/knobs/split.h"

namespace tw::space {
namespace {

bool is_number(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Json value_json(KnobKind kind, const KnobValue& value) {
  switch (kind) {
    case KnobKind::split:
      return value.split;
    case KnobKind::reorder:
      return value.reorder;
    case KnobKind::other:
      return value.other;
    case KnobKind::annotate:
      break;
  }
  Json words = Json::array();
  for (const std::string& word : value.annotate) words.push_back(is_number(word) ? Json(std::stoi(word)) : Json(word));
  return words;
}

void append_value(std::string& out, KnobKind kind, const KnobValue& value) {
  if (kind == KnobKind::split)
    append_json(out, value.split);
  else if (kind == KnobKind::reorder)
    append_json(out, value.reorder);
  else
    out += dump_json(value_json(kind, value));
}

/// Whether `json`, as found in a log, means this candidate.
bool means(KnobKind kind, const KnobValue& value, const Json& json) {
  if (kind == KnobKind::other) return same_other(value.other, json);
  if (!json.is_array()) return false;
  if (kind != KnobKind::split) return value_json(kind, value) == json;
  if (json.size() != value.split.size()) return false;
  for (size_t i = 1; i < json.size(); ++i) {
    if (json[i] != value.split[i]) return false;
  }
  return true;
}

/// The first factor of a logged split: -1, or what the others leave of the extent.
bool outer_fits(const Knob& knob, const KnobValue& value, const Json& json) {
  return value.split.empty() || json[0] == -1 || json[0] == value.split[0] || json[0] == resolve_split(knob.extent, value.split)[0];
}

}  // namespace

void append_knob(std::string& out, const std::string& name, KnobKind kind, const KnobValue& value) {
  out += '[';
  append_json(out, name);
  out += ",\"";
  out += knob_kind_code(kind);
  out += "\",";
  append_value(out, kind, value);
  out += ']';
}

const char* knob_kind_code(KnobKind kind) {
  switch (kind) {
    case KnobKind::split:
      return "sp";
    case KnobKind::reorder:
      return "re";
    case KnobKind::annotate:
      return "an";
    case KnobKind::other:
      return "ot";
  }
  TW_UNREACHABLE("knob kind");
}

const KnobValue& ConfigEntity::value(const std::string& knob) const {
  for (const auto& [name, kind_and_value] : values_) {
    if (name == knob) return kind_and_value.second;
  }
  TW_UNREACHABLE("no knob is called '" + knob + "'");
}

const std::vector<int64_t>& ConfigEntity::split(const std::string& knob) const {
  const auto found = resolved_splits_.find(knob);
  TW_ASSERT(found != resolved_splits_.end(), "no split knob is called '" + knob + "'");
  return found->second;
}

const std::vector<int>& ConfigEntity::reorder(const std::string& knob) const { return value(knob).reorder; }
const std::vector<std::string>& ConfigEntity::annotate(const std::string& knob) const { return value(knob).annotate; }
const Json& ConfigEntity::other(const std::string& knob) const { return value(knob).other; }

std::string ConfigEntity::text() const {
  std::string result = "[";
  for (const auto& [name, kind_and_value] : values_) {
    if (result.size() > 1) result += ", ";
    result += fmt::format("('{}', {})", name, python_text(value_json(kind_and_value.first, kind_and_value.second)));
  }
  return result + fmt::format("],None,{}", index_);
}

std::string ConfigEntity::json_text() const {
  std::string text = "[";
  for (const auto& [name, kind_and_value] : values_) {
    if (text.size() > 1) text += ',';
    append_knob(text, name, kind_and_value.first, kind_and_value.second);
  }
  return text + "]";
}

void ConfigSpace::put(Knob knob) {
  for (Knob& old : knobs_) {
    if (old.name != knob.name) continue;
    old = std::move(knob);
    return;
  }
  knobs_.push_back(std::move(knob));
}

void ConfigSpace::define_split(const std::string& name, int64_t extent, const SplitOptions& options) {
  put({name, KnobKind::split, enumerate_split(extent, options), extent, options.help});
}

void ConfigSpace::define_reorder(const std::string& name, int num_axes, const std::string& policy, const std::vector<std::vector<int>>& candidates) {
  ReorderOptions options;
  options.policy = policy;
  options.candidates = candidates;
  options.end = num_axes;
  define_reorder(name, num_axes, options);
}

void ConfigSpace::define_reorder(const std::string& name, int num_axes, const ReorderOptions& options) {
  put({name, KnobKind::reorder, enumerate_reorder(num_axes, options), 0, options.help, options.axes});
}

void ConfigSpace::define_annotate(const std::string& name, int num_axes, const std::string& policy, const std::vector<std::vector<std::string>>& candidates) {
  AnnotateOptions options;
  options.policy = policy;
  options.candidates = candidates;
  define_annotate(name, num_axes, options);
}

void ConfigSpace::define_annotate(const std::string& name, int num_axes, const AnnotateOptions& options) {
  put({name, KnobKind::annotate, enumerate_annotate(num_axes, options), 0, options.help, options.axes});
}

void ConfigSpace::define_knob(const std::string& name, std::vector<Json> candidates, std::string help) {
  put({name, KnobKind::other, enumerate_other(std::move(candidates)), 0, std::move(help)});
}

int64_t ConfigSpace::size() const {
  int64_t size = 1;
  for (const Knob& knob : knobs_) {
    const bool overflow = __builtin_mul_overflow(size, static_cast<int64_t>(knob.candidates.size()), &size);
    TW_ASSERT(!overflow, "a config space has more than 2^63 points");
  }
  return size;
}

ConfigEntity ConfigSpace::entity_at(const std::vector<int>& positions) const {
  ConfigEntity entity;
  entity.index_ = index_of(positions);
  entity.values_.reserve(knobs_.size());
  for (size_t k = 0; k < knobs_.size(); ++k) {
    const Knob& knob = knobs_[k];
    const KnobValue& value = knob.candidates[positions[k]];
    entity.values_.emplace_back(knob.name, std::pair(knob.kind, value));
    if (knob.kind == KnobKind::split) entity.resolved_splits_.emplace(knob.name, resolve_split(knob.extent, value.split));
  }
  return entity;
}

Expected<ConfigEntity> ConfigSpace::get(int64_t index) const {
  if (index < 0 || index >= size()) {
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a point from 0 to {}, found {}", size() - 1, index));
  }
  return entity_at(knob_positions(index));
}

std::vector<int> ConfigSpace::knob_positions(int64_t index) const {
  TW_ASSERT(index >= 0 && index < size(), fmt::format("point {} is not in a space of {}", index, size()));
  std::vector<int> positions;
  positions.reserve(knobs_.size());
  for (const Knob& knob : knobs_) {
    const auto count = static_cast<int64_t>(knob.candidates.size());
    positions.push_back(static_cast<int>(index % count));
    index /= count;
  }
  return positions;
}

int64_t ConfigSpace::index_of(const std::vector<int>& positions) const {
  TW_ASSERT(positions.size() == knobs_.size(), fmt::format("expected {} positions, found {}", knobs_.size(), positions.size()));
  int64_t index = 0;
  for (size_t k = knobs_.size(); k-- > 0;) {
    const auto count = static_cast<int64_t>(knobs_[k].candidates.size());
    TW_ASSERT(positions[k] >= 0 && positions[k] < count, fmt::format("knob '{}' has no candidate {}", knobs_[k].name, positions[k]));
    index = index * count + positions[k];
  }
  return index;
}

Expected<ConfigEntity> ConfigSpace::from_json(const std::string& entity) const {
  TW_TRY(const Json json, parse_json(entity));
  return from_json(json);
}

Expected<ConfigEntity> ConfigSpace::from_json(const Json& entity) const {
  const auto bad = [](std::string message) { return Error(ErrorCode::invalid_argument, std::move(message)); };
  if (!entity.is_array() || entity.size() != knobs_.size()) {
    return bad(fmt::format("Expected a list of {} knobs, found {}", knobs_.size(), entity.is_array() ? std::to_string(entity.size()) : entity.type_name()));
  }
  std::vector<int> positions(knobs_.size(), -1);
  for (const Json& item : entity) {
    if (!item.is_array() || item.size() != 3 || !item[0].is_string()) return bad("Expected a knob as [name, kind, value], found " + printable(dump_json(item)));
    const auto name = item[0].get<std::string>();
    const auto knob = std::find_if(knobs_.begin(), knobs_.end(), [&](const Knob& k) { return k.name == name; });
    if (knob == knobs_.end()) return bad(fmt::format("The space has no knob '{}'", printable(name)));
    const size_t k = knob - knobs_.begin();
    if (positions[k] >= 0) return bad(fmt::format("Knob '{}' is given twice", name));
    if (item[1] != knob_kind_code(knob->kind))
      return bad(fmt::format("Knob '{}' is of kind '{}', found {}", name, knob_kind_code(knob->kind), printable(dump_json(item[1]))));
    const auto candidate = std::find_if(knob->candidates.begin(), knob->candidates.end(), [&](const KnobValue& v) {
      return means(knob->kind, v, item[2]) && (knob->kind != KnobKind::split || outer_fits(*knob, v, item[2]));
    });
    if (candidate == knob->candidates.end()) return bad(fmt::format("Knob '{}' has no candidate {}", name, printable(dump_json(item[2]))));
    positions[k] = static_cast<int>(candidate - knob->candidates.begin());
  }
  return entity_at(positions);
}

ConfigEntity ConfigSpace::best_by(const std::function<double(const ConfigEntity&)>& score) const {
  ConfigEntity best;
  double best_score = 0;
  for (int64_t i = 0, n = size(); i < n; ++i) {
    ConfigEntity e = entity_at(knob_positions(i));
    if (!filtered_reason(e).empty()) continue;
    const double s = score(e);
    if (best.index_ >= 0 && s <= best_score) continue;
    best = std::move(e);
    best_score = s;
  }
  return best;
}

void ConfigSpace::add_filter(std::function<bool(const ConfigEntity&)> keep, std::string reason) { filters_.emplace_back(std::move(keep), std::move(reason)); }

void ConfigSpace::keep_only(std::vector<int64_t> points, std::string reason) {
  kept_ = std::move(points);
  why_kept_ = std::move(reason);
}

std::string ConfigSpace::filtered_reason(const ConfigEntity& e) const {
  if (kept_ && !std::binary_search(kept_->begin(), kept_->end(), e.index())) return why_kept_;
  for (const auto& [keep, reason] : filters_) {
    if (!keep(e)) return reason;
  }
  return {};
}

}  // namespace tw::space
