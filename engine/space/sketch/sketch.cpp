// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/sketch.h"

#include <algorithm>
#include <deque>

#include "engine/space/sketch/rule.h"

namespace tw::space {

using schedule::Stage;
using te::AxisKind;

bool SketchState::is_output(int i) const {
  const std::vector<int>& outputs = schedule_.outputs();
  return std::find(outputs.begin(), outputs.end(), i) != outputs.end();
}

int SketchState::matched_consumer(int i) const {
  const Access reads = access();
  if (is_output(i)) return -1;
  const std::set<int> consumers = reads.consumers(i);
  if (consumers.size() != 1) return -1;
  const int c = *consumers.begin();
  if (!reads.elementwise_match(i, c)) return -1;
  const auto reduces = [&](int k) { return std::any_of(stage(k).iters.begin(), stage(k).iters.end(), [](const schedule::Iter& it) { return it.kind == AxisKind::reduce; }); };
  if (reduces(i) && reduces(c)) return -1;
  return stage(c).op.tag == "cache_read" || !stage(c).relations.empty() ? -1 : c;  // its loops may be another stage's tiles already
}

bool SketchState::is_cache_written(int i) const {
  const Access reads = access();
  for (size_t k = 0; k < schedule_.stages().size(); ++k)
    if (stage(static_cast<int>(k)).op.tag == "cache_write" && reads.direct_producers(static_cast<int>(k)).contains(i)) return true;
  return false;
}

bool SketchState::has_cross_thread_reduction(int i) const {
  const auto here = [](const Stage& st) {
    return std::any_of(st.iters.begin(), st.iters.end(),
                       [](const schedule::Iter& it) { return it.kind == AxisKind::reduce && it.annotation == schedule::Annotation::thread_x; });
  };
  if (here(stage(i))) return true;
  return std::any_of(schedule_.stages().begin(), schedule_.stages().end(), [&](const Stage& st) { return st.at_stage == i && here(st); });
}

int64_t SketchState::iterations(int i, AxisKind kind) const {
  int64_t n = 1;
  for (const schedule::Iter& it : stage(i).iters)
    if (it.kind == kind) n *= it.extent;
  return n;
}

int SketchState::split_of(int i) const {
  // Stages move up as others are inserted, and keep their names.
  const std::string& name = stage(i).op.name;
  schedule::Schedule s(schedule_.dag());
  for (size_t k = 0; k < schedule_.steps().size(); ++k) {
    const auto* split = std::get_if<schedule::SplitStep>(&schedule_.steps()[k]);
    if (split && s.stages()[static_cast<size_t>(split->stage)].op.name == name) return static_cast<int>(k);
    const auto* follow = std::get_if<schedule::FollowSplitStep>(&schedule_.steps()[k]);
    if (follow && s.stages()[static_cast<size_t>(follow->stage)].op.name == name) return follow->source;
    const auto done = s.append(schedule_.steps()[k]);
    TW_ASSERT(done.has_value(), "a sketch's own steps apply");
  }
  return -1;
}

void SketchState::apply(const schedule::Step& step) {
  const auto done = schedule_.append(step);
  TW_ASSERT(done.has_value(), "a sketch rule gave a step that does not apply: " + (done ? std::string() : done.error().text()));
}

int SketchState::open_split(int stage, int iter, int levels) {
  return open_split(stage, iter, levels, this->stage(stage).iters[static_cast<size_t>(iter)].extent);
}

int SketchState::open_split(int stage, int iter, int levels, int64_t extent) {
  const int step = steps();
  apply(schedule::SplitStep{stage, iter, extent, std::vector<int64_t>(static_cast<size_t>(levels) - 1, 1)});
  open(step);
  return step;
}

Sketch SketchState::finish() const {
  Sketch out{schedule_.dag(), schedule_.steps(), open_, tiled_, whole_, derived_};
  std::sort(out.open.begin(), out.open.end());
  return out;
}

std::vector<Sketch> sketches(const te::DagPtr& dag, const Target& target, const SketchOptions& options) {
  std::vector<Sketch> out;
  const SketchState first(dag, target, options);
  std::deque<std::pair<SketchState, int>> open{{first, static_cast<int>(first.schedule().stages().size()) - 1}};
  while (!open.empty()) {
    const auto [state, stage] = std::move(open.front());
    open.pop_front();
    if (stage < 0) {
      out.push_back(state.finish());
      continue;
    }
    for (const SketchRule& rule : sketch_rules()) {
      if (!(target.gpu ? rule.gpu : rule.cpu)) continue;
      const RuleFit fit = rule.fits(state, stage);
      if (fit == RuleFit::skip) continue;
      const std::string name = state.stage(stage).op.name;
      for (auto& [next, at] : rule.apply(state, stage)) {
        if (!rule.silent) next.note(rule.name, name);
        open.emplace_back(std::move(next), at);
      }
      if (fit == RuleFit::apply_and_end) break;
    }
  }
  return out;
}

}  // namespace tw::space
