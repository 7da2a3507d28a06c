// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/api/compile.h"
#include "engine/codegen/codegen.h"
#include "engine/runtime/graph_executor.h"
#include "tests/engine/graph/graphs.h"

/// Graphs through the whole compiler, without tuning.
namespace tw::api::testing {

inline runtime::Executable compiled(const graph::Graph& g, const Target& target) {
  Network n{g, graph::run_passes(g, target).value(), {}, "key"};
  n.partition = graph::partition(n.optimized).value();
  return compile(std::move(n), target, nullptr).value();
}

/// Runs twice, since the second run starts from what the first left in the arena; text of the difference to the interpreter, empty if there is none.
inline std::string wrong(const graph::Graph& g, const runtime::Executable& e, double tolerance = 1e-5) {
  const auto inputs = graph::testing::random_inputs(g, 3);
  const auto want = graph::evaluate(g, inputs).value();
  auto executor = runtime::GraphExecutor::create(std::make_shared<const runtime::Executable>(e), codegen::load_object(e.artifact.object).value(), 1).value();
  executor->set_inputs(inputs).value();
  executor->run().value();
  executor->run().value();
  const auto got = executor->outputs().value();
  for (size_t o = 0; o < want.size(); ++o) {
    double largest = 1, off = 0;
    for (int64_t i = 0; i < want[o].num_elements(); ++i) {
      largest = std::max(largest, std::abs(want[o].get(i)));
      if (got[o].get(i) != want[o].get(i)) off = std::max(off, std::isnan(got[o].get(i)) ? INFINITY : std::abs(got[o].get(i) - want[o].get(i)));
    }
    if (off > tolerance * largest) return "output " + std::to_string(o) + " differs by " + std::to_string(off);
  }
  return {};
}

}  // namespace tw::api::testing
