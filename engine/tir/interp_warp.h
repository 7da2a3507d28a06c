// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "engine/ir/eval.h"
#include "engine/tir/stmt.h"

/// What the interpreter does beside single threads: copies that run beside other work, and products by a warp.
namespace tw::tir {

inline constexpr int64_t kLanes = 32;  ///< threads of a warp

/// Groups of copies that the threads of a block have begun and not waited for, oldest first.
class CopiesUnderWay {
 public:
  /// A block of so many threads, none of which has begun any.
  void start(size_t threads) { groups_.assign(threads, {}); }
  void begin(size_t thread) { thread_ = thread, group_.emplace(); }
  void end();
  bool in_group() const { return group_.has_value(); }
  /// A copy in the group that was begun: until its thread has waited for it, the element holds nothing.
  void add(ir::EvalArray& array, size_t number, int64_t position, ir::EvalValue v);
  /// Stores what the groups of a thread copy except its `pending` newest: only now, for it may happen at any time before. `stored` after each element.
  /// False after an error: wrong_result where another store came between.
  bool wait(size_t thread, int pending, ir::EvalState& state, const std::function<void()>& stored);

 private:
  struct Copy {
    size_t array;
    int64_t position;
    ir::EvalValue value;
  };
  std::vector<std::deque<std::vector<Copy>>> groups_;  ///< of each thread
  std::optional<std::vector<Copy>> group_;             ///< that was begun
  size_t thread_ = 0;                                  ///< whose it is
};

/// Where a thread finds its sums and the tiles of a product by its warp, as positions in their arrays.
struct WarpTiles {
  int64_t sums = 0, a = 0, b = 0;
};
/// Adds to the sums that lane `lane` holds, reading what they need. `first` is what the first lane of the warp multiplies. Errors go to `state`: wrong_result
/// for other tiles than those, and for tiles that do not begin at 16 bytes or leave their array.
void multiply_as_lane(const MmaNode& n, int64_t lane, const WarpTiles& at, const WarpTiles& first, ir::EvalArray& sums, ir::EvalArray& a, ir::EvalArray& b,
                      ir::EvalState& state);

}  // namespace tw::tir
