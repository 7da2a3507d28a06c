// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/simulate/lane_values.h"
#include "engine/tir/launches.h"

namespace tw::simulate {

using VarSet = std::unordered_set<const ir::VarNode*>;

/// A loop around what is looked at, at one of its turns.
struct Turn {
  const ir::VarNode* var;
  double count;      ///< turns that this one stands for
  double extent;     ///< of the loop
  int sample;        ///< which of the turns looked at
  bool written_out;  ///< unrolled or virtual threads: no loop in machine code
  bool barrier;      ///< inside
  const std::unordered_set<const ir::BufferNode*>* stored;
};

/// A direction of blocks or threads: where no loop is bound to it, its variable is null.
struct Coordinate {
  const ir::VarNode* var = nullptr;
  int64_t extent = 1;
};

/// Where a warp is in the program of a thread: the loops around it, its threads that take part, what variables are.
class WarpPath {
 public:
  explicit WarpPath(const tir::Launch& launch);

  /// The begin of the program, for a warp that stands for `share` of all. What is the same for every warp is counted on the way of the `first`.
  void enter(int64_t block, int warp, double share, bool first);
  void define(const tir::LetNode& n);
  /// Variables that a value depends on, those behind lets included.
  const VarSet& uses(const ir::Expr& e);
  /// The active threads in which a condition holds; all of them for a vector condition.
  uint32_t where(const ir::Expr& cond) const;

  /// How often the code here runs in a warp.
  double repeats() const;
  /// The same in an average warp.
  double times() const { return share_ * repeats(); }
  /// How often the code here stands in the machine code.
  double copies() const;
  /// Copies in written-out loops that these variables tell apart.
  double copies_of(const VarSet& used) const;

  double share() const { return share_; }
  bool first() const { return first_; }
  const std::array<Coordinate, 6>& coordinates() const { return coordinates_; }
  const Coordinate& coordinate(tir::ForKind kind) const { return coordinates_[static_cast<size_t>(kind) - static_cast<size_t>(tir::ForKind::block_x)]; }

  LaneValues values;
  std::vector<Turn> loops;  ///< around, outermost first
  uint32_t active = 0;      ///< a bit for each thread that takes part
  int epoch = 0;            ///< barriers passed so far, as written
  bool in_group = false;    ///< of copies beside other work
  const tir::StmtNode* statement = nullptr;  ///< that is looked at

 private:
  std::array<Coordinate, 6> coordinates_;  ///< block x, y, z, thread x, y, z
  std::unordered_map<const ir::VarNode*, VarSet> let_uses_;
  std::unordered_map<const ir::ExprNode*, VarSet> uses_;
  double share_ = 1;
  bool first_ = true;
};

}  // namespace tw::simulate
