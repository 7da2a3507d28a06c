// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/space/config_space.h"

/// What records say of their choices by name: AutoTVM's entity lists, such as [["tile_x","sp",[-1,8]],["unroll","ot",16]]. No Qt.
namespace tw::widgets {

/// Views into the list's text.
struct NamedValue {
  std::string_view name, kind, value;  ///< the value is JSON text
};

/// Reads a list entry by entry, without a tree of values; a million of them are read while trials are loaded.
class NamedValueReader {
 public:
  explicit NamedValueReader(std::string_view text);
  /// The next entry; nothing at the end, and where the text is no such list, see isWhole().
  std::optional<NamedValue> next();
  /// Whether the text was such a list up to its end.
  bool isWhole() const { return m_whole; }

 private:
  void skip();
  bool take(char c);
  bool string(std::string_view& inside);
  bool value(std::string_view& text);
  std::string_view m_text;
  size_t m_at = 0;
  bool m_open = false, m_whole = false;
};

/// AutoTVM's code of a kind, see space::knob_kind_code; nothing if there is no such kind.
std::optional<space::KnobKind> knobKindOf(std::string_view code);
/// Nothing for a text that is no value of the kind.
std::optional<space::KnobValue> knobValueOf(space::KnobKind kind, std::string_view json);
/// Place of a value among the knob's candidates, -1 if it is none of them. The first factor of a split may be -1 or what is left of the extent.
int candidateOf(const space::Knob& knob, const space::KnobValue& value);

}  // namespace tw::widgets
