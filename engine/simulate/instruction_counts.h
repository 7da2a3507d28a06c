// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/simulate/access_counts.h"

namespace tw::simulate {

/// Counts the instructions that a warp executes where it is, beside those of its accesses.
class InstructionCounts {
 public:
  InstructionCounts(WarpPath& path, AccessCounts& accesses, LaunchFacts& facts, MachineCode& code)
      : path_(path), accesses_(accesses), facts_(facts), code_(code) {}

  /// Arithmetic and loads of a value. `fused`: an addition of this product, one instruction with it, is counted already.
  void value(const ir::Expr& e, bool fused = false);
  /// A turn of a loop that is one in machine code.
  void turn();
  /// What takes one instruction of control.
  void control() { facts_.control += path_.times(); }
  void barrier();
  void all_reduce(const tir::AllReduceNode& n);
  /// A product of tiles by the warp, with what it fetches.
  void product(const tir::MmaNode& n);

 private:
  void arithmetic(const ir::Expr& e, DType t, double instructions);
  void binary(const ir::BinaryNode& b, const ir::Expr& e, bool fused);
  void select(const ir::SelectNode& s, const ir::Expr& e);

  WarpPath& path_;
  AccessCounts& accesses_;
  LaunchFacts& facts_;
  MachineCode& code_;
};

}  // namespace tw::simulate
