// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/space/config_space.h"

namespace tw::space {

namespace {

/// Names in the order in which they come, each with what was said last.
class Choices {
 public:
  void put(const std::string& name, KnobKind kind, KnobValue value) {
    for (auto& [known, entry] : entries_)
      if (known == name) {
        entry = {kind, std::move(value)};
        return;
      }
    entries_.emplace_back(name, std::make_pair(kind, std::move(value)));
  }
  void put(const std::string& name, Json value) {
    KnobValue v;
    v.other = std::move(value);
    put(name, KnobKind::other, std::move(v));
  }
  std::string text() const {
    std::string out = "[";
    for (const auto& [name, entry] : entries_) {
      if (out.size() > 1) out += ",";
      append_knob(out, name, entry.first, entry.second);
    }
    return out + "]";
  }

 private:
  std::vector<std::pair<std::string, std::pair<KnobKind, KnobValue>>> entries_;
};

}  // namespace

std::string choices_of(const schedule::Schedule& of, const std::string& sketch) {
  Choices out;
  out.put("sketch", Json(sketch));
  schedule::Schedule s(of.dag());
  const auto stage = [&](int i) -> const schedule::Stage& { return s.stages()[static_cast<size_t>(i)]; };
  const auto loop = [&](int i, int k) { return stage(i).iters[static_cast<size_t>(k)].var->name; };
  for (const schedule::Step& step : of.steps()) {
    if (const auto* split = std::get_if<schedule::SplitStep>(&step)) {
      KnobValue v;
      v.split = split->lengths;
      v.split.insert(split->from_inside ? v.split.begin() : v.split.end(), -1);
      out.put(stage(split->stage).op.name + "." + loop(split->stage, split->iter), KnobKind::split, std::move(v));
    } else if (const auto* unroll = std::get_if<schedule::AutoUnrollStep>(&step)) {
      out.put(stage(unroll->stage).op.name + ".unroll", Json(unroll->steps));
    } else if (const auto* at = std::get_if<schedule::ComputeAtStep>(&step)) {
      out.put(stage(at->stage).op.name + ".at", Json(stage(at->target_stage).op.name + "." + loop(at->target_stage, at->target_iter)));
    } else if (const auto* root = std::get_if<schedule::ComputeRootStep>(&step)) {
      out.put(stage(root->stage).op.name + ".at", Json("root"));
    } else if (const auto* inlined = std::get_if<schedule::ComputeInlineStep>(&step)) {
      out.put(stage(inlined->stage).op.name + ".at", Json("inlined"));
    } else if (const auto* mark = std::get_if<schedule::AnnotationStep>(&step); mark && mark->annotation == schedule::Annotation::parallel) {
      out.put(stage(mark->stage).op.name + ".parallel", Json(loop(mark->stage, mark->iter)));
    }
    const auto done = s.append(step);
    TW_ASSERT(done.has_value(), "a schedule's own steps apply");
  }
  return out.text();
}

std::string sketch_of(const std::string& choices) {
  const auto list = parse_json(choices);
  if (!list || !list->is_array()) return "";
  for (const Json& entry : *list)
    if (entry.is_array() && entry.size() == 3 && entry[0] == "sketch" && entry[2].is_string()) return entry[2].get<std::string>();
  return "";
}

}  // namespace tw::space
