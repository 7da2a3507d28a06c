// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/te/dag.h"
#include "engine/tir/equal.h"
#include "engine/tir/parse.h"
#include "engine/tir/print.h"

/// What the parsers must give back: printed, read, and printed again, a value is equal and its text the same.
namespace tw::testing {

/// Empty, or what went wrong with the text.
inline std::string round_trip_problem(const tir::Func& f) {
  const std::string text = tir::print(f);
  const auto back = tir::parse_func(text);
  if (!back) return back.error().text() + "\n" + text;
  if (!tir::structural_equal(f, *back)) return "not equal after reading\n" + text;
  const std::string again = tir::print(*back);
  return again == text ? "" : "printed differently after reading\n" + text + again;
}

inline std::string round_trip_problem(const te::Dag& dag) {
  const std::string text = te::print(dag);
  const auto back = te::parse_dag(text);
  if (!back) return back.error().text() + "\n" + text;
  if (!te::structural_equal(dag, **back) || te::structural_key(dag) != te::structural_key(**back)) return "not equal after reading\n" + text;
  const std::string again = te::print(**back);
  return again == text ? "" : "printed differently after reading\n" + text + again;
}

}  // namespace tw::testing
