// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/schedule/schedule.h"
#include "engine/space/config_space.h"
#include "engine/target/target.h"

namespace tw::space {

/// A schedule template: a space for a dag, and a function from a point to steps.
struct Template {
  const char* name;  ///< such as "dense_pack.cpu"; AutoTVM's own name for its templates, such as "dense_pack.x86"
  bool (*matches)(const te::Dag&, const Target&);
  ConfigSpace (*space)(const te::Dag&, const Target&);
  /// Errors: illegal_schedule or resource_limit for points that break a rule.
  Expected<schedule::Schedule> (*apply)(const te::DagPtr&, const Target&, const ConfigEntity&);
  /// The point that untuned networks use: chosen by rule from shape and target, without measuring. Its index is -1 if no point is valid, or where an earlier
  /// template serves better by rule, or the schedule by rule does.
  ConfigEntity (*fallback)(const te::Dag&, const Target&);
  const char* summary;
  const char* source;
  /// For templates whose points leave the layouts of arguments open: a point with these, as rule_schedule takes them. Null for others, whose points fix them.
  Expected<schedule::Schedule> (*in_layouts)(const te::DagPtr&, const Target&, const ConfigEntity&, const std::vector<schedule::LayoutStep>&) = nullptr;
  /// Whether the schedule by rule is faster than the fallback point where all that is read and written lies in rows. Null: never.
  bool (*rows_suit)(const te::Dag&, const Target&) = nullptr;
};

/// All templates for CPUs, and those for GPUs; templates/templates.h.
std::span<const Template> templates();
std::span<const Template> gpu_templates();
/// Templates that match, each another way to compute the same: a search goes through all of their spaces. The plain one is first; none: such tasks have only
/// the default schedule. A task whose own text holds a template (own/own.h) has that alone; the others are found by name.
std::vector<const Template*> alternatives(const te::Dag& dag, const Target& target);
/// The first of them, or null.
const Template* find_template(const te::Dag& dag, const Target& target);
/// AutoTVM's templates, exact in names, knobs and enumeration: for its logs and for comparisons. Chosen by name alone.
std::span<const Template> autotvm_templates();
/// The template of that name, ours or AutoTVM's, if it matches, else null.
const Template* find_template(const te::Dag& dag, const Target& target, std::string_view name);
/// All templates that match, ours first.
std::vector<const Template*> find_templates(const te::Dag& dag, const Target& target);

/// What untuned networks use: the last template that matches, has a fallback point and gives a schedule for it.
struct Fallback {
  const Template* space_template;
  schedule::Schedule schedule;
};
std::optional<Fallback> fallback(const te::DagPtr& dag, const Target& target);

/// A sensible schedule for any dag by rule: inlines what is injective, vectorises and parallelises the rest. Never fails on a verified dag.
/// `layouts` (layout steps of placeholders and outputs, by stage of the unscheduled dag) come first, and vector loops follow them.
/// Errors: what an illegal layout step gives.
Expected<schedule::Schedule> rule_schedule(const te::DagPtr& dag, const Target& target, const std::vector<schedule::LayoutStep>& layouts);
/// What a task gets that was never tuned: the fallback point of its template, else the schedule by rule. Never fails on a verified dag.
schedule::Schedule default_schedule(const te::DagPtr& dag, const Target& target);

}  // namespace tw::space
