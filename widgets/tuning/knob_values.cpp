// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/knob_values.h"

#include <algorithm>

#include "engine/base/json.h"

namespace tw::widgets {
namespace {

/// What is left of the extent for the first factor.
int64_t outerFactor(const space::Knob& knob, const std::vector<int64_t>& factors) {
  int64_t rest = 1;
  for (size_t i = 1; i < factors.size(); ++i) rest *= std::max<int64_t>(1, factors[i]);
  return (knob.extent + rest - 1) / rest;
}

bool isSame(const space::Knob& knob, const space::KnobValue& a, const space::KnobValue& b) {
  if (knob.kind != space::KnobKind::split) return a == b;
  if (a.split.size() != b.split.size() || a.split.empty() || !std::equal(a.split.begin() + 1, a.split.end(), b.split.begin() + 1)) return false;
  const int64_t outer = outerFactor(knob, a.split);
  const auto first = [&](const space::KnobValue& v) { return v.split[0] < 0 ? outer : v.split[0]; };
  return first(a) == first(b);
}

}  // namespace

NamedValueReader::NamedValueReader(std::string_view text) : m_text(text) { m_open = take('['); }

void NamedValueReader::skip() {
  while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\n' || m_text[m_at] == '\t' || m_text[m_at] == '\r')) ++m_at;
}

bool NamedValueReader::take(char c) {
  skip();
  if (m_at >= m_text.size() || m_text[m_at] != c) return false;
  ++m_at;
  return true;
}

bool NamedValueReader::string(std::string_view& inside) {
  if (!take('"')) return false;
  const size_t from = m_at;
  for (; m_at < m_text.size() && m_text[m_at] != '"'; ++m_at)
    if (m_text[m_at] == '\\') ++m_at;
  if (m_at >= m_text.size()) return false;
  inside = m_text.substr(from, m_at++ - from);
  return true;
}

bool NamedValueReader::value(std::string_view& text) {
  skip();
  const size_t from = m_at;
  int depth = 0;
  while (m_at < m_text.size()) {
    const char c = m_text[m_at];
    if (c == '"') {
      std::string_view inside;
      if (!string(inside)) return false;
      continue;
    }
    if (depth == 0 && (c == ',' || c == ']')) break;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    ++m_at;
  }
  size_t end = m_at;
  while (end > from && m_text[end - 1] == ' ') --end;
  text = m_text.substr(from, end - from);
  return m_at < m_text.size() && !text.empty();
}

std::optional<NamedValue> NamedValueReader::next() {
  if (!m_open) return std::nullopt;
  m_open = false;
  if (take(']')) {
    skip();
    m_whole = m_at == m_text.size();
    return std::nullopt;
  }
  NamedValue entry;
  if (!take('[') || !string(entry.name) || !take(',') || !string(entry.kind) || !take(',') || !value(entry.value) || !take(']')) return std::nullopt;
  skip();
  // A comma stands before a further entry alone.
  if (m_at < m_text.size() && m_text[m_at] == ',') {
    ++m_at;
    skip();
    m_open = m_at < m_text.size() && m_text[m_at] == '[';
  } else {
    m_open = m_at < m_text.size() && m_text[m_at] == ']';
  }
  return entry;
}

std::optional<space::KnobKind> knobKindOf(std::string_view code) {
  for (const auto kind : {space::KnobKind::split, space::KnobKind::reorder, space::KnobKind::annotate, space::KnobKind::other})
    if (code == space::knob_kind_code(kind)) return kind;
  return std::nullopt;
}

std::optional<space::KnobValue> knobValueOf(space::KnobKind kind, std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return std::nullopt;
  space::KnobValue value;
  if (kind == space::KnobKind::other) {
    value.other = *json;
    return value;
  }
  if (!json->is_array()) return std::nullopt;
  for (const Json& item : *json) {
    if (kind == space::KnobKind::annotate ? !item.is_string() && !item.is_number_integer() : !item.is_number_integer()) return std::nullopt;
    if (kind == space::KnobKind::split) value.split.push_back(item.get<int64_t>());
    if (kind == space::KnobKind::reorder) value.reorder.push_back(item.get<int>());
    if (kind == space::KnobKind::annotate) value.annotate.push_back(item.is_string() ? item.get<std::string>() : dump_json(item));
  }
  return value;
}

int candidateOf(const space::Knob& knob, const space::KnobValue& value) {
  const auto found = std::find_if(knob.candidates.begin(), knob.candidates.end(), [&](const space::KnobValue& c) { return isSame(knob, c, value); });
  return found == knob.candidates.end() ? -1 : static_cast<int>(found - knob.candidates.begin());
}

}  // namespace tw::widgets
