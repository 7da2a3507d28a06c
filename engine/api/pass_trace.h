// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/api/compile.h"

namespace tw::api {

/// One pass of a pipeline, with the text after it.
struct TracedPass {
  std::string name;                                ///< of the first entry: what the passes begin with, "lowered" or "imported"
  std::string summary, source;                     ///< as in the table of passes; empty for the first entry
  double seconds = 0;                              ///< in the pass
  bool changed = false;                            ///< the text is another than before
  std::shared_ptr<const std::string> text;         ///< shared with the entry before if nothing changed; never null
  std::string needed = {};                         ///< why it cannot be left out; empty if it can
  std::shared_ptr<const graph::Graph> graph = {};  ///< of a graph's passes: the graph of this text, shared likewise
};

/// A pipeline at work: what it began with, then every pass in order. What went wrong ends it.
struct PassTrace {
  std::vector<TracedPass> passes;
  std::optional<Error> error;
};

/// Lowers a candidate and runs the passes of tir/ on it, keeping every text. Nothing is compiled and nothing runs. Milliseconds.
PassTrace trace_passes(const records::Task& task, const std::vector<schedule::Step>& steps);
/// Runs the graph passes on the network as it was imported once more. Milliseconds to seconds.
PassTrace trace_graph_passes(const Network& network, const Target& target);

/// The first entry after which the texts of two traces of one pipeline differ in structure, -1 if none does. Numbers do not count: tiles of other sizes are the
/// same structure until a pass makes something else of them.
int first_divergence(const PassTrace& a, const PassTrace& b);

}  // namespace tw::api
