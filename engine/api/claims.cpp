// SPDX-License-Identifier: Apache-2.0
#include "engine/api/claims.h"

#include <algorithm>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/judge.h"
#include "engine/target/bounds.h"

namespace tw::api {
namespace {

double output_bytes(const te::Dag& dag) {
  double bytes = 0;
  for (const int o : dag.outputs) {
    const te::Op& op = dag.ops[static_cast<size_t>(o)];
    double elements = 1;
    for (const int64_t extent : op.output->shape) elements *= static_cast<double>(extent);
    bytes += elements * op.output->dtype.bytes();
  }
  return bytes;
}

records::MeasureResult impossible(records::MeasureResult result, std::string message) {
  result.status = records::Status::bad_timing;
  result.message = std::move(message);
  result.verdict.reset();
  return result;
}

/// `who` is asked for its name where something is wrong.
template <class Who>
records::MeasureResult claim_above(records::MeasureResult result, double least_s, const Who& who) {
  result.verified = false;
  if (!result.ok()) return result;
  if (result.samples_s.empty()) return impossible(std::move(result), "Expected samples, found none");
  for (const double s : result.samples_s)
    if (!records::possible_time(s) || s < least_s)
      return impossible(std::move(result), fmt::format("Expected a time of at least {} for {}, found {:g} s", si_text(least_s, "s"), who(), s));
  if (result.verdict && !(result.verdict->seconds >= least_s))
    return impossible(std::move(result),
                      fmt::format("Expected a time of at least {} for {} in the finals, found {:g} s", si_text(least_s, "s"), who(), result.verdict->seconds));
  return result;
}

Error other_steps(const records::Candidate& c, const char* what) {
  return Error(ErrorCode::corrupt, fmt::format("Expected the {} of {} '{}', found others", what,
                                               c.index < 0 ? std::string("the schedule") : fmt::format("point {} of", c.index), printable(c.space)));
}

}  // namespace

double least_seconds(const te::Dag& dag, const Target& target) {
  constexpr double kMargin = 0.9;
  const double arithmetic = measure::physical_floor_s(dag, target::most_flops(target), target::most_narrow_speedup(target));
  return std::max({records::kLeastTime, arithmetic, kMargin * output_bytes(dag) / target::most_stored_bytes_per_s(target)});
}

records::MeasureResult as_claim(records::MeasureResult result) { return claim_above(std::move(result), records::kLeastTime, [] { return "any kernel"; }); }

records::MeasureResult ClaimChecker::as_claim(const records::Task& task, records::MeasureResult result) {
  const auto [least, fresh] = least_.try_emplace(task.key);
  if (fresh) least->second = least_seconds(*task.dag, task.target);
  return claim_above(std::move(result), least->second, [&] { return fmt::format("'{}' on any machine of the target", printable(task.name)); });
}

records::MeasureResult ClaimChecker::as_foreign_claim(const records::Task& task, records::MeasureResult result) {
  if (task.target.gpu) return as_claim(task, std::move(result));
  const auto [least, fresh] = foreign_.try_emplace(task.key);
  if (fresh) least->second = least_seconds(*task.dag, target::widest_processor(task.target));
  return claim_above(std::move(result), least->second, [&] { return fmt::format("'{}' on any processor", printable(task.name)); });
}

Expected<void> ClaimChecker::check_steps(const records::Task& task, const records::Candidate& c) {
  if (c.index < 0) {
    TW_CHECK(schedule::Schedule::replay(task.dag, c.steps));
    if (c.space == "default" && space::default_schedule(task.dag, task.target).steps() != c.steps) return other_steps(c, "steps");
    return {};
  }
  const auto [at, fresh] = spaces_.try_emplace({task.key, c.space});
  Space& s = at->second;
  if (fresh) {
    s.source = space::find_template(*task.dag, task.target, c.space);
    if (s.source) s.space = s.source->space(*task.dag, task.target);
  }
  if (!s.source) return Error(ErrorCode::unsupported, fmt::format("Task '{}' has no space '{}' for this target", printable(task.name), printable(c.space)));
  TW_TRY(const space::ConfigEntity point, s.space.get(c.index));
  if (point.json_text() != c.config) return other_steps(c, "knobs");
  TW_TRY(const auto schedule, s.source->apply(task.dag, task.target, point));
  return schedule.steps() == c.steps ? Expected<void>() : other_steps(c, "steps");
}

}  // namespace tw::api
