// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "engine/schedule/primitive.h"

namespace tw::schedule {

std::string print_steps(const Schedule& s) {
  std::string out;
  Schedule at(s.dag());
  for (size_t i = 0; i < s.steps().size(); ++i) {
    out += fmt::format("{:>3}  {}\n", i, describe(s.steps()[i], at));
    auto next = at.apply(s.steps()[i]);
    TW_ASSERT(next.has_value(), "a schedule's own steps apply");
    at = std::move(*next);
  }
  return out;
}

}  // namespace tw::schedule
