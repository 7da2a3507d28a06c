// SPDX-License-Identifier: Apache-2.0
#include "engine/api/explain.h"

#include "engine/base/json.h"
#include "engine/lower/lower.h"
#include "engine/space/template.h"
#include "engine/tir/print.h"

namespace tw::api {

namespace {

Expected<void> fill(Explanation& x, const records::Task& task, const std::vector<schedule::Step>& steps) {
  TW_TRY(const schedule::Schedule s, schedule::Schedule::replay(task.dag, steps));
  x.steps = schedule::print_steps(s);
  x.loops = schedule::print_loops(s);
  TW_TRY(const tir::Func lowered, lower::lower(s, "main"));
  x.lowered = tir::print(lowered);
  TW_TRY(const tir::Func optimized, tir::run_passes(lowered, task.target));
  x.tir = tir::print(optimized);
  TW_TRY(codegen::Listing listing, codegen::build_listing(optimized, task.target));
  x.llvm_ir = std::move(listing.llvm_ir);
  x.assembly = std::move(listing.assembly);
  x.llvm_ir_line_to_tir_line = std::move(listing.ir_line_to_tir_line);
  x.assembly_line_to_tir_line = std::move(listing.asm_line_to_tir_line);
  return {};
}

}  // namespace

Explanation explain(const records::Task& task, const std::vector<schedule::Step>& steps) {
  Explanation x;
  if (const auto done = fill(x, task, steps); !done) x.error = done.error();
  return x;
}

Expected<records::Candidate> candidate_at(const records::Task& task, int64_t config_index) {
  const space::Template* found = space::find_template(*task.dag, task.target);
  if (!found) return Error(ErrorCode::not_applicable, "Expected a task with a schedule template, found one with the default schedule only", task.name);
  const space::ConfigSpace config_space = found->space(*task.dag, task.target);
  TW_TRY(const space::ConfigEntity entity, config_space.get(config_index));
  if (const std::string reason = config_space.filtered_reason(entity); !reason.empty())
    return Error(ErrorCode::resource_limit, "Expected a valid point of the space, found that " + reason, entity.text());
  TW_TRY(const schedule::Schedule s, found->apply(task.dag, task.target, entity));
  return records::Candidate{found->name, config_index, entity.to_json(), s.steps()};
}

records::Candidate default_candidate(const records::Task& task) { return {"default", -1, Json(), space::default_schedule(task.dag, task.target).steps()}; }

}  // namespace tw::api
