// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "engine/base/expected.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// One kernel on a processor with blocks and threads: what all threads run, and how many there are.
struct Launch {
  struct Coordinate {
    ForKind kind;  ///< block_x to thread_z
    Var var;       ///< that the body reads
    Origin origin;
  };
  std::vector<Coordinate> coordinates;    ///< outermost first; a direction without one has extent 1
  std::array<int64_t, 3> grid{1, 1, 1};   ///< blocks in x, y, z
  std::array<int64_t, 3> block{1, 1, 1};  ///< threads of a block in x, y, z
  std::vector<Buffer> shared;             ///< arrays of a block
  std::vector<Buffer> params;             ///< arrays outside: of the function, in its order, then those that cross launches
  std::vector<bool> written;              ///< per param
  Stmt body;                              ///< of one thread
  int64_t threads() const { return block[0] * block[1] * block[2]; }
  int64_t shared_bytes() const;  ///< each array begins at a multiple of 16 bytes
};

/// A function as the host sees it: kernels one after the other, each after the one before has ended.
struct LaunchList {
  std::vector<Launch> launches;
  std::vector<Buffer> workspace;  ///< arrays that cross launches
};

/// Splits a function into host and device parts. A statement at its top without bound loops is a launch of one thread.
/// Errors: unsupported where a bound loop stands inside another statement.
Expected<LaunchList> split_launches(const Func& f);

}  // namespace tw::tir
