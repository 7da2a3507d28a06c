// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/simulate/launch_facts.h"
#include "engine/simulate/warp_path.h"

namespace tw::simulate {

/// What a thread accesses at once, or in pieces of the same size.
struct Place {
  ir::Expr base;  ///< in elements
  int bytes;      ///< of each thread
  int pieces;     ///< separate accesses of that size
};
Place place_of(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices, DType t);

/// How many different bytes of each array in the GPU's memory a block, and all blocks, touch.
class ArraysTouched {
 public:
  void add(const ir::Buffer& buffer, const Place& place, const VarSet& used, const WarpPath& path);
  std::vector<ArrayTraffic> traffic() const;

 private:
  struct Touched {
    ir::Buffer buffer;
    double block_elements = 0, elements = 0;  ///< summed over the accesses
    int64_t block_low = 0, block_high = -1, low = 0, high = -1;
    bool depends[3] = {};
  };
  std::vector<Touched> touched_;
};

}  // namespace tw::simulate
