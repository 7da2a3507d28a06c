// SPDX-License-Identifier: Apache-2.0
#include "engine/records/ansor_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "engine/ir/visit.h"
#include "engine/schedule/primitive.h"

namespace tw::records {

using schedule::Step;

std::vector<int> ansor_order(const te::Dag& dag) {
  std::vector<int> order;
  std::vector<bool> seen(dag.ops.size(), false);
  const std::function<void(int)> visit = [&](int op) {
    if (seen[static_cast<size_t>(op)]) return;
    seen[static_cast<size_t>(op)] = true;
    const te::Op& o = dag.ops[static_cast<size_t>(op)];
    if (o.body)
      ir::walk(*o.body, [&](const ir::Expr& e) {
        if (const auto* l = ir::as<ir::LoadNode>(e)) visit(dag.op_of(l->buffer.get()));
      });
    order.push_back(op);
  };
  for (const int o : dag.outputs) visit(o);
  for (size_t i = 0; i < dag.ops.size(); ++i) visit(static_cast<int>(i));  // placeholders that nothing reads
  return order;
}

namespace {

/// The stages that a step speaks of.
std::vector<int*> stages_of(Step& step) {
  std::vector<int*> out;
  std::visit([&](auto& s) { out.push_back(&s.stage); }, step);
  if (auto* at = std::get_if<schedule::ComputeAtStep>(&step)) out.push_back(&at->target_stage);
  if (auto* cache = std::get_if<schedule::CacheReadStep>(&step))
    for (int& r : cache->readers) out.push_back(&r);
  return out;
}

/// Where among the stages a step puts one, after or before its own; nothing if it puts none.
std::optional<int> inserted_at(const Step& step) {
  if (const auto* s = std::get_if<schedule::CacheReadStep>(&step)) return s->stage + 1;
  if (const auto* s = std::get_if<schedule::CacheWriteStep>(&step)) return s->stage;
  if (const auto* s = std::get_if<schedule::RfactorStep>(&step)) return s->stage;
  return std::nullopt;
}

bool is_ansors(const Step& step) {
  const auto* mark = std::get_if<schedule::AnnotationStep>(&step);
  return (mark && mark->annotation != schedule::Annotation::unroll_explicit) || std::holds_alternative<schedule::SplitStep>(step) ||
         std::holds_alternative<schedule::FuseStep>(step) || std::holds_alternative<schedule::ReorderStep>(step) ||
         std::holds_alternative<schedule::ComputeAtStep>(step) || std::holds_alternative<schedule::ComputeInlineStep>(step) ||
         std::holds_alternative<schedule::ComputeRootStep>(step) || std::holds_alternative<schedule::CacheReadStep>(step) ||
         std::holds_alternative<schedule::CacheWriteStep>(step) || std::holds_alternative<schedule::RfactorStep>(step) ||
         std::holds_alternative<schedule::StorageAlignStep>(step) || std::holds_alternative<schedule::FollowSplitStep>(step) ||
         std::holds_alternative<schedule::FollowFusedSplitStep>(step) || std::holds_alternative<schedule::AutoUnrollStep>(step);
}

/// Numbers of stages of one kind as those of another, while steps insert stages.
class Numbering {
 public:
  explicit Numbering(std::vector<int> to) : to_(std::move(to)) {}

  /// Renumbers a step. Errors: invalid_argument.
  Expected<Step> operator()(const Step& step) {
    Step out = step;
    for (int* stage : stages_of(out)) {
      if (*stage < 0 || *stage >= static_cast<int>(to_.size()))
        return Error(ErrorCode::invalid_argument, fmt::format("Expected a stage below {}, found {}", to_.size(), *stage));
      *stage = to_[static_cast<size_t>(*stage)];
    }
    if (const auto from = inserted_at(step)) {
      const int made = *inserted_at(out);
      for (int& n : to_) n += n >= made;
      to_.insert(to_.begin() + *from, made);
    }
    return out;
  }

 private:
  std::vector<int> to_;
};

Expected<std::vector<Step>> renumbered(std::vector<int> to, const std::vector<Step>& steps) {
  Numbering numbering(std::move(to));
  std::vector<Step> out;
  for (size_t k = 0; k < steps.size(); ++k) {
    auto step = numbering(steps[k]);
    if (!step) {
      Error e = step.error();
      e.where = fmt::format("schedule step {}", k);
      return e;
    }
    out.push_back(*std::move(step));
  }
  return out;
}

}  // namespace

Expected<std::vector<Step>> steps_from_ansor(const te::DagPtr& dag, const std::vector<Step>& steps) {
  TW_TRY(std::vector<Step> ours, renumbered(ansor_order(*dag), steps));
  TW_CHECK(schedule::Schedule::replay(dag, ours));
  return ours;
}

Expected<std::vector<Step>> steps_to_ansor(const te::DagPtr& dag, const std::vector<Step>& steps) {
  for (size_t k = 0; k < steps.size(); ++k)
    if (!is_ansors(steps[k]))
      return Error(ErrorCode::unsupported, fmt::format("Expected steps that TVM's records have, found '{}'", schedule::word_of(steps[k]).word),
                   fmt::format("schedule step {}", k));
  const std::vector<int> order = ansor_order(*dag);
  std::vector<int> theirs(order.size());
  for (size_t k = 0; k < order.size(); ++k) theirs[static_cast<size_t>(order[k])] = static_cast<int>(k);
  return renumbered(std::move(theirs), steps);
}

}  // namespace tw::records
