// SPDX-License-Identifier: Apache-2.0
#include "engine/space/own/own.h"

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/ir/lexer.h"
#include "engine/lower/lower.h"
#include "engine/te/loads.h"

namespace tw::space::own {

namespace {

constexpr int kLooked = 24;  ///< points that a check lowers

/// What measuring and the interpreter take.
constexpr int64_t kMaxBytes = int64_t{16} << 30;

bool own_matches(const te::Dag& dag, const Target&) {
  if (dag.source.empty()) return false;
  const auto script = parse_script(dag.source);
  return script && space_of(*script).has_value();
}

ConfigSpace own_space(const te::Dag& dag, const Target&) {
  const auto script = parse_script(dag.source);
  if (!script) return {};
  auto space = space_of(*script);
  return space ? std::move(*space) : ConfigSpace();
}

Expected<schedule::Schedule> own_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& point) {
  TW_TRY(const Script script, parse_script(dag->source));
  return run_script(script, dag, point);
}

ConfigEntity own_fallback(const te::Dag& dag, const Target&) {
  const auto script = parse_script(dag.source);
  const auto space = script ? space_of(*script) : Expected<ConfigSpace>(ConfigSpace());
  const auto point = script && space ? start_of(*script, *space) : Expected<ConfigEntity>(ConfigEntity());
  return point ? *point : ConfigEntity();
}

/// At the op that it is about.
Error placed(const Script& script, const Error& e) {
  const std::vector<te::Op>& ops = script.source.dag->ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (e.where != "op '" + printable(ops[i].name) + "'") continue;
    Error out = script.error(ErrorCode::parse_error, script.source.places[i], e.message);
    out.notes = e.notes;
    return out;
  }
  return e;
}

Expected<void> check_computation(const Script& script) {
  const te::Dag& dag = *script.source.dag;
  if (auto inside = te::check_loads(dag); !inside) return placed(script, inside.error());
  double bytes = 0;
  for (const te::Op& op : dag.ops) {
    bytes += static_cast<double>(op.output->bytes());
    if (bytes > static_cast<double>(kMaxBytes))
      return placed(script, Error(ErrorCode::resource_limit, "Expected arrays of at most 16 GiB together, found more with this one", "op '" + printable(op.name) + "'"));
    if (op.is_placeholder() && op.role == te::Role::constant)
      return placed(script, Error(ErrorCode::unsupported, "Expected 'placeholder()', found a constant: a kernel of one's own gets all of its arrays when it is called",
                                  "op '" + printable(op.name) + "'"));
    if (op.is_placeholder() && dag.consumers(dag.op_of(op.output.get())).empty())
      return placed(script, Error(ErrorCode::invalid_argument, "Expected a placeholder that something reads, found one that nothing does", "op '" + printable(op.name) + "'"));
  }
  if (dag.outputs.size() != 1) return Error(ErrorCode::unsupported, fmt::format("Expected one output, found {}", dag.outputs.size()));
  return {};
}

/// Points one after the other: the start, the first, then others by a fixed seed.
Expected<void> look(Checked& c, const Script& script, const Target& target, StopToken stop) {
  TW_TRY(const ConfigEntity start, start_of(script, c.space));
  Rng rng(1);
  const int64_t size = c.space.size();
  for (int n = 0; n < kLooked; ++n) {
    if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Cancelled");
    if (n > size) break;
    const int64_t index = n == 0 ? start.index() : size <= kLooked ? n - 1 : n == 1 ? 0 : rng.range(0, size - 1);
    if (index < 0) continue;
    TW_TRY(const ConfigEntity point, c.space.get(index));
    if (!c.space.filtered_reason(point).empty()) continue;
    ++c.looked;
    auto s = run_script(script, c.dag, point);
    if (!s && s.error().code == ErrorCode::parse_error) return s.error();
    Expected<void> lowered;
    if (!s)
      lowered = s.error();
    else if (const auto f = lower::lower_and_optimize(*s, "kernel", target); !f)
      lowered = f.error();
    if (!lowered) {
      if (!c.refused) c.refused = Error(lowered.error()).note("at point " + point.text());
      continue;
    }
    if (++c.built > 1) continue;
    c.schedule = std::move(*s);
    c.point = index;
  }
  if (c.built > 0) return {};
  if (c.looked == 0)
    return script.error(ErrorCode::parse_error, script.requirements.empty() ? script.source.schedule : script.requirements.front().offset,
                        "Expected requirements that some points meet, found none among those looked at");
  Error e = *c.refused;
  if (!ir::place_of(e)) e.where = ir::place_text(script.text, script.source.schedule);
  return std::move(e).note(fmt::format("none of {} points looked at can be built for '{}'", c.looked, target.str()));
}

}  // namespace

const Template& row() {
  static const Template kRow{"own",
                             own_matches,
                             own_space,
                             own_apply,
                             own_fallback,
                             "The template that the task's own text holds: its knobs, and the steps that use them.",
                             "Chen et al., Learning to optimize tensor programs, NeurIPS 2018 (knobs, by AutoTVM's names and in its order)"};
  return kRow;
}

Expected<Checked> check(const std::string& text, const Target& target, StopToken stop) {
  TW_TRY(const Script script, parse_script(text));
  TW_CHECK(check_computation(script));
  Checked c{.dag = script.source.dag};
  if (!script.source.has_schedule()) {
    c.schedule = default_schedule(c.dag, target);
    return c;
  }
  TW_TRY(c.space, space_of(script));
  TW_CHECK(look(c, script, target, stop));
  return c;
}

}  // namespace tw::space::own
