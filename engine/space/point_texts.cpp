// SPDX-License-Identifier: Apache-2.0
#include "engine/space/point_texts.h"

#include "engine/space/knobs/split.h"

namespace tw::space {
namespace {

/// Takes the next array off a list of arrays on one line. Empty if there is none.
std::string_view take_entry(std::string_view& list) {
  if (!list.starts_with('[')) return {};
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']' && --depth == 0) {
      const std::string_view entry = list.substr(0, i + 1);
      list.remove_prefix(i + 1);
      if (list.starts_with(",["))
        list.remove_prefix(1);
      else if (list != "]")
        list = {};
      return entry;
    }
  }
  return {};
}

}  // namespace

PointTexts::PointTexts(const ConfigSpace& space) : space_(space) {
  for (const Knob& knob : space.knobs()) {
    Positions& positions = knobs_.emplace_back();
    const auto put = [&](const KnobValue& value, size_t position) {
      std::string text;
      append_knob(text, knob.name, knob.kind, value);
      positions.try_emplace(std::move(text), static_cast<int>(position));
    };
    for (size_t i = 0; i < knob.candidates.size(); ++i) {
      put(knob.candidates[i], i);
      if (knob.kind == KnobKind::split) put({.split = resolve_split(knob.extent, knob.candidates[i].split)}, i);
    }
  }
}

Expected<ConfigEntity> PointTexts::read(std::string_view entity) const {
  std::string_view rest = entity;
  std::vector<int> positions;
  if (rest.starts_with('[')) rest.remove_prefix(1);
  for (const Positions& knob : knobs_) {
    const auto found = knob.find(take_entry(rest));
    if (found == knob.end()) break;
    positions.push_back(found->second);
  }
  if (positions.size() != knobs_.size() || rest != "]") return space_.from_json(std::string(entity));
  return space_.get(space_.index_of(positions));
}

}  // namespace tw::space
