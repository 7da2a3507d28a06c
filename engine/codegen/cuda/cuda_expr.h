// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "engine/codegen/cuda/unrolled_text.h"
#include "engine/codegen/index.h"
#include "engine/ir/print.h"

namespace tw::codegen {

/// The type of a value in a CUDA text; 16-bit floats are float.
std::string cuda_type(DType t, bool wide_indices);
/// The type of an array's elements.
std::string cuda_storage_type(DType t);

/// The text of these helper functions.
std::string cuda_helpers(const std::set<std::string>& names);

/// Expressions as CUDA C++, lane by lane.
class CudaExprPrinter {
 public:
  /// `helpers` collects the names of the functions that texts call beside those of CUDA.
  CudaExprPrinter(ir::Names& names, const Ranges& ranges, std::set<std::string>& helpers) : names_(names), ranges_(ranges), helpers_(helpers) {}

  bool wide_indices = false;  ///< long long instead of int
  UnrolledText unrolled;      ///< loops whose variables are numbers here

  /// One lane of an expression; fits where an operator that binds as tightly as `level` (see cuda_expr.cpp) takes it.
  std::string text(const ir::Expr& e, int lane = 0, int level = 0);
  /// The place of an element in its array.
  std::string place(const ir::Buffer& b, const std::vector<ir::Expr>& indices, int lane);
  /// A value as its array holds it: registers hold 16-bit floats as float.
  std::string stored(const ir::Buffer& b, const std::string& value);
  /// Lane values of an expression that were fetched before.
  void fetched(const ir::ExprNode* e, std::vector<std::string> lanes) { fetched_[e] = std::move(lanes); }
  void forget_fetched() { fetched_.clear(); }

  std::string helper(const char* name);

 private:
  struct Piece {
    std::string text;
    int level;
  };
  Piece print(const ir::Expr& e, int lane);
  std::string position(const ir::Expr& flat, int lane);
  Piece constant(const ir::FloatImmNode& n) const;
  Piece binary(const ir::BinaryNode& n, int lane);
  Piece quotient(const ir::BinaryNode& n, int lane);
  Piece cast(const ir::CastNode& n, int lane);
  Piece call(const ir::CallNode& n, int lane);

  ir::Names& names_;
  const Ranges& ranges_;
  std::set<std::string>& helpers_;
  std::unordered_map<const ir::ExprNode*, std::vector<std::string>> fetched_;
};

}  // namespace tw::codegen
