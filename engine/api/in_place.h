// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/runtime/executable.h"

namespace tw::api {

/// Layout changes stand between kernels: what they cost belongs to those whose layouts they reconcile.
struct LayoutChange {
  int call = 0;
  std::vector<int> neighbours;  ///< the calls that write what it reads and read what it writes
};
std::vector<LayoutChange> layout_changes(const runtime::Executable& e);

/// One call of a network beside the trial that its kernel comes from.
struct CallInPlace {
  double seconds = 0;    ///< in the network
  double alone_s = 0;    ///< of the trial; 0 if nothing was measured
  double layouts_s = 0;  ///< its share of the layout changes around it
  std::string reason;    ///< why both differ by more than a tenth, where that is known; else empty
};
/// Explains a profile: `seconds` and `woke` per call (runtime::CallTime), `woke` may be empty. What is known: threads that had to be woken, weights in another
/// place than in the trial, inputs that other kernels wrote (perhaps on another processor) of kernels that mostly move them, a schedule made for the layouts
/// around it, and layout changes.
std::vector<CallInPlace> calls_in_place(const runtime::Executable& e, std::span<const double> seconds, const std::vector<bool>& woke);

}  // namespace tw::api
