// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/stop_token.h"
#include "engine/graph/graph.h"
#include "engine/target/target.h"

namespace tw::graph {

/// A pure rewriting of a graph. Errors only where the graph cannot be compiled at all.
struct Pass {
  const char* name;  ///< equal to the file and function name
  Expected<Graph> (*run)(const Graph&, const Target&);
  const char* summary;      ///< one paragraph for the workbench
  const char* source;       ///< paper or system it goes back to
  bool optional = false;    ///< runs only where it is asked for: it speeds up none of the bundled networks by itself
  const char* needed = "";  ///< why it must run; empty: it may be left out, and the results stay what they are
};

/// All passes in the order in which they run.
std::span<const Pass> passes();

struct PassHooks {
  std::function<void(const Pass&, const Graph& before, const Graph& after, double seconds, bool changed)> after;
  std::vector<std::string> disabled;  ///< names of passes to skip, none of them needed
  std::vector<std::string> enabled;   ///< names of optional passes to run
  bool verify = true;
  StopToken stop;  ///< asked before each pass
};

/// Errors: those of a pass; invalid_argument for names that are no pass or a needed one; cancelled.
Expected<Graph> run_passes(Graph g, const Target& target, const PassHooks& hooks = {});

}  // namespace tw::graph
