// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/base/expected.h"

namespace tw::api {

/// A pass by the name that options call it by. A kernel pass that runs more than once is one: it is left out everywhere or nowhere.
struct PassFacts {
  std::string name, summary, source;
  std::string needed;     ///< why it cannot be left out; empty if it can
  bool of_graph = false;  ///< else of the kernels' loops
  bool optional = false;  ///< runs only where it is asked for
};
/// All of the graph, then all of the kernels, each in the order in which they run first.
const std::vector<PassFacts>& all_passes();
/// Null for another name.
const PassFacts* find_pass(const std::string& name);

/// Names of passes to leave out, by what they rewrite: graph::PassHooks::disabled and CompileOptions::without.
struct LeftOut {
  std::vector<std::string> graph, kernel;
};
/// Errors: invalid_argument for what is no pass, with the names that there are, and for a needed one, with the reason.
Expected<LeftOut> left_out(const std::vector<std::string>& names);

}  // namespace tw::api
