// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "engine/cost/feature_matrix.h"
#include "engine/cost/features/felix.h"
#include "engine/space/sketch/open_schedule.h"

namespace tw::cost {

/// What an open schedule's numbers make of it, to go downhill on: Felix's features of its stores and what its target sets limits to, for many seeds side by side,
/// with derivatives by the exponents that its numbers are made of. Immutable: threads share one, each with a Pass of its own.
/// Source: Zhao et al., ASPLOS 2024.
class DescentProgram {
 public:
  /// The power of `prime` in a number.
  struct Variable {
    int number;
    int64_t prime;
    friend bool operator==(const Variable&, const Variable&) = default;
  };
  /// ln of what is used less ln of what there is: kept where it is 0 at most.
  struct Constraint {
    std::string name;
    bool linear = false;
    std::vector<double> row = {};  ///< of a linear one: by variable
    double rest = 0;               ///< and what is added
  };
  /// Results for so many seeds, and what backward() needs of the forward() before it.
  struct Pass {
    size_t seeds = 0;
    std::vector<float> features;      ///< [seeds, stores, kFelixColumns]
    std::vector<double> constraints;  ///< [seeds, constraints]
    std::vector<double> values, adjoints, leaves;
  };

  /// Errors: as of Program::make; illegal_schedule where a limit is broken whatever the numbers are.
  static Expected<DescentProgram> make(space::OpenSchedule schedule, const Target& target);

  const space::OpenSchedule& schedule() const { return schedule_; }
  /// Groups after each other, of each its numbers in their order, of each the primes of the extent, ascending; then the free numbers, by powers of 2.
  std::span<const Variable> variables() const { return variables_; }
  /// Those with a row each, in the order of stages.
  std::span<const std::string> stores() const { return stores_; }
  /// Linear ones first. Bounds of exponents are not among them: 0, those of a group's extent together, and OpenSchedule::Free::most.
  std::span<const Constraint> constraints() const { return constraints_; }

  /// Features and constraints with smooth steps at `x`, [seeds, variables].
  void forward(std::span<const double> x, size_t seeds, Pass& pass) const { run(space::TapeCode::Kind::smooth, x, seeds, pass); }
  /// The same with steps and rounding as they are, where all exponents are integers.
  void exact(std::span<const double> x, size_t seeds, Pass& pass) const { run(space::TapeCode::Kind::exact, x, seeds, pass); }
  /// Derivatives by x, [seeds, variables], of a sum of features and constraints of the last forward(): `by_features` and `by_constraints` are how much of each, in
  /// their order; empty: none.
  void backward(Pass& pass, std::span<const float> by_features, std::span<const double> by_constraints, std::span<double> gradient) const;

  /// The features of a pass as models take them, with those fixed that no exponent changes.
  FeatureMatrix matrix(const Pass& pass) const;

  /// A feature of the first seed as it was worked out, `k` counted over all stores.
  double feature(const Pass& pass, size_t k) const { return pass.values[code_->row(k) * space::TapeCode::kPoints]; }

  /// Numbers of integer exponents, those that are held included.
  std::vector<int64_t> numbers(std::span<const double> x) const;
  /// Features with smooth steps at the numbers that the schedule has.
  FeatureRows at_steps() const;
  /// The formula of one feature, over the program's numbers.
  std::string formula(size_t store, size_t column) const;
  /// As the formulas call a number: STAGE.k for the k-th of its lengths, STAGE.unroll.
  const std::string& name(size_t number) const { return names_[number]; }

 private:
  DescentProgram(space::OpenSchedule schedule, space::Program program) : schedule_(std::move(schedule)), program_(std::move(program)) {}
  void run(space::TapeCode::Kind kind, std::span<const double> x, size_t seeds, Pass& pass) const;
  /// Rows of leaves for seeds [first, first + count) of a piece.
  void leaves_of(std::span<const double> x, size_t first, size_t count, double* leaves) const;
  void name_numbers();

  space::OpenSchedule schedule_;
  space::Program program_;
  std::shared_ptr<const space::Tape> tape_;
  std::shared_ptr<const space::TapeCode> code_;
  std::vector<Variable> variables_;
  std::vector<size_t> leaf_of_;     ///< by variable
  std::vector<double> ln_prime_;    ///< by variable
  std::vector<int> numbers_;        ///< by leaf
  std::vector<std::string> names_, stores_;
  std::vector<Constraint> constraints_;
  std::vector<space::Tape::Id> outputs_;  ///< features of all stores, then constraints
  std::vector<char> fixed_;               ///< by feature: whether it is a constant
};

}  // namespace tw::cost
