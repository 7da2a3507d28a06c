// SPDX-License-Identifier: Apache-2.0
#include "app/cli/space_text.h"

#include "app/cli/table.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/space/template.h"

namespace tw::cli {
namespace {

constexpr size_t kFew = 6, kWide = 56;  ///< values, and letters of them, that are named

const char* kind_text(space::KnobKind kind) {
  switch (kind) {
    case space::KnobKind::split:
      return "split";
    case space::KnobKind::reorder:
      return "reorder";
    case space::KnobKind::annotate:
      return "annotate";
    case space::KnobKind::other:
      break;
  }
  return "value";
}

std::string candidate_text(const space::Knob& knob, const space::KnobValue& v) {
  if (knob.kind == space::KnobKind::split) return fmt::format("[{}]", fmt::join(v.split, ", "));
  if (knob.kind == space::KnobKind::other) return dump_json(v.other);
  if (knob.axes.empty()) return knob.kind == space::KnobKind::reorder ? fmt::format("[{}]", fmt::join(v.reorder, ", ")) : fmt::format("[{}]", fmt::join(v.annotate, ", "));
  std::vector<std::string> parts;
  for (const int i : v.reorder) parts.push_back(knob.axes[static_cast<size_t>(i)]);
  for (size_t i = 0; i < v.annotate.size() && i < knob.axes.size(); ++i) parts.push_back(knob.axes[i] + ": " + v.annotate[i]);
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string values_text(const space::Knob& knob) {
  std::string out;
  size_t named = 0;
  for (; named < std::min(knob.candidates.size(), kFew) && out.size() < kWide; ++named) out += (named ? " " : "") + candidate_text(knob, knob.candidates[named]);
  return named < knob.candidates.size() ? out + " ..." : out;
}

}  // namespace

std::string knobs_text(const records::Task& task) {
  std::string out;
  for (const space::Template* t : space::alternatives(*task.dag, task.target)) {
    const space::ConfigSpace space = t->space(*task.dag, task.target);
    Table table({"knob of " + std::string(t->name), "kind", ">values", "first values", "meaning"});
    for (const space::Knob& knob : space.knobs())
      table.row({knob.name, kind_text(knob.kind), std::to_string(knob.candidates.size()), values_text(knob), printable(knob.help)});
    out += table.text();
  }
  return out;
}

Json knobs_json(const records::Task& task) {
  Json all = Json::array();
  for (const space::Template* t : space::alternatives(*task.dag, task.target)) {
    const space::ConfigSpace space = t->space(*task.dag, task.target);
    for (const space::Knob& knob : space.knobs())
      all.push_back({{"space", t->name}, {"knob", knob.name}, {"kind", kind_text(knob.kind)}, {"values", knob.candidates.size()}, {"help", knob.help}, {"axes", knob.axes}});
  }
  return all;
}

}  // namespace tw::cli
