// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <unordered_map>

#include "engine/ir/visit.h"
#include "engine/lower/loop_extents.h"
#include "engine/schedule/schedule.h"
#include "engine/target/target.h"

/// Schedules as functions of their numbers. A search changes lengths of splits and numbers of stores thousands of times without touching the structure around
/// them: a program is that structure, worked out once.
namespace tw::space {

/// The numbers of a list of steps: lengths of its splits and stores up to which loops are written out, in the order of the steps.
std::vector<int64_t> numbers_of(std::span<const schedule::Step> steps);
/// Equal for lists of steps that differ in these numbers alone, but for those of splits for partial sums, which become parts of definitions.
uint64_t structure_of(std::span<const schedule::Step> steps);

/// A loop, or a digit of one: floor(loop / div) mod mod, `range` values from 0 on. mod 0: none.
struct LoopDigit {
  int loop = 0;  ///< of the program, counted over all stages
  int64_t div = 1, mod = 0, range = 1;
  bool same(const LoopDigit& o) const { return loop == o.loop && div == o.div && mod == o.mod; }
};
/// constant + sum of coefficient * digit. Not exact: something of it is no such sum, and is missing.
struct DigitSum {
  struct Term {
    LoopDigit digit;
    int64_t coeff;
  };
  int64_t constant = 0;
  std::vector<Term> terms;
  bool exact = true;

  void add(const LoopDigit& digit, int64_t coeff);
  void add(const DigitSum& other, int64_t factor);
  /// floor(this / div) mod `mod`; mod 0: none. Not exact where the terms do not fall into whole digits.
  DigitSum digit(int64_t div, int64_t mod) const;
};

/// What a program says of its stages for certain numbers.
struct Evaluated {
  struct Stage {
    std::vector<int64_t> extents;  ///< by slot: first the axes, over the region that one run of the stage computes, then loops and what they were made from
    std::vector<DigitSum> values;  ///< of its axes over the loops around, spatial ones first
    int64_t bytes = 0;             ///< of that region
  };
  std::vector<Stage> stages;      ///< empty ones for placeholders and inlined stages
  std::vector<int64_t> loops;     ///< iterations of every loop of the program
  std::vector<int64_t> unroll;    ///< by stage: stores up to which its loops are written out; -1: as around
  bool exact = true;              ///< false: some region may be larger than it need be
};

class Program {
 public:
  struct Loop {
    int stage, position;  ///< among the stage's loops
    int slot;
    schedule::Annotation annotation;
    te::AxisKind kind;
  };
  /// An index of a read: constant + sum of coefficient * axis, or * floor(axis / div) mod `mod`. Not exact: it is no such sum.
  struct Index {
    struct Term {
      int slot;
      int64_t coeff, div = 1, mod = 0;
    };
    int64_t constant = 0;
    std::vector<Term> axes;
    bool exact = true;

    /// Over loops, from the values of the reader's axes.
    DigitSum over_loops(std::span<const DigitSum> values) const;
  };
  struct Read {
    int source;  ///< stage
    std::vector<Index> indices;
  };
  struct Stage {
    int first_loop = 0, loops = 0;  ///< numbers of its loops
    size_t spatial = 0;             ///< axes that are not of its reduction
    int at_loop = -1;               ///< that it is computed in; -1: by itself
    std::vector<int64_t> shape;     ///< of all axes
    std::vector<Read> reads;        ///< each once
  };

  /// A length as a product of numbers.
  struct Length {
    int64_t constant = 1;
    std::vector<int> numbers;
  };
  /// How loops were made from others, all by slot: a split's parent and pieces, or what was joined.
  struct Relation {
    bool joins = false;
    std::vector<int> parents, children;
    std::vector<Length> lengths;  ///< of children[1..]
  };

  /// Errors: why the steps do not apply, or what later steps broke.
  static Expected<Program> make(const te::DagPtr& dag, const std::vector<schedule::Step>& steps);

  /// As lowering has them: inlined stages are written where they are read.
  std::span<const schedule::Stage> scheduled() const { return prepared_; }
  std::span<const Stage> stages() const { return stages_; }
  std::span<const Loop> loops() const { return loops_; }
  bool is_output(int stage) const;
  // Of a stage.
  std::span<const Relation> relations(int stage) const { return relations_[static_cast<size_t>(stage)]; }
  size_t slots(int stage) const { return slots_[static_cast<size_t>(stage)]; }
  /// Who reads it: stages, each with the number of the read.
  std::span<const std::pair<int, int>> readers(int stage) const { return readers_[static_cast<size_t>(stage)]; }
  /// The number that says up to how many stores its loops are written out; -1: none.
  int unroll_number(int stage) const { return unroll_[static_cast<size_t>(stage)]; }
  /// Numbers that must be those that it was made with.
  std::span<const int> held() const { return bound_; }
  /// Whether evaluate() can be exact at all: not where steps round loops up or leave a loop to an instruction.
  bool can_be_exact() const { return exact_; }
  /// Loops around a stage that stand still while it is computed once; its own are not among them.
  bool stands_still(int stage, int loop) const { return fixed_[static_cast<size_t>(stage)][static_cast<size_t>(loop)] != 0; }

  /// Whether the program speaks of these numbers: where a split became part of a definition, as of partial sums, only those that it was made with.
  bool covers(std::span<const int64_t> numbers) const;
  /// `known`: the regions that lowering found for a schedule with these numbers; without, they are worked out, and `exact` says whether they are lowering's.
  /// `numbers` are covered. Errors: invalid_argument for lengths below 1 or too large.
  Expected<Evaluated> evaluate(std::span<const int64_t> numbers, const lower::LoopExtents* known = nullptr) const;
  /// Whether lowering, and the target's limits for blocks, accept the schedule with these numbers.
  /// Errors: as of lowering and check_limits.
  Expected<void> check(const Evaluated& e, const Target& target) const;

 private:
  void add_stage(int i, const std::unordered_map<const ir::VarNode*, std::vector<Length>>& lengths);
  void add_reads(int i);
  void add_places();
  void region(int i, Evaluated& e) const;
  void resolve(int i, std::span<const int64_t> numbers, Evaluated& e) const;

  std::vector<schedule::Stage> prepared_;
  std::vector<schedule::Stage> written_;  ///< as the schedule says
  std::vector<int> outputs_;
  std::vector<Stage> stages_;
  std::vector<std::vector<Relation>> relations_;             ///< by stage
  std::vector<size_t> slots_;                                ///< by stage: how many
  std::vector<std::unordered_map<const ir::VarNode*, int>> slot_of_;
  std::vector<Loop> loops_;
  std::vector<std::vector<char>> fixed_;
  std::vector<std::vector<std::pair<int, int>>> readers_;    ///< by stage: reader, number of its read
  std::vector<int> unroll_;                                  ///< by stage: the number that says it; -1: none
  std::vector<int64_t> made_with_;
  std::vector<int> bound_;                                   ///< numbers that must be those that it was made with
  bool exact_ = true;
};

}  // namespace tw::space
