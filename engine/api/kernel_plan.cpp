// SPDX-License-Identifier: Apache-2.0
#include "engine/api/kernel_plan.h"

#include <algorithm>

#include "engine/api/layouts.h"
#include "engine/base/text.h"
#include "engine/measure/signature.h"
#include "engine/space/template.h"

namespace tw::api {

namespace {

std::vector<schedule::LayoutStep::Piece> pieces_of(const Layout& layout) {
  std::vector<schedule::LayoutStep::Piece> out;
  for (const runtime::LayoutPiece& p : layout) out.push_back({p.dim, p.factor});
  return out;
}

/// An array from one layout into another: a computation of its own, scheduled by default.
Expected<schedule::Schedule> copy_schedule(const graph::TensorType& type, const Layout& from, const Layout& to, const Target& target) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("p0", type.shape, type.dtype);
  const te::Tensor y = b.compute(
      "copy", type.shape, [&](const te::Indices& i) { return x.at(i); }, "layout");
  std::vector<schedule::LayoutStep> layouts;
  if (!from.empty()) layouts.push_back({0, pieces_of(from)});
  if (!to.empty()) layouts.push_back({1, pieces_of(to)});
  return space::rule_schedule(std::move(b).finish({y}), target, layouts);
}

class Planner {
 public:
  Planner(const graph::Graph& g, const graph::Partition& p, const Target& target, const std::map<std::string, Tuned>& tuned, bool templates,
          const HostGroups& host, const std::map<int, DefaultForm>& forms)
      : g_(g), p_(p), target_(target), tuned_(tuned), templates_(templates), host_(host), forms_(forms), versions_(g.values.size()) {}

  Expected<KernelPlan> run(const StopToken& stop) {
    std::vector<std::optional<std::vector<Layout>>> fixed;
    for (const graph::Group& group : p_.groups) {
      keys_.push_back(records::make_task(group.name, group.dag, target_).key);
      const auto it = tuned_.find(keys_.back());
      chosen_.emplace_back();
      if (on_host(keys_.size() - 1)) {
        // Scheduled by rule below.
      } else if (it != tuned_.end()) {
        if (!it->second.in_layouts) chosen_.back() = it->second.schedule;
      } else if (templates_ && form(keys_.size() - 1) == DefaultForm::of_template) {
        if (auto fallback = space::fallback(group.dag, target_)) {
          template_of_[keys_.size() - 1] = fallback->space_template;
          chosen_.back() = std::move(fallback->schedule);
        }
      }
      fixed.push_back(chosen_.back() ? std::optional(argument_layouts(*chosen_.back())) : std::nullopt);
    }
    choose_rows(std::move(fixed));
    for (const int v : g_.inputs) array(v, {});
    for (size_t i = 0; i < p_.groups.size(); ++i) {
      if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Compilation was cancelled");
      TW_CHECK(add_group(i));
    }
    for (const int v : g_.outputs) {
      const auto ready = in_layout(v, {});
      if (!ready) return ready.error();
    }
    return std::move(plan_);
  }

 private:
  /// The array that holds a value in a layout; a new one if there is none.
  int array(int value, const Layout& layout) {
    std::vector<int>& versions = versions_[static_cast<size_t>(value)];
    for (const int a : versions)
      if (plan_.arrays[static_cast<size_t>(a)].layout == layout) return a;
    versions.push_back(static_cast<int>(plan_.arrays.size()));
    plan_.arrays.push_back({value, layout});
    return versions.back();
  }

  /// The same, with a copy put in if the value exists in other layouts only.
  Expected<int> in_layout(int value, const Layout& layout) {
    const graph::Value& v = g_.values[static_cast<size_t>(value)];
    const std::vector<int>& versions = versions_[static_cast<size_t>(value)];
    const auto has = std::any_of(versions.begin(), versions.end(), [&](int a) { return plan_.arrays[static_cast<size_t>(a)].layout == layout; });
    if (v.constant || has) return array(value, layout);
    TW_ASSERT(!versions.empty(), "value '" + v.name + "' is read before it is computed");
    const int from = versions.front();
    TW_TRY(schedule::Schedule s, copy_schedule(v.type, plan_.arrays[static_cast<size_t>(from)].layout, layout, target_));
    const int to = array(value, layout);
    plan_.kernels.push_back(
        {.schedule = std::move(s), .arrays = {from, to}, .name = "layout_of_" + v.name, .task_key = {}, .origin = "default", .space = "rule", .record = {}});
    ++plan_.copies;
    return to;
  }

