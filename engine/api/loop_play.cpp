// SPDX-License-Identifier: Apache-2.0
#include "engine/api/loop_play.h"

#include "engine/lower/lower.h"
#include "engine/te/smaller.h"

namespace tw::api {
namespace {

/// Elements that a turn of a loop touches, roughly: two operands and a sum that is read and written.
constexpr int64_t kTouchedByTurn = 4;

Expected<tir::AccessTrace> trace_of(const te::DagPtr& dag, const std::vector<schedule::Step>& steps, int64_t limit, const StopToken& stop) {
  TW_TRY(const schedule::Schedule s, schedule::Schedule::replay(dag, steps));
  TW_TRY(const tir::Func f, lower::lower(s, "main"));
  return tir::trace_accesses(f, limit, stop);
}

}  // namespace

Expected<PlayedLoops> play_loops(const records::Task& task, const std::vector<schedule::Step>& steps, const LoopPlayOptions& options, StopToken stop) {
  PlayedLoops result;
  const auto play = [&](tir::AccessTrace trace) -> Expected<PlayedLoops> {
    TW_TRY(result.play, simulate::LoopPlay::make(std::move(trace), task.target, simulate::cache_levels(task.target, options.smaller_caches), stop));
    return std::move(result);
  };
  const auto may_end = [&](const te::Dag& dag) { return te::iterations(dag) <= options.limit / kTouchedByTurn; };
  for (result.longest = 256; !options.own_sizes && !may_end(*task.dag) && result.longest >= 8; result.longest /= 2) {
    const te::DagPtr dag = te::smaller(*task.dag, result.longest);
    if (!may_end(*dag)) continue;
    auto trace = trace_of(dag, steps, options.limit, stop);
    if (trace && trace->is_whole) return play(std::move(*trace));
    if (!trace && trace.error().code == ErrorCode::cancelled) return trace.error();
    if (!trace && !result.not_smaller) result.not_smaller = trace.error();
  }
  result.longest = 0;
  TW_TRY(tir::AccessTrace trace, trace_of(task.dag, steps, options.limit, stop));
  return play(std::move(trace));
}

}  // namespace tw::api
