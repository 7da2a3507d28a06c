// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/ir/eval.h"

namespace tw::ir {

/// Operations of compiled expressions. `f_` ones work on doubles, `u_` ones on unsigned 64-bit numbers.
enum class EvalOp : uint8_t {
  constant,
  var,
  lane_var,
  ramp,
  select,
  load,
  position,
  flat_position,
  affine,
  add,
  sub,
  mul,
  div,
  floor_div,
  floor_mod,
  min,
  max,
  eq,
  ne,
  lt,
  le,
  and_,
  or_,
  eager_and,
  eager_or,
  bit_and,
  bit_or,
  bit_xor,
  shl,
  shr,
  not_,
  abs,
  wrap,
  u_div,
  u_mod,
  u_min,
  u_max,
  u_lt,
  u_le,
  u_shr,
  f_constant,
  f_var,
  f_lane_var,
  f_select,
  f_load,
  f_add,
  f_sub,
  f_mul,
  f_div,
  f_floor_div,
  f_floor_mod,
  f_min,
  f_max,
  f_eq,
  f_ne,
  f_lt,
  f_le,
  f_is_nan,
  f_is_inf,
  f_bits,
  f_to_int,
  f_to_bool,
  from_int,
  from_bits,
  f_round,
  f_call,
};

struct EvalCode {
  EvalOp op = EvalOp::constant;
  DType type = kIndex;  ///< of the result, or of the operand where that decides; one lane
  Intrinsic function = Intrinsic::exp;
  bool may_fail = false;        ///< reads an array or divides, itself or below
  const EvalCode* a = nullptr;  ///< operands; condition, true, false for selects; the position for loads
  const EvalCode* b = nullptr;
  const EvalCode* c = nullptr;
  EvalValue value{};                           ///< constant; slot number; array number
  std::vector<std::pair<int, int64_t>> terms;  ///< affine: slot and coefficient; value.i is the array, `offset` the constant
  int64_t offset = 0, lane_step = 0;           ///< affine
  std::vector<const EvalCode*> kids;           ///< position: one index a dimension
  std::vector<int64_t> dims;                   ///< position: their extents
  std::string text;                            ///< position: the access as printed, for errors
};

}  // namespace tw::ir
