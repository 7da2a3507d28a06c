// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/visit.h"
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

Expected<void> apply_cache_write(State& s, const CacheWriteStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "cache_write"));
  TW_TRY(const ir::Scope scope, parse_scope(p.scope));
  if (!st->relations.empty() || st->location != ComputeLocation::root)
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a stage without earlier steps for 'cache_write', found '{}'", st->op.name));

  Stage cache{.op = st->op, .dag_op = st->dag_op};
  const std::string name = unique_name(s, st->op.name + "_" + p.scope);
  cache.op.name = name;
  cache.op.output = ir::make_buffer(name, st->op.output->dtype, st->op.output->shape);
  cache.iters = root_iters(cache.op);
  cache.scope = scope;
  cache.paddings = std::exchange(st->paddings, {});

  // The stage becomes the copy out, with axes of its own.
  std::vector<ir::Expr> indices;
  for (te::Axis& a : st->op.axes) {
    a.var = ir::make_var(a.var->name);
    indices.push_back(ir::to_expr(a.var));
  }
  st->op.body = ir::load(cache.op.output, indices);
  st->op.reduce_axes.clear();
  st->op.reducer = te::Reducer::none;
  st->op.tag = "cache_write";
  st->iters = root_iters(st->op);
  insert_stage(s, p.stage, std::move(cache));
  return {};
}

}  // namespace

const PrimitiveOf<CacheWriteStep>& CacheWriteStep::primitive() {
  static const PrimitiveOf<CacheWriteStep> row{
      .about = {.code = "CHW",
                .words = {{"cache_write", "Computes into a nearer memory, such as registers, and copies the result out when it is complete.", kTvm}},
                .random = [](const Draw& d) -> Step {
                  return CacheWriteStep{d.stage, d.scope()};
                }},
      .json = in_order<&CacheWriteStep::stage, &CacheWriteStep::scope>(),
      .apply = apply_cache_write,
      .describe = [](const CacheWriteStep& s, const Names& n) { return fmt::format("cache_write({}, \"{}\")", n.stage(s.stage), s.scope); }};
  return row;
}

}  // namespace tw::schedule
