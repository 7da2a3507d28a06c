// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

/// Formulas that are written down once and worked out for many points, with derivatives by all that they start from.
namespace tw::space {

/// Formulas over the logarithms of some positive integers, each part of them once. What can be said of all points at which the numbers are what they may be is
/// said while a formula is written down: a part that is the same everywhere becomes a constant, and of two that are compared the one that is always smaller stays.
/// Sizes are products, so they are written as their logarithms, whose sums have one form; exp() and log() of the same part are each other's inverse.
class Tape {
 public:
  using Id = int32_t;
  /// The logarithm of a number from 1 on.
  struct Leaf {
    double most;      ///< that it may be
    int group = -1;   ///< of which it is part
  };
  struct Part {
    Id of;
    double times = 1;
    friend bool operator==(const Part&, const Part&) = default;
  };

  /// What log() takes for smaller numbers too.
  static constexpr double kSmallest = 1e-3;
  /// From where on a number and its successor have one logarithm.
  static constexpr double kFar = 36;

  /// `groups`: logarithms of what the product of each group's numbers divides.
  Tape(std::vector<Leaf> leaves, std::vector<double> groups);

  Id constant(double c);
  Id leaf(size_t k);
  Id sum(std::vector<Part> parts, double rest = 0);
  Id plus(Id a, Id b) { return sum({{a}, {b}}); }
  Id minus(Id a, Id b) { return sum({{a}, {b, -1}}); }
  Id product(Id a, Id b);
  Id least(Id a, Id b);
  Id most(Id a, Id b);
  Id exp(Id a);
  /// Of what is kSmallest at least: sizes are, wherever numbers may be what they are.
  Id log(Id a);
  /// ln(e^a + 1).
  Id log_next(Id a);
  /// The logarithm of e^a rounded up to an integer. Smooth: at least 0, no rounding.
  Id log_ceil(Id a);
  /// Whether the integer e^a is more than 1. Smooth: a step from 1 to 2.
  Id above_one(Id a);
  /// Whether a is 0. Smooth: less the further it is, none from ln 2 on.
  Id zero(Id a);

  // Of truths, as numbers from 0 to 1.
  Id negation(Id a) { return sum({{a, -1}}, 1); }
  Id both(Id a, Id b) { return product(a, b); }
  Id either(Id a, Id b) { return negation(product(negation(a), negation(b))); }

  bool is_constant(Id a, double c) const;
  double lowest(Id a) const { return node(a).low; }
  double highest(Id a) const { return node(a).high; }
  /// Whether it is a sum of leaves and a constant; then that sum, by leaf, and the constant at the end.
  bool linear(Id a, std::vector<double>& out) const;
  /// As text of so many bytes at most, then three dots: `names` of the numbers whose logarithms the leaves are.
  std::string text(Id a, std::span<const std::string> names, size_t most = 400) const;

  enum class Op : uint8_t { constant, leaf, sum, product, least, most, exp, log, log_next, log_ceil, above_one, zero };
  struct Node {
    Op op;
    Id a = -1, b = -1;          ///< of a leaf its number
    double rest = 0;            ///< constant, and that of a sum
    std::vector<Part> parts = {};  ///< of a sum
    double low = 0, high = 0;   ///< bounds wherever numbers may be what they are
  };
  const Node& node(Id a) const { return nodes_[static_cast<size_t>(a)]; }
  size_t leaves() const { return leaves_.size(); }
  size_t size() const { return nodes_.size(); }

 private:
  Id add(Node n);
  void write(Id a, std::span<const std::string> names, size_t most, std::string& out) const;
  /// Whether e^a is an integer wherever the numbers are.
  bool whole(Id a) const;
  void bound(Node& n) const;

  std::vector<Leaf> leaves_;
  std::vector<double> groups_;
  std::vector<Node> nodes_;
  std::unordered_multimap<uint64_t, Id> known_;  ///< by hash
};

/// Some formulas of a tape, as a list of instructions over points that are worked out side by side.
class TapeCode {
 public:
  /// Points at a time: a row has as many numbers, one for each.
  static constexpr size_t kPoints = 16;

  TapeCode(const Tape& tape, std::span<const Tape::Id> outputs);

  size_t rows() const { return code_.size(); }
  /// The row of an output.
  size_t row(size_t output) const { return outputs_[output]; }
  enum class Kind : uint8_t { smooth, exact };  ///< with steps and rounding as they are
  /// Fills rows() rows from those of the leaves.
  void forward(Kind kind, std::span<const double> leaves, std::span<double> values) const;
  /// From derivatives by outputs, which stand in their rows of `adjoints` beside zeros, to those by the leaves. `values` are of a smooth forward().
  void backward(std::span<const double> values, std::span<double> adjoints, std::span<double> leaves) const;

  struct Instruction {
    Tape::Op op;
    uint32_t a = 0, b = 0;     ///< rows; of a leaf its number; of a sum where its parts begin, and how many
    double rest = 0;
  };
  struct Part {
    uint32_t row;
    double times;
  };

 private:
  void exactly(const double* leaves, double* values) const;

  std::vector<Instruction> code_;
  std::vector<Part> parts_;
  std::vector<size_t> outputs_;
};

}  // namespace tw::space
