// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/text.h"
#include "engine/lower/lower.h"
#include "engine/tir/interp.h"
#include "engine/tir/passes/insert_barriers.h"
#include "engine/tir/print.h"
#include "engine/tir/verify.h"
#include "tests/engine/lower/random_schedules.h"

namespace tw::testing {

/// What is wrong with the function of a schedule as lowered, with the barriers that threads need, or after the passes, by the interpreter: empty if it is
/// well-formed, leaves no array, reads nothing that was not written and gives `want`. Nothing if the schedule is illegal.
inline std::optional<std::string> wrong_when_lowered(const schedule::Schedule& s, const std::vector<HostArray>& inputs, const std::vector<HostArray>& want) {
  const auto f = lower::lower(s, "f");
  if (!f && f.error().code == ErrorCode::illegal_schedule) return {};
  if (!f) return f.error().text();
  const Target target;
  const auto check = [&](const tir::Func& func, const char* when) -> std::string {
    if (auto ok = tir::verify(func); !ok) return fmt::format("{}: {}\n{}", when, ok.error().text(), tir::print(func));
    const auto got = run_scheduled(s, inputs, [&](std::vector<HostArray>& args) { return tir::interpret(func, args); });
    if (!got) return fmt::format("{}: {}\n{}", when, got.error().text(), tir::print(func));
    const double d = largest_difference(*got, want);
    return d < 1e-4 ? "" : fmt::format("{}: differs by {}\n{}", when, d, tir::print(func));
  };
  if (std::string wrong = check(tir::insert_barriers(*f, target), "as lowered"); !wrong.empty()) return wrong;
  tir::PassHooks hooks;
  hooks.verify = true;
  const auto optimized = tir::run_passes(*f, target, hooks);
  if (!optimized) return optimized.error().text() + "\n" + tir::print(*f);
  return check(*optimized, "after the passes");
}

}  // namespace tw::testing
