// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/ir/expr.h"

/// What can be said about index expressions while code is emitted.
namespace tw::codegen {

/// All values from lo to hi, both included.
struct Interval {
  int64_t lo = 0, hi = 0;
};
/// Variables whose range is known.
using Ranges = std::unordered_map<const ir::VarNode*, Interval>;

/// Bounds of an int64 expression (over all lanes), or nothing where none are known; never too tight.
std::optional<Interval> interval_of(const ir::Expr& e, const Ranges& ranges);

/// Whether an int64 expression, in all of its lanes, certainly fits 32 bits: made of such constants and of what was stored in 32 bits, limited or counted from
/// the end of an array.
bool fits_half(const ir::Expr& e);

/// Whether a comparison of int64 expressions always holds (in all lanes) or never does; nothing if the ranges leave it open.
std::optional<bool> decided(const ir::Expr& cond, const Ranges& ranges);
/// Makes the range of a variable that cond compares with a constant as narrow as cond (or, if not `holds`, its opposite) implies.
void narrow(Ranges& ranges, const ir::Expr& cond, bool holds);

/// A number that divides every value of e; 0 for the constant 0.
int64_t known_divisor(const ir::Expr& e);

/// base, base + stride, base + 2 stride, ...
struct Ramp {
  ir::Expr base, stride;  ///< scalars
};
/// A vector expression as a ramp, where sums and products of ramps and broadcasts show it to be one.
std::optional<Ramp> as_ramp(const ir::Expr& e);

/// A vector index as one scalar and a constant distance from it for each lane.
struct LaneOffsets {
  ir::Expr base;
  std::vector<int64_t> offsets;
};
/// Those of sums and constant multiples of ramps and broadcasts, and of their quotients and remainders by a constant that divides the base,
/// or where no lane reaches the next multiple of what divides both.
std::optional<LaneOffsets> lane_offsets(const ir::Expr& e);
/// Into how long pieces such a vector falls, each of neighbours or of one element again and again: the longest power of two, above 1 and below all lanes; or 0.
int piece_length(const std::vector<int64_t>& offsets);

/// coefficient * atom + ... + constant, where no atom is a sum or a multiple.
struct LinearIndex {
  struct Term {
    ir::Expr atom;
    int64_t coefficient;
  };
  std::vector<Term> terms;  ///< in order of first appearance, coefficients not 0
  int64_t constant = 0;
};
/// A scalar int64 expression with products distributed over sums.
LinearIndex linear_index(const ir::Expr& e);

/// Equal for two places in one array that are a constant distance apart: the array, the atoms and their coefficients. Nothing where an atom reads memory.
std::optional<std::string> key_of(const ir::BufferNode* buffer, const LinearIndex& at);

/// Row-major position in elements; the only index of a flat buffer stays as it is.
ir::Expr flat_index(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices);

}  // namespace tw::codegen
