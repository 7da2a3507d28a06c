// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/base/floor_div.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/space/own/script.h"

namespace tw::space::own {

namespace {

/// Sums wrap, as in bodies.
Expected<int64_t> combined(const Script& script, const Term& t, int64_t a, int64_t b) {
  const auto wrap = [](uint64_t v) { return static_cast<int64_t>(v); };
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const std::string& op = t.text;
  if (op == "+") return wrap(ua + ub);
  if (op == "-") return wrap(ua - ub);
  if (op == "*") return wrap(ua * ub);
  if (op == "==") return int64_t{a == b};
  if (op == "!=") return int64_t{a != b};
  if (op == "<") return int64_t{a < b};
  if (op == "<=") return int64_t{a <= b};
  if (op == ">") return int64_t{a > b};
  if (op == ">=") return int64_t{a >= b};
  if (op == "min") return std::min(a, b);
  if (op == "max") return std::max(a, b);
  if (b == 0) return script.error(ErrorCode::invalid_argument, t.offset, "Expected a divisor, found 0");
  return op == "//" ? floor_div_int(a, b) : floor_mod_int(a, b);
}

}  // namespace

Expected<int64_t> value_of(const Script& script, const Term& t, const ConfigEntity& point) {
  const auto bad = [&](std::string message) { return script.error(ErrorCode::parse_error, t.offset, std::move(message)); };
  switch (t.kind) {
    case Term::Kind::number:
      return t.number;
    case Term::Kind::text:
    case Term::Kind::list:
      return bad("Expected a number");
    case Term::Kind::name: {
      const KnobDefinition* knob = script.knob(t.text);
      if (!knob || point.index() < 0) return bad(fmt::format("Expected a number, a parameter or a knob, found '{}'", t.text));
      const Json* value = knob->kind() == KnobKind::other ? &point.other(t.text) : nullptr;
      if (!value || !value->is_number_integer()) return bad(fmt::format("Expected a knob whose values are numbers, found '{}'", t.text));
      return value->get<int64_t>();
    }
    case Term::Kind::item: {
      const KnobDefinition* knob = script.knob(t.text);
      if (!knob || knob->kind() != KnobKind::split || point.index() < 0) return bad(fmt::format("Expected a factor of a split, as in 'tile_x[1]', found '{}'", t.text));
      TW_TRY(const int64_t i, value_of(script, t.parts[0], point));
      const std::vector<int64_t>& factors = point.split(t.text);
      if (i < 0 || i >= static_cast<int64_t>(factors.size())) return bad(fmt::format("Expected a factor of '{}' from 0 to {}, found {}", t.text, factors.size() - 1, i));
      return factors[static_cast<size_t>(i)];
    }
    case Term::Kind::operation:
      break;
  }
  TW_TRY(const int64_t a, value_of(script, t.parts[0], point));
  if (t.text == "not") return int64_t{a == 0};
  if (t.text == "negative") return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  if (t.text == "and" && a == 0) return 0;
  if (t.text == "or" && a != 0) return 1;
  TW_TRY(const int64_t b, value_of(script, t.parts[1], point));
  if (t.text == "and" || t.text == "or") return int64_t{b != 0};
  return combined(script, t, a, b);
}

}  // namespace tw::space::own
