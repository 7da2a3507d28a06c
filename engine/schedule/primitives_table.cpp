// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "engine/schedule/primitive.h"

namespace tw::schedule {

namespace {

template <class... S>
std::vector<const Primitive*> table_of(std::type_identity<std::variant<S...>>) {
  return {&S::primitive().about...};
}

}  // namespace

const std::vector<const Primitive*>& primitives() {
  static const std::vector<const Primitive*> table = table_of(std::type_identity<Step>());
  return table;
}

const StepWord& word_of(const Step& step) {
  return std::visit(
      []<class S>(const S& s) -> const StepWord& {
        const PrimitiveOf<S>& row = S::primitive();
        return row.about.words[row.word ? row.word(s) : 0];
      },
      step);
}

Expected<void> apply(State& s, const Step& step) {
  return std::visit([&]<class S>(const S& p) { return S::primitive().apply(s, p); }, step);
}

std::string describe(const Step& step, const Schedule& before) {
  const Names names(before.stages());
  return std::visit([&]<class S>(const S& s) { return S::primitive().describe(s, names); }, step);
}

Expected<void> check(const State& s) {
  for (const Primitive* p : primitives())
    if (p->check) TW_CHECK(p->check(s));
  return {};
}

std::vector<std::string> Names::loops(int stage, const std::vector<int>& list) const {
  std::vector<std::string> out;
  for (const int i : list) out.push_back(loop(stage, i));
  return out;
}

int Draw::inner_stage() const {
  for (size_t k = 0; k < stages(); ++k)
    if (schedule.stages()[k].location == ComputeLocation::at && rng.uniform(2)) return static_cast<int>(k);
  return stage;
}

int Draw::split() const {
  const std::vector<Step>& steps = schedule.steps();
  for (size_t k = steps.size(); k-- > 0;)
    if (std::holds_alternative<SplitStep>(steps[k]) && rng.uniform(2)) return static_cast<int>(k);
  return below(steps.size());
}

const char* Draw::scope() const {
  static const char* const scopes[] = {"local", "shared", "global"};
  return scopes[rng.uniform(std::size(scopes))];
}

}  // namespace tw::schedule
