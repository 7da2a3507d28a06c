// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/stop_token.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// A loop of a traced function.
struct TracedLoop {
  const ForNode* loop = nullptr;
  int around = -1;     ///< the next loop outside
  int level = 0;       ///< loops around it
  bool lanes = false;  ///< its turns happen at once: vector lanes, or threads of a block
};

/// A store, or a reduction by threads, and the loops around it, outermost first.
struct TracedStatement {
  const StmtNode* statement = nullptr;
  std::vector<int> loops;
};

/// What one step does to one array: an element for each lane.
struct TracedAccess {
  int array = 0;
  bool is_store = false;
  size_t first = 0;  ///< of AccessTrace::positions
  int lanes = 1;
  int vector = 1;  ///< of them that neighbours are of one thread
};

/// A statement run once: by one lane, by all lanes of a vector, or by the threads of a warp.
struct TraceStep {
  int statement = 0;
  size_t turns = 0;     ///< of AccessTrace::turns, one for each loop around: its variable, of a loop whose turns happen at once that of the first of them
  size_t accesses = 0;  ///< of AccessTrace::accesses: what is read, then what is written; up to the next step's
  int warp = -1;        ///< of the block; -1 where there are no threads
};

/// Which elements the steps of a function read and write, in their order.
struct AccessTrace {
  Func func;                   ///< what the pointers below point into
  std::vector<Buffer> arrays = {};               ///< parameters first
  std::vector<TracedLoop> loops = {};            ///< parents first
  std::vector<TracedStatement> statements = {};  ///< in the order of the text
  std::vector<TraceStep> steps = {};             ///< and one more, where the last one ends
  std::vector<int64_t> turns = {};
  std::vector<TracedAccess> accesses = {};
  std::vector<int64_t> positions = {};  ///< elements, row-major; -1 for a lane that takes no part
  bool is_whole = true;                 ///< false: it ends at the limit

  size_t size() const { return steps.size() - 1; }
};

/// Walks a lowered function before any pass and notes what it reads and writes; nothing is computed. Parallel loops and blocks run in order, the turns of a
/// vectorised loop and the threads of a block together, statement by statement. What a condition of a branch reads is not noted. Integers that come from
/// arrays, such as indices that are gathered, are 0.
/// It ends with the step that reaches `limit` elements.
/// Errors: unsupported for vectors in expressions and products by a warp; wrong_result for an access outside its array; cancelled.
Expected<AccessTrace> trace_accesses(const Func& f, int64_t limit, StopToken stop = {});

}  // namespace tw::tir
