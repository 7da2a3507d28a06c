// SPDX-License-Identifier: Apache-2.0
#include "app/cli/pass_dump.h"

#include "app/cli/common.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/graph/passes/fuse_operators.h"
#include "engine/lower/lower.h"
#include "engine/tir/print.h"

namespace tw::cli {
namespace {

Json entry(const std::string& pass, const std::string& file, double seconds, bool changed) {
  return {{"pass", pass}, {"file", file}, {"seconds", seconds}, {"changed", changed}};
}

}  // namespace

void PassDump::write(const std::string& path, const std::string& text) {
  if (error_) return;
  if (const auto done = folder_.write(path, text); !done) error_ = done.error();
}

void PassDump::operator()(const graph::Pass& pass, const graph::Graph& before, const graph::Graph& after, double seconds, bool changed) {
  const auto add = [&](const char* name, const graph::Graph& g, double s, bool c) {
    const std::string file = fmt::format("graph/{:02}_{}.graph", graph_.size(), name);
    write(file, graph::print(g));
    graph_.push_back(entry(name, file, s, c));
  };
  if (graph_.empty()) add("imported", before, 0, true);
  add(pass.name, after, seconds, changed);
  if (pass.name != std::string_view("fuse_operators")) return;
  std::string borders;
  for (const graph::KernelBorder& b : graph::kernel_borders(before))
    borders += fmt::format("{} -> {}: {}\n", before.nodes[static_cast<size_t>(b.producer)].name, before.nodes[static_cast<size_t>(b.consumer)].name, b.reason);
  write("graph/kernel_borders.txt", borders);
}

void PassDump::add_kernel(const std::string& symbol, const schedule::Schedule& schedule, const Target& target, const std::vector<std::string>& without) {
  Json passes = Json::array();
  const auto add = [&](const char* name, const tir::Func& f, double s, bool c) {
    const std::string file = fmt::format("kernels/{}/{:02}_{}.tir", symbol, passes.size(), name);
    write(file, tir::print(f));
    passes.push_back(entry(name, file, s, c));
  };
  tir::PassHooks hooks;
  hooks.disabled = without;
  hooks.after = [&](const tir::Pass& pass, const tir::Func& before, const tir::Func& after, double seconds, bool changed) {
    if (passes.empty()) add("lowered", before, 0, true);
    add(pass.name, after, seconds, changed);
  };
  const auto func = lower::lower_and_optimize(schedule, symbol, target, hooks);
  if (!func && !error_) error_ = func.error();
  kernels_.push_back({{"symbol", symbol}, {"passes", std::move(passes)}});
}

Expected<void> PassDump::finish() {
  write("index.json", Json{{"graph", graph_}, {"kernels", kernels_}}.dump(2) + "\n");
  if (error_) return *error_;
  return {};
}

}  // namespace tw::cli
