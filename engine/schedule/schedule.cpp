// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/schedule/primitive.h"
#include "engine/schedule/primitives/primitives.h"

namespace tw::schedule {

Schedule::Schedule(te::DagPtr dag) : dag_(std::move(dag)) {
  for (const te::Op& op : dag_->ops) {
    Stage st{.op = op, .dag_op = static_cast<int>(state_.stages.size())};
    if (!op.is_placeholder()) st.iters = root_iters(op);
    state_.stages.push_back(std::move(st));
  }
  state_.outputs = dag_->outputs;
}

int Schedule::find(std::string_view stage_name) const {
  for (size_t i = 0; i < state_.stages.size(); ++i)
    if (state_.stages[i].op.name == stage_name) return static_cast<int>(i);
  return -1;
}

Expected<void> Schedule::append(const Step& step) {
  const Expected<void> done = schedule::apply(state_, step);
  if (!done) {
    Error e = done.error();
    e.where = fmt::format("schedule step {}", steps_.size());
    return e;
  }
  steps_.push_back(step);
  const auto* split = std::get_if<SplitStep>(&step);
  state_.splits.push_back(split ? std::get<SplitRelation>(state_.stages[static_cast<size_t>(split->stage)].relations.back()).lengths : std::vector<int64_t>());
  return {};
}

Expected<Schedule> Schedule::apply(const Step& step) const {
  Schedule next = *this;
  TW_CHECK(next.append(step));
  return next;
}

Expected<Schedule> Schedule::replay(te::DagPtr dag, const std::vector<Step>& steps) {
  Schedule s(std::move(dag));
  for (const Step& step : steps) TW_CHECK(s.append(step));
  return s;
}

std::vector<ir::Var> Builder::loops(int stage) const {
  std::vector<ir::Var> out;
  for (const Iter& it : at(stage).iters) out.push_back(it.var);
  return out;
}

void Builder::apply(const Step& step) {
  if (error_) return;
  if (auto done = schedule_.append(step); !done) error_ = done.error();
}

int Builder::position(int stage, const ir::Var& loop) {
  const int i = error_ ? 0 : position_of(at(stage), loop.get());
  TW_ASSERT(i >= 0, fmt::format("loop '{}' is not in stage '{}'", loop->name, at(stage).op.name));
  return i;
}

std::vector<ir::Var> Builder::split(int stage, const ir::Var& loop, std::vector<int64_t> lengths) {
  const size_t count = lengths.size() + 1;
  const int i = position(stage, loop);
  const int64_t extent = error_ ? 0 : at(stage).iters[static_cast<size_t>(i)].extent;
  apply(SplitStep{stage, i, extent, std::move(lengths)});
  if (error_) return std::vector<ir::Var>(count, loop);
  std::vector<ir::Var> out;
  for (size_t k = 0; k < count; ++k) out.push_back(at(stage).iters[static_cast<size_t>(i) + k].var);
  return out;
}

ir::Var Builder::fuse(int stage, const std::vector<ir::Var>& loops) {
  FuseStep step{stage, {}};
  for (const ir::Var& l : loops) step.iters.push_back(position(stage, l));
  apply(step);
  return error_ ? loops.front() : at(stage).iters[static_cast<size_t>(step.iters.front())].var;
}

void Builder::reorder(int stage, const std::vector<ir::Var>& order) {
  ReorderStep step{stage, {}};
  for (const ir::Var& l : order) step.order.push_back(position(stage, l));
  apply(step);
}

void Builder::annotate(int stage, const ir::Var& loop, Annotation a) { apply(AnnotationStep{stage, position(stage, loop), a}); }

void Builder::compute_at(int stage, int target, const ir::Var& loop) { apply(ComputeAtStep{stage, target, position(target, loop)}); }

int Builder::cache_write(int stage, const std::string& scope) {
  apply(CacheWriteStep{stage, scope});
  return stage;
}

int Builder::cache_read(int stage, const std::vector<int>& readers, const std::string& scope) {
  apply(CacheReadStep{stage, scope, readers});
  return stage + 1;
}

int Builder::rfactor(int stage, const ir::Var& loop, int factor_axis) {
  apply(RfactorStep{stage, position(stage, loop), factor_axis});
  return stage;
}

void Builder::storage_align(int stage, const ir::Var& loop, int64_t factor, int64_t offset) {
  apply(StorageAlignStep{stage, position(stage, loop), factor, offset});
}

void Builder::pad(int stage, const ir::Var& loop, int64_t factor) { apply(PadStep{stage, position(stage, loop), factor}); }

int Builder::winograd(int stage, int64_t tile, bool flat) {
  apply(WinogradStep{stage, tile, flat});
  return stage;
}

int Builder::im2col(int stage) {
  apply(Im2colStep{stage});
  return stage;
}
int Builder::im2col(int stage, const ir::Var& term, int64_t pixels, int64_t filters, int64_t terms) {
  apply(Im2colStep{stage, position(stage, term), pixels, filters, terms});
  return stage;
}

Expected<Schedule> Builder::finish() && {
  if (error_) return *error_;
  return std::move(schedule_);
}

}  // namespace tw::schedule
