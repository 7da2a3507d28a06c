// SPDX-License-Identifier: Apache-2.0
#include "engine/base/duration.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "engine/base/text.h"

namespace tw {
namespace {

/// A number is times `factor`, then divided by `divisor`: both are whole, so that `200us` is 0.0002 to the last digit.
struct DurationUnit {
  std::string_view name;
  double factor, divisor;
};
constexpr DurationUnit kDurationUnits[] = {{"ms", 1, 1e3}, {"us", 1, 1e6}, {"h", 3600, 1}, {"m", 60, 1}, {"s", 1, 1}};

}  // namespace

Expected<double> parse_duration(const std::string& text) {
  const Error wrong(ErrorCode::invalid_argument, fmt::format("Expected a duration such as '90s', '30m' or '1h30m', found '{}'", printable(text)));
  double total = 0;
  const char* p = text.c_str();
  if (*p == 0) return wrong;
  while (*p != 0) {
    char* end = nullptr;
    const double value = std::strtod(p, &end);
    if (end == p || !(value >= 0) || !std::isfinite(value)) return wrong;
    const std::string_view rest(end);
    DurationUnit unit{"", 1, 1};
    for (const DurationUnit& u : kDurationUnits)
      if (unit.name.empty() && rest.starts_with(u.name)) unit = u;
    if (unit.name.empty() && !rest.empty()) return wrong;
    total += value * unit.factor / unit.divisor;
    p = end + unit.name.size();
  }
  return total;
}

std::string duration_text(double seconds) {
  if (seconds == 0) return "0";
  const auto in = [&](const DurationUnit& u) { return seconds * u.divisor / u.factor; };
  const auto text = [&](const DurationUnit& u) { return fmt::format("{}{}", in(u), u.name); };
  const DurationUnit &milli = kDurationUnits[0], &micro = kDurationUnits[1], &hour = kDurationUnits[2], &minute = kDurationUnits[3], &second = kDurationUnits[4];
  const bool minutes = std::fmod(seconds, 60) == 0 && seconds != 60, hours = std::fmod(seconds, 3600) == 0;
  const DurationUnit& unit = hours ? hour : minutes ? minute : seconds >= 1 ? second : seconds >= 1e-3 ? milli : micro;
  const auto same = [&](const std::string& t) {
    const auto back = parse_duration(t);
    return back && *back == seconds;
  };
  const std::string best = text(unit);
  return same(best) ? best : text(second);
}

}  // namespace tw
