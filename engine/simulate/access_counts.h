// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/simulate/access.h"
#include "engine/simulate/array_traffic.h"
#include "engine/simulate/machine_code.h"

namespace tw::simulate {

/// Counts what a warp reads and writes in shared memory and in the GPU's: instructions, and what they cost the memories. As a compiler does, it moves accesses
/// out of loops, drops what was read already, and joins neighbours.
class AccessCounts {
 public:
  AccessCounts(WarpPath& path, const tir::Stmt& program, LaunchFacts& facts, MachineCode& code);

  /// Another warp begins.
  void enter();
  /// With so many special functions on each element that is fetched.
  void load(const ir::LoadNode& l, double special = 0);
  void store(const tir::StoreNode& n);
  /// What an index reads.
  void loads_in(const ir::Expr& index);
  /// Counts the accesses of the warp so far. Those whose elements lie together in every thread become one of up to 16 bytes, where they are aligned.
  void count();

  const ArraysTouched& arrays() const { return arrays_; }

 private:
  /// Elements from one turn of a loop to the next.
  using Steps = std::vector<std::pair<const ir::VarNode*, int64_t>>;
  struct Known {
    Place place;
    Steps steps;
  };
  struct Pending {
    const ir::BufferNode* buffer;
    size_t number;  ///< of the buffer, by first access: sums of counts must not depend on where buffers lie in this process
    uint64_t path;
    bool is_store;
    WarpAccess warp;
    double times;
    bool hoisted;
    double copies;  ///< in the machine code
    bool copied;    ///< to shared memory without an instruction of its own
    const tir::StmtNode* statement;  ///< that does it first
  };
  void access(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices, DType t, const tir::StoreNode* store, double special);
  const Known& known(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices, DType t, const tir::StoreNode* store);
  double join_turns(const Known& known, int element, WarpAccess& warp) const;
  static bool continues(const Pending& a, const Pending& b);
  void count(const Pending& p);

  WarpPath& path_;
  LaunchFacts& facts_;
  MachineCode& code_;
  ArraysTouched arrays_;
  int ahead_;                                     ///< groups of copies under way at most
  std::unordered_map<const void*, Known> known_;  ///< by statement of a store or last index of a load
  std::unordered_map<const ir::BufferNode*, size_t> numbers_;
  std::vector<Pending> pending_;                ///< of the warp so far
  std::unordered_set<uint64_t> seen_, rounds_;  ///< accesses and rounds of loads of the warp so far
};

}  // namespace tw::simulate
