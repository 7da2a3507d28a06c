// SPDX-License-Identifier: Apache-2.0
#include "engine/api/explain.h"

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/graph/to_dag.h"
#include "engine/lower/loop_nest.h"
#include "engine/lower/lower.h"
#include "engine/space/template.h"
#include "engine/tir/print.h"
#include "engine/tune/candidate.h"

namespace tw::api {

namespace {

enum class Depth { outline, machine_code };

Expected<void> fill(Explanation& x, const schedule::Schedule& s, const std::string& symbol, const Target& target,
                    const std::vector<std::vector<int>>& nodes_of_op, Depth depth) {
  x.steps = schedule::print_steps(s, false);
  const lower::PrintedLoops loops = lower::print_loops(s);
  x.loops = loops.text;
  TW_TRY(const tir::Func lowered, lower::lower(s, symbol));
  x.lowered = tir::print(lowered);
  TW_TRY(const tir::Func optimized, tir::run_passes(lowered, target));
  const tir::Printed printed = tir::print_with_lines(optimized);
  x.tir = printed.text;
  x.provenance = Provenance(s, loops, printed, Provenance::Listings(), nodes_of_op);
  if (depth == Depth::outline) return {};
  Expected<codegen::Listing> built = codegen::build_listing(optimized, target);
  if (!built) return built.error();
  codegen::Listing& listing = *built;
  x.provenance = Provenance(s, loops, printed, {listing.ir_line_to_tir_line, listing.asm_line_to_tir_line, listing.sass_line_to_tir_line}, nodes_of_op);
  x.shares = time_shares(optimized, listing, target, x.provenance, loops.lines.size());
  x.llvm_ir = std::move(listing.llvm_ir);
  x.assembly = std::move(listing.assembly);
  x.llvm_ir_line_to_tir_line = std::move(listing.ir_line_to_tir_line);
  x.assembly_line_to_tir_line = std::move(listing.asm_line_to_tir_line);
  x.sass = std::move(listing.sass);
  x.sass_line_to_tir_line = std::move(listing.sass_line_to_tir_line);
  return {};
}

Explanation explained(const Expected<schedule::Schedule>& s, const std::string& symbol, const Target& target,
                      const std::vector<std::vector<int>>& nodes_of_op, Depth depth = Depth::machine_code) {
  Explanation x;
  const Expected<void> done = s ? fill(x, *s, symbol, target, nodes_of_op, depth) : Expected<void>(s.error());
  if (!done) x.error = done.error();
  return x;
}

/// By operation of the task, the nodes of the optimised graph that it came from.
std::vector<std::vector<int>> nodes_of_ops(const records::Task& task, const Network& network, std::span<const int> groups) {
  std::vector<std::vector<int>> nodes_of_op(task.dag->ops.size());
  for (const int group : groups) {
    const graph::Group& g = network.partition.groups.at(static_cast<size_t>(group));
    const auto dag = graph::to_dag(network.optimized, g.nodes, g.outputs);
    // The same computation has the same operations in the same order.
    if (!dag || te::structural_key(*dag->dag) != te::structural_key(*task.dag)) continue;
    for (size_t op = 0; op < nodes_of_op.size(); ++op)
      if (const int n = dag->op_node[op]; n >= 0) nodes_of_op[op].push_back(n);
  }
  return nodes_of_op;
}

Expected<records::Candidate> candidate_in(const records::Task& task, const space::Template& t, const space::ConfigSpace& config_space, int64_t config_index) {
  TW_TRY(const space::ConfigEntity entity, config_space.get(config_index));
  if (const std::string reason = config_space.filtered_reason(entity); !reason.empty())
    return Error(ErrorCode::resource_limit, "Expected a valid point of the space, found that " + reason, entity.text());
  tune::Proposal made = tune::point_candidate(task, t, entity);
  if (!made.refused.empty()) return Error(ErrorCode::illegal_schedule, made.refused);
  return std::move(made.candidate);
}

}  // namespace

Explanation explain(const records::Task& task, const std::vector<schedule::Step>& steps) {
  return explained(schedule::Schedule::replay(task.dag, steps), "main", task.target, {});
}

Explanation explain(const records::Task& task, const std::vector<schedule::Step>& steps, const Network& network, std::span<const int> groups) {
  return explained(schedule::Schedule::replay(task.dag, steps), "main", task.target, nodes_of_ops(task, network, groups));
}

Explanation outline(const records::Task& task, const std::vector<schedule::Step>& steps, const Network& network, std::span<const int> groups) {
  return explained(schedule::Schedule::replay(task.dag, steps), "main", task.target, nodes_of_ops(task, network, groups), Depth::outline);
}

Explanation explain(const schedule::Schedule& schedule, const std::string& symbol, const Target& target) { return explained(schedule, symbol, target, {}); }

Explanation explain(const Network& network, int group, const Target& target, const std::vector<schedule::Step>& steps) {
  Explanation x;
  const std::vector<graph::Group>& groups = network.partition.groups;
  if (group < 0 || static_cast<size_t>(group) >= groups.size()) {
    x.error = Error(ErrorCode::invalid_argument, fmt::format("Expected a group below {}, found {}", groups.size(), group));
    return x;
  }
  const graph::Group& g = groups[static_cast<size_t>(group)];
  const auto dag = graph::to_dag(network.optimized, g.nodes, g.outputs);
  if (!dag) {
    x.error = dag.error();
    return x;
  }
  std::vector<std::vector<int>> nodes_of_op;
  for (const int n : dag->op_node) nodes_of_op.push_back(n < 0 ? std::vector<int>() : std::vector<int>{n});
  return explained(schedule::Schedule::replay(g.dag, steps), "main", target, nodes_of_op);
}

Expected<records::Candidate> candidate_at(const records::Task& task, int64_t config_index) {
  const std::vector<const space::Template*> all = space::alternatives(*task.dag, task.target);
  if (all.empty()) return Error(ErrorCode::not_applicable, "Expected a task with a schedule template, found one with the default schedule only", task.name);
  const space::Template* found = all.front();
  space::ConfigSpace config_space = found->space(*task.dag, task.target);
  for (size_t k = 1; k < all.size() && config_index >= config_space.size(); ++k) {
    config_index -= config_space.size();
    found = all[k];
    config_space = found->space(*task.dag, task.target);
  }
  return candidate_in(task, *found, config_space, config_index);
}

Expected<records::Candidate> candidate_at(const records::Task& task, std::string_view space, int64_t config_index) {
  const space::Template* found = space::find_template(*task.dag, task.target, space);
  if (found == nullptr) return Error(ErrorCode::not_applicable, fmt::format("Expected a template of task '{}', found '{}'", task.name, printable(space)));
  return candidate_in(task, *found, found->space(*task.dag, task.target), config_index);
}

}  // namespace tw::api
