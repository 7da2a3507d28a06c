// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "engine/schedule/loops.h"

/// How stages read memory: what schedules by rule are decided on.
namespace tw::space::rules {

/// One read, by its distance in memory for a step along each of some axes.
struct Read {
  const ir::BufferNode* buffer;
  std::vector<std::optional<int64_t>> strides;  ///< in elements; nothing where the address is no linear function of the axis
  ir::Expr address;                             ///< in elements, simplified
};
/// Reads of an expression, with strides along `axes`. Arrays count as row-major.
std::vector<Read> reads_of(const ir::Expr& body, const std::vector<te::Axis>& axes);

/// Whether the expression uses the variable outside of the indices of its reads.
bool computes_with(const ir::Expr& body, const ir::VarNode* var);

/// Elements of a row that is worth being read whole where it is looked up, at least: fewer are fetched one by one as fast.
inline constexpr int64_t kFewestInRow = 4;
/// Whether an element is read at a place that is read itself.
bool worked_out(const ir::LoadNode& load);
/// Whether an element is read where a table says by its place along an axis: each lane of a vector along it would be fetched by itself.
bool looked_up(const ir::LoadNode& load, const ir::Var& axis);
/// Whether an expression reads any such element.
bool looks_up(const ir::Expr& body, const ir::Var& axis);

/// First axis of the longest run of last axes that may be walked as one: each read steps through them as through one dimension, and nothing is computed from
/// their positions. The last one with more than one element if it is left alone, those of one element behind it being walked along; 0 for no axes.
size_t joined_from(const ir::Expr& body, const std::vector<te::Axis>& axes);

/// The run of neighbours along an axis that reads do not take apart: where places come from the axis divided by a number and what is left of it, that number.
/// Vectors within such runs need no division for each element. Runs that do not begin with the axis are of use while several of them fill a vector of `lanes`:
/// what lies in which is known there all the same.
int64_t unbroken_run(const ir::Expr& body, const std::vector<te::Axis>& axes, const te::Axis& along, int64_t lanes);

/// Product of all extents of an op: how often its body is computed.
int64_t iterations(const te::Op& op);

}  // namespace tw::space::rules
