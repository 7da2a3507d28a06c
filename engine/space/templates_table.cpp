// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/own/own.h"
#include "engine/space/templates/templates.h"

namespace tw::space {

#define X(name) cpu::name(),
std::span<const Template> templates() {
  static const std::vector<Template> kTemplates{TW_CPU_TEMPLATES(X)};
  return kTemplates;
}
#undef X

#define X(name) cuda::name(),
std::span<const Template> gpu_templates() {
  static const std::vector<Template> kTemplates{TW_CUDA_TEMPLATES(X)};
  return kTemplates;
}
#undef X

#define X(name) x86::name(),
std::span<const Template> autotvm_templates() {
  static const std::vector<Template> kTemplates{TW_X86_TEMPLATES(X)};
  return kTemplates;
}
#undef X

namespace {

/// Ours that match.
std::vector<const Template*> matching(const te::Dag& dag, const Target& target) {
  std::vector<const Template*> out;
  for (const Template& t : target.gpu ? gpu_templates() : templates())
    if (t.matches(dag, target)) out.push_back(&t);
  return out;
}

}  // namespace

std::vector<const Template*> alternatives(const te::Dag& dag, const Target& target) {
  if (own::row().matches(dag, target)) return {&own::row()};
  return matching(dag, target);
}

const Template* find_template(const te::Dag& dag, const Target& target) {
  const std::vector<const Template*> all = alternatives(dag, target);
  return all.empty() ? nullptr : all.front();
}

const Template* find_template(const te::Dag& dag, const Target& target, std::string_view name) {
  const std::vector<const Template*> found = find_templates(dag, target);
  const auto it = std::find_if(found.begin(), found.end(), [&](const Template* t) { return name == t->name; });
  return it == found.end() ? nullptr : *it;
}

std::vector<const Template*> find_templates(const te::Dag& dag, const Target& target) {
  std::vector<const Template*> found = matching(dag, target);
  if (own::row().matches(dag, target)) found.insert(found.begin(), &own::row());
  for (const Template& t : autotvm_templates())
    if (target.kind == "llvm" && t.matches(dag, target)) found.push_back(&t);
  return found;
}

}  // namespace tw::space
