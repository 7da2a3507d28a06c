// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engine/space/sketch/open_schedule.h"
#include "engine/space/sketch/polytope.h"
#include "engine/space/sketch/program.h"

namespace tw::space {

/// The open numbers of a schedule as products of primes to exponents, which a search may change one by one or, as real numbers, by gradients. What divides does so for whatever whole
/// exponents: a length has one for every prime of the loop that it is split from, of any size, and those of one loop share what it has of the prime. Numbers that need not divide anything are
/// powers of two.
/// Source: Zhao et al., "Felix: optimizing tensor programs with gradient descent", ASPLOS 2024, whose code knows the primes 2, 3, 5 and 7.
class ExponentSpace {
 public:
  /// In the order of the schedule's groups, in each of its numbers, of each by ascending primes; then of the free numbers.
  struct Variable {
    int number;  ///< of the schedule (numbers_of)
    int64_t prime;
    int most;  ///< 0 to this
  };
  /// constant * product of prime ^ exponent over its variables.
  struct Number {
    int64_t constant = 1;
    std::vector<int> variables = {};
    int copies = -1;  ///< a stage whose elements it should divide, as so many are copied at once; -1: none
  };

  ExponentSpace(const OpenSchedule& open, const Target& target, const DrawOptions& options);
  /// A limit of what the numbers make together, such as the threads of a block; one with coefficients below 0 is a floor.
  void add(Halfspace limit);

  std::span<const Variable> variables() const { return variables_; }
  std::span<const Number> numbers() const { return numbers_; }
  /// What exponents may be: shares of the primes, innermost lengths, the most of free numbers, and what was added. Lengths of one loop multiply to a divisor of it just where they are whole
  /// and this holds.
  const Polytope& limits() const { return limits_; }
  /// What the origin does not meet, such as a warp's threads at least.
  std::span<const Halfspace> floors() const { return floors_; }

  /// Real exponents to begin with: points within limits, those that meet the floors before others.
  std::vector<std::vector<double>> seeds(size_t count, Rng& rng) const;
  /// Nothing where a number is no such product.
  std::optional<std::vector<int>> encode(std::span<const int64_t> numbers) const;
  /// Real exponents of about these numbers, which may be none of the space: what its primes do not make becomes a power of the first.
  std::vector<double> near(std::span<const int64_t> numbers) const;
  /// By whole powers. Exponents are from 0 to their most.
  std::vector<int64_t> decode(std::span<const int> exponents) const;
  /// Whether limits and floors hold, up to what a sum of logarithms may be off.
  bool allows(std::span<const int> exponents) const;
  /// With what is copied at once cut to what divides it; `numbers` as of decode, which stay without excess.
  void cut_copies(std::vector<int64_t>& numbers, const Evaluated& e) const;

 private:
  int add_variable(int number, int64_t prime, int most);
  /// What is left of `rest` when the powers of a number's primes that it has are counted into its exponents, up to their most.
  int64_t divide_out(const Number& number, int64_t rest, std::vector<int>& exponents) const;

  std::vector<Variable> variables_;
  std::vector<Number> numbers_;
  Polytope limits_;
  std::vector<Halfspace> floors_;
};

}  // namespace tw::space
