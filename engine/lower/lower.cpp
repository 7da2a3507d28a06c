// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/lower.h"

#include "engine/lower/nests.h"
#include "engine/lower/prepare.h"
#include "engine/tir/visit.h"

namespace tw::lower {

using schedule::ComputeLocation;
using schedule::Stage;
using tir::Stmt;

namespace {

/// A user says with the target whether products in float32 may be rounded.
Expected<void> refuse_tf32(const tir::Func& f) {
  bool found = false;
  tir::walk(f.body, [&](const Stmt& s) {
    const auto* n = tir::as<tir::MmaNode>(s);
    found = found || (n && n->a.first->dtype == kFloat32);
  });
  if (!found) return {};
  return Error(ErrorCode::illegal_schedule, "Expected a target with '+tf32' for products of float32 on tensor cores, found one without");
}

}  // namespace

Expected<tir::Func> lower(const schedule::Schedule& s, const std::string& name) {
  TW_TRY(const std::vector<Stage> stages, prepared_stages(s));
  DomainInference domains(stages);
  domains.run();
  const LaunchPlan launches(stages, domains);
  TW_CHECK(launches.check());
  const Plan plan{stages, s.outputs(), domains, launches};
  TW_TRY(const Arrays arrays, Arrays::place(plan));
  const int count = static_cast<int>(stages.size());
  std::vector<Stmt> nests;
  for (int i = 0; i < count; ++i) {
    if (plan.stage(i).op.is_placeholder() || plan.stage(i).location != ComputeLocation::root) continue;
    TW_TRY(Stmt nest, write_nest(plan, arrays, i));
    nests.push_back(std::move(nest));
  }
  tir::Func f{name, {}, static_cast<int>(s.outputs().size()), tir::seq(std::move(nests))};
  for (int i = 0; i < count; ++i)
    if (plan.stage(i).op.is_placeholder()) f.params.push_back(arrays.of(i));
  for (const int o : s.outputs()) f.params.push_back(arrays.of(o));
  for (int i = count; i-- > 0;) {
    const Stage& st = plan.stage(i);
    const bool intermediate = !st.op.is_placeholder() && st.location == ComputeLocation::root && !plan.is_output(i);
    if (intermediate) f.body = tir::alloc(arrays.of(i), f.body, {i, -1});
  }
  return f;
}

Expected<tir::Func> lower_and_optimize(const schedule::Schedule& s, const std::string& name, const Target& target, const tir::PassHooks& hooks) {
  TW_TRY(tir::Func f, lower(s, name));
  if (target.gpu && !target.allows_tf32()) TW_CHECK(refuse_tf32(f));
  return tir::run_passes(std::move(f), target, hooks);
}

}  // namespace tw::lower