  /// Layout that the value is at hand in: as its producer wrote it.
  const Layout& present(int value) const { return plan_.arrays[static_cast<size_t>(versions_[static_cast<size_t>(value)].front())].layout; }

  /// Layouts for a group scheduled by rule: inputs as they are; outputs as a reader wants them, or as the inputs are.
  std::vector<Layout> adopted(const graph::Group& group) const {
    if (works_in_rows(g_, group)) return std::vector<Layout>(group.inputs.size() + group.outputs.size());
    std::vector<Layout> layouts;
    Layout blocked;
    const bool in_order = reads_in_order(g_, group);
    for (const int v : group.inputs) {
      layouts.push_back(in_order || g_.values[static_cast<size_t>(v)].constant || takes_rows_apart(g_, group, present(v)) ? Layout{} : present(v));
      if (blocked.empty()) blocked = layouts.back();
    }
    const bool keeps = keeps_layout(g_, group);
    for (const int v : group.outputs) {
      const graph::TensorType& type = g_.values[static_cast<size_t>(v)].type;
      const auto& wanted = wanted_[static_cast<size_t>(v)];
      if (wanted && fits(*wanted, type) && !(blocked.empty() && (reduces(g_, group) || steps_along_rows(g_, group))))
        layouts.push_back(*wanted);
      else
        layouts.push_back(keeps && fits(blocked, type) ? blocked : Layout{});
    }
    return layouts;
  }

  /// By rule, or by the rule with a record's choices, or as plain loops.
  Expected<schedule::Schedule> rule_schedule_for(const graph::Group& group, const Tuned* tuned, const Target& target, DefaultForm form) const {
    const std::vector<Layout> layouts = adopted(group);
    std::vector<schedule::LayoutStep> steps;
    for (size_t k = 0; k < layouts.size(); ++k) {
      const int stage = static_cast<int>(k < group.inputs.size() ? k : static_cast<size_t>(group.dag->outputs[k - group.inputs.size()]));
      if (!layouts[k].empty()) steps.push_back({stage, pieces_of(layouts[k])});
    }
    if (tuned) return tuned->in_layouts(steps);
    if (form == DefaultForm::loops) return schedule::Schedule::replay(group.dag, {steps.begin(), steps.end()});
    return space::rule_schedule(group.dag, target, steps);
  }

  /// Templates' fallbacks that want blocks give way to schedules by rule where those are faster and nothing around them has blocks. At first all that are
  /// faster in rows do; those that blocks reach keep their template, until no more of them are reached.
  void choose_rows(std::vector<std::optional<std::vector<Layout>>> fixed) {
    std::set<size_t> rows;
    for (const auto& [i, t] : template_of_)
      if (t->rows_suit && t->rows_suit(*p_.groups[i].dag, target_)) rows.insert(i);
    for (const size_t i : rows) fixed[i].reset();
    for (bool settled = false; !settled;) {
      settled = true;
      wanted_ = wanted_layouts(g_, p_, fixed);
      for (const int v : g_.inputs) array(v, {});
      for (size_t i = 0; i < p_.groups.size(); ++i) {
        const graph::Group& group = p_.groups[i];
        if (rows.contains(i) && !all_in_rows(group)) {
          settled = false;
          rows.erase(i);
          fixed[i] = argument_layouts(*chosen_[i]);
        }
        const std::vector<Layout> layouts = fixed[i] ? *fixed[i] : adopted(group);
        for (size_t k = 0; k < group.outputs.size(); ++k) array(group.outputs[k], layouts[group.inputs.size() + k]);
      }
      versions_.assign(versions_.size(), {});
      plan_ = {};
    }
    for (const size_t i : rows) {
      template_of_.erase(i);
      chosen_[i].reset();
    }
  }

