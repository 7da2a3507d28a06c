// SPDX-License-Identifier: Apache-2.0
#include "engine/api/pass_trace.h"

#include <algorithm>

#include "engine/lower/lower.h"
#include "engine/tir/print.h"

namespace tw::api {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The text with every number as one `#`.
std::string structure_of(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (!is_digit(c))
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  }
  return out;
}

template <class P>
void add_pass(PassTrace& trace, const P& pass, double seconds, std::string text) {
  TracedPass& t = trace.passes.emplace_back(TracedPass{pass.name, pass.summary, pass.source, seconds, false, nullptr});
  const auto& before = trace.passes[trace.passes.size() - 2].text;
  t.changed = text != *before;
  t.needed = pass.needed;
  t.text = t.changed ? std::make_shared<const std::string>(std::move(text)) : before;
}

void begin(PassTrace& trace, const char* name, std::string text) {
  trace.passes.push_back({name, {}, {}, 0, false, std::make_shared<const std::string>(std::move(text))});
}

}  // namespace

PassTrace trace_passes(const records::Task& task, const std::vector<schedule::Step>& steps) {
  PassTrace trace;
  const auto run = [&]() -> Expected<void> {
    TW_TRY(const schedule::Schedule schedule, schedule::Schedule::replay(task.dag, steps));
    TW_TRY(const tir::Func lowered, lower::lower(schedule, "main"));
    begin(trace, "lowered", tir::print(lowered));
    tir::PassHooks hooks;
    hooks.after = [&](const tir::Pass& pass, const tir::Func&, const tir::Func& after, double seconds, bool) {
      add_pass(trace, pass, seconds, tir::print(after));
    };
    TW_CHECK(tir::run_passes(lowered, task.target, hooks));
    return {};
  };
  if (const Expected<void> done = run(); !done) trace.error = done.error();
  return trace;
}

PassTrace trace_graph_passes(const Network& network, const Target& target) {
  PassTrace trace;
  begin(trace, "imported", graph::print(network.imported));
  trace.passes.back().graph = std::make_shared<const graph::Graph>(network.imported);
  graph::PassHooks hooks;
  hooks.enabled = network.enabled;
  hooks.after = [&](const graph::Pass& pass, const graph::Graph&, const graph::Graph& after, double seconds, bool) {
    add_pass(trace, pass, seconds, graph::print(after));
    const auto& before = trace.passes[trace.passes.size() - 2].graph;
    trace.passes.back().graph = trace.passes.back().changed ? std::make_shared<const graph::Graph>(after) : before;
  };
  if (const auto done = graph::run_passes(network.imported, target, hooks); !done) trace.error = done.error();
  return trace;
}

int first_divergence(const PassTrace& a, const PassTrace& b) {
  const size_t n = std::min(a.passes.size(), b.passes.size());
  for (size_t i = 0; i < n; ++i)
    if (structure_of(*a.passes[i].text) != structure_of(*b.passes[i].text)) return static_cast<int>(i);
  return -1;
}

}  // namespace tw::api
