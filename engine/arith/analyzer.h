// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/arith/linear.h"
#include "engine/ir/expr.h"

namespace tw::arith {

/// Inclusive bounds of an integer expression; a missing side is unbounded.
struct Bounds {
  static constexpr int64_t kNegInf = INT64_MIN, kPosInf = INT64_MAX;
  int64_t lo = kNegInf, hi = kPosInf;
  bool finite() const { return lo != kNegInf && hi != kPosInf; }
};

/// Knows the ranges of variables and conditions that hold, and simplifies index expressions under them.
/// Works on int64 index arithmetic and on booleans; other expressions are only searched for such parts.
class Analyzer {
 public:
  /// var is in [lo, hi].
  void bind(const ir::VarNode* var, Bounds range) {
    ranges_[var] = range;
    limits_.clear();
  }
  /// Adds what a true condition says (conjunctions of linear comparisons); returns a mark for pop_facts.
  size_t push_fact(const ir::Expr& cond);
  void pop_facts(size_t mark) {
    facts_.resize(mark);
    limits_.clear();
  }

  Bounds bounds(const ir::Expr& e) const;
  Bounds bounds(const Linear& l) const;
  /// An equal expression in canonical form; the same handle if it was canonical already. Idempotent.
  ir::Expr simplify(const ir::Expr& e) const;
  /// What a condition says, if it is known to say the same always, and in all lanes.
  std::optional<bool> decided(const ir::Expr& cond) const;
  /// True if the condition certainly holds; false means "not known".
  bool prove(const ir::Expr& cond) const;
  /// The sum-of-products form of an index expression, with every atom simplified.
  Linear linear(const ir::Expr& e) const;
  /// The same with k*c*(x // c) + k*(x % c) joined to k*x, as taking a fused loop apart and flattening it again leaves it.
  Linear joined(const ir::Expr& e) const;

 private:
  Linear new_linear(const ir::Expr& e) const;
  Bounds atom_bounds(const ir::Expr& atom) const;
  bool proves_non_positive(const Linear& l) const;
  void join_div_mod(Linear& l) const;
  /// Whether two divisions divide equal sums, in whatever order, by one number.
  bool same_quotient(const ir::Expr& a, const ir::Expr& b) const;
  /// x = size * whole + rest, where size divides c and 0 <= rest < size, for the largest size between 1 and c that does; nothing if none does.
  struct Parts {
    int64_t size = 1;
    Linear whole, rest;
  };
  std::optional<Parts> parts_of(const Linear& x, int64_t c) const;
  /// x == c * whole + rest with 0 <= rest < c, where coefficients are near multiples of c: 63 * i + j == 64 * i + (j - i), as rows are that padding shifts.
  std::optional<Parts> nearly_whole(const Linear& x, int64_t c) const;
  Linear div_linear(Linear x, int64_t c) const;
  Linear mod_linear(Linear x, int64_t c) const;
  std::optional<ir::Expr> tightened(const Linear& non_positive) const;
  ir::Expr simplify_comparison(const ir::BinaryNode& n, const ir::Expr& e) const;
  /// What a comparison of vectors says, if it is known to say the same in all lanes.
  std::optional<bool> same_in_all_lanes(const ir::BinaryNode& n) const;
  ir::Expr simplify_min_max(const ir::BinaryNode& n, const ir::Expr& e) const;

  std::unordered_map<const ir::VarNode*, Bounds> ranges_;
  std::vector<Linear> facts_;  ///< each is known to be <= 0
  mutable bool consulting_facts_ = false;
  mutable std::unordered_map<const void*, std::pair<ir::Expr, Linear>> limits_;  ///< minima and maxima by node, as known ranges and facts have them
};

}  // namespace tw::arith