  /// Whether nothing around a group has blocks.
  bool all_in_rows(const graph::Group& group) const {
    const auto plain = [&](int v) { return g_.values[static_cast<size_t>(v)].constant || present(v).empty(); };
    const auto unwanted = [&](int v) { return !wanted_[static_cast<size_t>(v)] || wanted_[static_cast<size_t>(v)]->empty(); };
    return std::all_of(group.inputs.begin(), group.inputs.end(), plain) && std::all_of(group.outputs.begin(), group.outputs.end(), unwanted);
  }

  Expected<void> add_group(size_t index) {
    const graph::Group& group = p_.groups[index];
    const auto it = tuned_.find(keys_[index]);
    const bool host = on_host(index), tuned = !host && it != tuned_.end();
    TW_TRY(schedule::Schedule s, chosen_[index] ? Expected<schedule::Schedule>(*chosen_[index])
                                                : rule_schedule_for(group, tuned ? &it->second : nullptr, host ? host_.target : target_, form(index)));
    const std::vector<Layout> layouts = argument_layouts(s);
    TW_ASSERT(layouts.size() == group.inputs.size() + group.outputs.size(), "arguments of kernel " + group.name);
    PlannedKernel k{.schedule = std::move(s),
                    .arrays = {},
                    .group = static_cast<int>(index),
                    .name = group.name,
                    .task_key = keys_[index],
                    .origin = tuned  ? it->second.origin
                              : host ? "default, on the processor"
                                     : "default",
                    .space = {},
                    .record = {},
                    .on_host = host};
    if (tuned) {
      k.space = it->second.space;
      k.record = it->second.record;
      k.claimed = it->second.claimed;
    } else {
      const auto named = template_of_.find(index);
      k.space = named != template_of_.end() ? named->second->name : form(index) == DefaultForm::loops ? "loops" : "rule";
    }
    k.tuned = tuned;
    for (size_t i = 0; i < layouts.size(); ++i) {
      const bool input = i < group.inputs.size();
      const int v = input ? group.inputs[i] : group.outputs[i - group.inputs.size()];
      TW_TRY(const int a, input ? in_layout(v, layouts[i]) : Expected<int>(array(v, layouts[i])));
      k.arrays.push_back(a);
    }
    plan_.kernels.push_back(std::move(k));
    return {};
  }

  DefaultForm form(size_t group) const {
    const auto it = forms_.find(static_cast<int>(group));
    return it == forms_.end() ? DefaultForm::of_template : it->second;
  }
  bool on_host(size_t group) const { return host_.groups.contains(static_cast<int>(group)); }

  const graph::Graph& g_;
  const graph::Partition& p_;
  const Target& target_;
  const std::map<std::string, Tuned>& tuned_;
  const bool templates_;
  const HostGroups& host_;
  const std::map<int, DefaultForm>& forms_;
  std::vector<std::string> keys_;                          ///< task key per group
  std::vector<std::optional<schedule::Schedule>> chosen_;  ///< per group: tuned, or its template's fallback; nothing where layouts are adopted
  std::map<size_t, const space::Template*> template_of_;   ///< of groups that have a template's fallback
  std::vector<std::optional<Layout>> wanted_;              ///< per value
  std::vector<std::vector<int>> versions_;                 ///< per value, its arrays; the first is what the producer wrote
  KernelPlan plan_;
};

}  // namespace

std::vector<Layout> argument_layouts(const schedule::Schedule& s) {
  std::vector<Layout> out;
  for (const runtime::ArgSpec& a : measure::signature_of(s, {}).args) out.push_back(a.layout);
  return out;
}

Expected<KernelPlan> plan_kernels(const graph::Graph& g, const graph::Partition& p, const Target& target, const std::map<std::string, Tuned>& tuned,
                                  bool templates, const HostGroups& host, const std::map<int, DefaultForm>& forms, StopToken stop) {
  return Planner(g, p, target, tuned, templates, host, forms).run(stop);
}

}  // namespace tw::api
