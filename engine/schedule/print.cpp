// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "engine/schedule/primitive.h"

namespace tw::schedule {

std::vector<std::string> step_lines(const Schedule& s) {
  std::vector<std::string> out;
  Schedule at(s.dag());
  for (const Step& step : s.steps()) {
    out.push_back(describe(step, at));
    auto next = at.apply(step);
    TW_ASSERT(next.has_value(), "a schedule's own steps apply");
    at = std::move(*next);
  }
  return out;
}

std::string print_steps(const Schedule& s, bool numbered) {
  std::string out;
  size_t number = 0;
  for (const std::string& line : step_lines(s)) out += numbered ? fmt::format("{:>3}  {}\n", number++, line) : line + "\n";
  return out;
}

}  // namespace tw::schedule
