// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/expected.h"
#include "engine/tir/stmt.h"

namespace tw::simulate {

/// An array that a launch reads or writes in the GPU's memory.
struct ArrayTraffic {
  std::string name;
  int64_t bytes = 0;        ///< different bytes that all blocks together touch
  int64_t block_bytes = 0;  ///< that one block touches
  bool depends[3] = {};     ///< whether blocks that differ in x, y, z touch different bytes
};

/// What one statement of a launch adds to the counts of an average warp; of a loop its turns, without what is inside.
struct StatementCounts {
  double instructions = 0;
  double shared = 0;   ///< wavefronts of shared memory and lines of the level-1 cache
  double sectors = 0;  ///< loaded and stored
};

/// What one launch asks of a GPU: counts of an average warp, found by following a few warps of a few blocks through the program of a thread.
struct LaunchFacts {
  int64_t grid[3] = {1, 1, 1};
  int block[3] = {1, 1, 1};
  int64_t shared_bytes = 0;  ///< of one block
  int registers = 0;         ///< of a thread, estimated from its local arrays and loads
  // Instructions of a warp.
  double fp32 = 0, fp64 = 0, fp16 = 0, integer = 0, special = 0, shared_access = 0, global_access = 0, control = 0;
  // What its accesses need.
  /// Multiply-adds on the tensor units, of a warp, in the time of those of 16-bit floats: TF32 takes twice it, bytes half. Their instructions are in
  /// `tensor_instructions`.
  double tensor = 0;
  double tensor_instructions = 0;
  double shared_wavefronts = 0;
  double load_sectors = 0, store_sectors = 0;
  double load_lines = 0;       ///< of the level-1 cache
  double barriers = 0;         ///< of a block
  double dependent_loads = 0;  ///< rounds of loads from memory that a warp waits for, one after the other; a round that copies beside other work is shared
                               ///< among the iterations that it has time for
  int64_t code_bytes = 0;      ///< of machine code, estimated
  std::vector<ArrayTraffic> arrays;
  std::unordered_map<const tir::StmtNode*, StatementCounts> statements;  ///< of the function, as long as that lives

  int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  int threads() const { return block[0] * block[1] * block[2]; }
  int warps() const { return (threads() + 31) / 32; }
  double instructions() const { return fp32 + fp64 + fp16 + integer + special + tensor_instructions + shared_access + global_access + control; }
};

/// Of each launch of a lowered function, in order. Errors: those of tir::split_launches.
Expected<std::vector<LaunchFacts>> launch_facts(const tir::Func& f);

}  // namespace tw::simulate
