// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "engine/base/host_array.h"
#include "engine/tir/interp_program.h"
#include "engine/tir/interp_warp.h"

namespace tw::tir::interp {

/// The threads of the running block: their coordinates, and the variables and arrays of which each has its own.
class BlockThreads {
 public:
  /// A coordinate of the running block or thread.
  struct Coordinate {
    ForKind kind;
    std::string name;
    int slot;
    int64_t extent;
  };
  struct ThreadVar {
    int slot;
    int lanes;
    std::vector<ir::EvalValue> values;  ///< `lanes` for each thread
  };
  struct ThreadArray {
    size_t array;
    size_t bytes, elements;  ///< of one thread
    std::vector<std::byte> data;
    std::vector<uint8_t> written;
  };

  /// Gives the coordinates from `blocks` on, those of the threads, their values in each thread.
  void number(size_t blocks);
  /// What runs next is run by this thread.
  void become(size_t thread, ir::EvalState& state);
  /// Such as "blockIdx.x = 2, threadIdx.x = 5".
  std::string name(size_t thread, const ir::EvalState& state) const;

  int64_t count = 0;                    ///< in a block
  std::vector<Coordinate> coordinates;  ///< of the running block, then of its threads, outermost first
  std::vector<ThreadVar> vars;          ///< those of the coordinates first
  std::vector<ThreadArray> arrays;
};

/// A function while it runs: values, arrays, threads, and where it stands when it fails.
class Machine {
 public:
  Machine(const Program& program, const Func& f, std::span<HostArray> args);

  /// Storage of an allocation, which holds nothing yet.
  void allocate(const Exec& x);
  size_t thread() const { return state.iteration - state.first_iteration; }
  void become(size_t thread) { threads.become(thread, state); }

  // Where an error happened, innermost first. All of them return false, as what fails does.
  bool fail(ErrorCode code, std::string message);
  /// Adds the statement to the error.
  bool failed(const Exec& x);
  /// Adds the turn of a loop to the place of the error.
  bool failed_at(const ForNode& loop, int64_t turn);
  /// The same with a thread.
  bool failed_in(size_t thread);
  Error error() const;

  /// The first of two accesses that conflict has happened in `x`: there is nothing more to find.
  void saw(const Exec& x);
  const std::string& seen() const { return seen_; }

  const Program& program;
  ir::EvalState state;
  BlockThreads threads;
  CopiesUnderWay copies;    ///< of the running block
  uint32_t iterations = 0;  ///< of parallel loops, and turns of threads between barriers, so far

 private:
  /// Memory of an allocation or marks of an output.
  struct Memory {
    std::vector<std::byte> data;
    std::vector<uint8_t> written;
    std::vector<uint32_t> touched;
  };
  void mark_unwritten(size_t array, size_t elements);
  void put_before_place(const std::string& text);

  std::vector<Memory> memory_;  ///< by array number
  std::string place_;
  std::string seen_;
};

}  // namespace tw::tir::interp
