// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/tir/stmt.h"

namespace tw::cost {

/// How one access to an array behaves in a loop around it.
struct Touch {
  std::string array;   ///< its name
  int store = -1;      ///< the statement that it belongs to, in their order; -1: none, as in a branch's condition
  bool written = false;
  double bytes = 0;    ///< of an element
  double stride = 0;  ///< elements that one step of the loop moves it; 1 if the index is no multiple of the loop variable, 0 if it does not use it
  double count = 1;   ///< distinct elements per run of the loop
  double reuse = 1;   ///< how often each of them is used
};

/// One loop in order of first appearance.
struct LoopTouches {
  tir::ForKind kind = tir::ForKind::serial;
  int level = 0;                         ///< loops around it
  double extent = 0;                     ///< -1 if it is no constant
  double topdown = 1;                    ///< iterations of the nest from the outside up to and with this loop
  double bottomup = 0;                   ///< the greatest count x reuse of an access below it
  double adds = 0, muls = 0, divs = 0;   ///< floating-point operations that stand directly in this loop
  std::map<std::string, Touch> touches;  ///< by array and number of the access
};

/// One statement that stores.
struct StoreOps {
  double adds = 0, muls = 0, divs = 0, others = 0;  ///< operations on floats of one run of it
};

struct Touches {
  std::vector<LoopTouches> loops;
  std::vector<StoreOps> stores;
};

/// The loops and stores of a function as it was lowered, before passes. Indices are flattened to one per access.
/// Source: the loop context features of Chen et al., "Learning to optimize tensor programs", NeurIPS 2018, with strides from the affine form of the index.
Touches touches(const tir::Func& lowered);
/// Its loops alone.
std::vector<LoopTouches> loop_touches(const tir::Func& lowered);

inline constexpr int kLoopKinds = 11;
/// Place of a loop's kind among AutoTVM's: blocks x, y, z, threads x, y, z, unrolled, vectorised, parallel, serial, virtual thread.
int loop_kind_place(tir::ForKind kind);
/// sign(x) log2(|x| + 1)
float log_scaled(double x);

}  // namespace tw::cost
