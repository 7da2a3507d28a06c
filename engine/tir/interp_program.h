// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "engine/ir/eval.h"
#include "engine/tir/stmt.h"

namespace tw::tir::interp {

/// A statement with everything looked up: slots for variables, numbers for arrays, compiled expressions.
struct Exec {
  const StmtNode* stmt = nullptr;
  StmtKind kind = StmtKind::seq;
  bool is_float = false;
  int lanes = 1;
  int slot = 0;   ///< for, let
  int array = 0;  ///< store, alloc
  /// for: minimum, extent; store: position, value; let: value; if: condition; all_reduce: position, value before
  /// mma: position of the sums, of the operands
  const ir::EvalCode *a = nullptr, *b = nullptr, *c = nullptr;
  int other = 0, another = 0;     ///< mma: arrays of the operands
  bool meets = false;             ///< a barrier, a reduction by threads or a product by a warp stands in it
  bool shares = false;            ///< a store to a shared array stands in it
  std::vector<const Exec*> body;  ///< if: then, else
};

inline constexpr int64_t kMaxBytes = int64_t{16} << 30;

/// A function that is ready to run. Its parameters are arrays 0, 1, ...
class Program {
 public:
  explicit Program(const Func& f);

  const Exec& root() const { return *root_; }
  ir::EvalState make_state() const { return compiler_.make_state(); }
  int64_t bytes() const { return bytes_; }                 ///< of all allocations, or more than kMaxBytes
  int lanes() const { return lanes_; }                     ///< of the widest store or condition
  bool has_concurrent() const { return has_concurrent_; }  ///< parallel loops or threads

 private:
  const Exec* compile(const Stmt& s);

  ir::EvalCompiler compiler_;
  std::deque<Exec> execs_;
  const Exec* root_ = nullptr;
  int64_t bytes_ = 0;
  int lanes_ = 1;
  bool has_concurrent_ = false;
};

}  // namespace tw::tir::interp
