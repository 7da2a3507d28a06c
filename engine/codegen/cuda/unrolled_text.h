// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/codegen/cuda/cuda_source.h"

/// Loops written out in a text. Their bodies are printed once, with gaps for what depends on the loops' variables, and the gaps filled in for every turn: a
/// thousand statements cost little more than one.
namespace tw::codegen {

class UnrolledText {
 public:
  /// Inside a loop that is being written out.
  bool active() const { return !open_.empty(); }
  /// A loop whose turns differ in `v`, which runs from min on. With `scope`, for bodies that declare something, each turn has braces of its own.
  void begin(const ir::VarNode* v, int64_t min, int64_t extent, bool scope, std::string indent);
  void line(std::string text, const tir::StmtNode* stmt, tir::Origin origin);
  /// The end of the innermost loop; that of the outermost writes all turns to `out`.
  void end(CudaSource& out);

  /// Whether this is the variable of a loop that is being written out.
  bool has(const ir::VarNode* v) const;
  /// A gap for a sum of such variables times coefficients and a constant. With `follows` it is added to what stands before it.
  std::string gap(std::vector<std::pair<const ir::VarNode*, int64_t>> sum, int64_t constant, bool follows);

 private:
  struct Loop {
    const ir::VarNode* var;
    int64_t min, extent, turn;
    bool scope;
    std::string indent;
    size_t end;  ///< item that closes it
  };
  struct Gap {
    std::vector<std::pair<size_t, int64_t>> sum;  ///< loops and coefficients
    int64_t constant;
    bool follows;
  };
  struct Piece {
    std::string text;
    int gap;  ///< after it; -1: none
  };
  struct Item {  ///< a line, or the begin or end of a loop
    std::vector<Piece> pieces;
    const tir::StmtNode* stmt = nullptr;
    tir::Origin origin;
    int begins = -1;
    bool ends = false;
  };
  void write(size_t from, size_t to, CudaSource& out);

  std::vector<Item> items_;
  std::vector<Loop> loops_;
  std::vector<Gap> gaps_;
  std::vector<size_t> open_;  ///< loops, outermost first
};

}  // namespace tw::codegen
