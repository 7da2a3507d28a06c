// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <variant>

#include "engine/te/dag.h"

/// The text of a computation as a person writes it. Lines are for the eye, `#` begins a comment.
///
///     param M = 512                                   # integers, and types as in `param T = float32`
///     param H = M // 2                                # follows the parameters before it
///     A: float32[M, 64] = placeholder()               # also placeholder(activation); placeholder(constant) never changes between calls
///     B: float32[M] = sum(i, k=64) "tag" {"attribute": [1]}
///         A[i, k] * A[i, k]
///     outputs(B)
///     schedule                                        # what follows is read by space/own: knobs and schedule steps
///
/// Extents are integers or expressions over the parameters before them; bodies are expressions of ir/print.h, where a parameter may stand for an index or a
/// type. Everything is bounded: 4,096 ops, 64 parameters, and 64 KiB for a text with a schedule.
namespace tw::te {

struct Param {
  std::string name;
  std::variant<int64_t, DType> value;
  size_t begin = 0, end = 0;  ///< of the value in the text
  bool derived = false;       ///< an expression over the parameters before it, which follows them
};

struct Source {
  DagPtr dag;  ///< its `source` is the text if that has a schedule
  std::vector<Param> params;
  std::vector<size_t> places;           ///< where in the text each op begins
  size_t schedule = std::string::npos;  ///< where in the text the schedule begins, after its keyword; npos: it has none

  bool has_schedule() const { return schedule != std::string::npos; }
};

/// Errors: parse_error with line and column (ir::place_of).
Expected<Source> parse_source(std::string_view text);

/// The text with other values of its parameters: `args` for the integers in their order, `dtype` for the first type. Fewer leave the rest as it is.
/// Errors: invalid_argument for more than there are; those of parse_source.
Expected<std::string> with_args(std::string_view text, std::span<const int64_t> args, const std::optional<DType>& dtype);

/// The comment that a text begins with, without its marks: what it says of itself.
std::string leading_comment(std::string_view text);

}  // namespace tw::te
