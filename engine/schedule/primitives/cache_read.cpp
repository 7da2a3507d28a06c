// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

Expected<void> apply_cache_read(State& s, const CacheReadStep& p) {
  if (p.stage < 0 || p.stage >= static_cast<int>(s.stages.size()))
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a stage below {} for 'cache_read', found {}", s.stages.size(), p.stage));
  TW_TRY(const ir::Scope scope, parse_scope(p.scope));
  const Stage& source = s.stages[static_cast<size_t>(p.stage)];
  if (source.location == ComputeLocation::inlined)
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a stage with storage for 'cache_read', found the inlined stage '{}'", source.op.name));
  const std::vector<int> all = readers_of(s.stages, p.stage);
  if (p.readers.empty()) return Error(ErrorCode::invalid_argument, "Expected at least one reader for 'cache_read', found none");
  for (const int r : p.readers)
    if (std::find(all.begin(), all.end(), r) == all.end())
      return Error(ErrorCode::illegal_schedule, fmt::format("Expected readers of '{}' for 'cache_read', found stage {}", source.op.name, r));

  Stage cache{.op = source.op};
  const std::string name = unique_name(s, source.op.name + "_" + p.scope);
  const ir::Buffer from = source.op.output;
  std::vector<ir::Expr> indices;
  cache.op = te::Op{.name = name, .output = ir::make_buffer(name, from->dtype, from->shape)};
  for (size_t d = 0; d < from->shape.size(); ++d) {
    const ir::Var v = ir::make_var(fmt::format("c{}", d));
    cache.op.axes.push_back({v, from->shape[d], te::AxisKind::spatial});
    indices.push_back(ir::to_expr(v));
  }
  cache.op.body = ir::load(from, indices);
  cache.op.tag = "cache_read";
  cache.dag_op = source.dag_op;
  cache.iters = root_iters(cache.op);
  cache.scope = scope;
  const ir::Buffer to = cache.op.output;
  for (const int r : p.readers) {
    te::Op& op = s.stages[static_cast<size_t>(r)].op;
    op.body = replace_reads(*op.body, from.get(), [&](const std::vector<ir::Expr>& i) { return ir::load(to, i); });
  }
  insert_stage(s, p.stage + 1, std::move(cache));
  return {};
}

}  // namespace

const PrimitiveOf<CacheReadStep>& CacheReadStep::primitive() {
  static const PrimitiveOf<CacheReadStep> row{
      .about = {.code = "CHR",
                .words = {{"cache_read", "Reads an array through a copy in a nearer memory that some of its readers use instead.", kTvm}},
                .random = [](const Draw& d) -> Step {
                  CacheReadStep step{d.stage, d.scope(), {}};
                  for (size_t r = 0; r < d.stages(); ++r)
                    if (d.rng.uniform(2)) step.readers.push_back(static_cast<int>(r));
                  return step;
                }},
      .json = in_order<&CacheReadStep::stage, &CacheReadStep::scope, &CacheReadStep::readers>(),
      .apply = apply_cache_read,
      .describe = [](const CacheReadStep& s, const Names& n) { return fmt::format("cache_read({}, \"{}\")", n.stage(s.stage), s.scope); }};
  return row;
}

}  // namespace tw::schedule
