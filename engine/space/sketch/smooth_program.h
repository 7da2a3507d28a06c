// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/space/sketch/program.h"
#include "engine/space/sketch/tape.h"

namespace tw::space {

/// What Program::evaluate says of a program, as formulas over its numbers. All sizes are logarithms on the tape. Its structure is that of the program and does not
/// depend on numbers: a loop moves an index wherever it stands in it, even where it runs once.
/// Source: features over symbolic schedules in Felix (Zhao et al., ASPLOS 2024); there by a rewriting system, here by a second evaluation of the program.
class SmoothProgram {
 public:
  using Id = Tape::Id;
  /// A part of an index: what a loop, or a digit of it, adds.
  struct Term {
    int loop;
    Id coeff, range;           ///< how far a step moves, in elements; how many there are
    int sign = 1;
    Id below = -1, above = -1;  ///< the digit's places; -1: all of the loop
    bool digit() const { return below >= 0 || above >= 0; }
  };
  struct Index {
    double constant = 0;
    std::vector<Term> terms;
    bool exact = true;  ///< false: something of it is no such sum, and may be anywhere
  };
  struct Stage {
    std::vector<Id> extents;    ///< by slot
    std::vector<Index> values;  ///< of its axes, spatial ones first
    Id elements = -1;           ///< of what one run of it computes
  };

  /// `numbers`: each number's logarithm: a leaf of the tape or a constant.
  SmoothProgram(const Program& program, Tape& tape, std::span<const Id> numbers);

  const Program& program() const { return program_; }
  std::span<const Stage> stages() const { return stages_; }
  std::span<const Id> loops() const { return loops_; }
  /// Whether a loop runs once, whatever the numbers are.
  bool runs_once(int loop) const { return tape_.is_constant(loops_[static_cast<size_t>(loop)], 0); }
  /// Of a stage, those up to which its loops are written out; -1: none.
  Id unroll(int stage) const;
  /// An index that a stage reads by, over loops.
  Index over_loops(const Program::Index& index, const Stage& reader) const;
  /// What an index of a dimension of that size ranges over while those loops run that `moves` says, and others stand still.
  Id extent_of(const Index& index, int64_t size, const std::function<bool(const Term&)>& moves) const;

 private:
  Index digit(const Index& v, Id below, Id above) const;
  void add(Index& to, const Term& term) const;
  void add(Index& to, const Index& other, int64_t factor) const;
  void region(int i);
  void resolve(int i);

  const Program& program_;
  Tape& tape_;
  std::vector<Id> numbers_;
  std::vector<Stage> stages_;
  std::vector<Id> loops_;
};

}  // namespace tw::space
