// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "engine/base/expected.h"
#include "engine/base/paired_ratio.h"
#include "engine/base/stop_token.h"

namespace tw::api {

/// Which of the kernels that won alone a variant of the network takes, by their numbers; the others run with their default schedules.
using Variant = std::vector<bool>;

/// What one process measured of one variant.
struct VariantRuns {
  PartTimes network;               ///< seconds of what adds up to a run, in every round
  std::vector<PartTimes> kernels;  ///< per kernel: its calls, with the changes of layout around them; no parts if the network has no such kernel
  std::string wrong;               ///< why its results are wrong; empty if they are right
};

/// Runs variants of one network against each other.
class NetworkContest {
 public:
  virtual ~NetworkContest() = default;
  /// Variants by turns in one fresh process.
  virtual Expected<std::vector<VariantRuns>> launch(const std::vector<Variant>& variants, uint64_t seed) = 0;
};

struct SelectionOptions {
  int launches = 6;     ///< processes of a comparison; twice as many more follow while it is in doubt
  int confirming = 9;   ///< processes of the last comparison, whose outcome is what is reported
  double time_s = 120;  ///< what is still in doubt then is not taken; the last comparison comes after it
  uint64_t seed = 1;
};

/// Two variants against each other.
struct Comparison {
  PairedRatio network;               ///< second ÷ first
  std::vector<PairedRatio> kernels;  ///< the same of each kernel's time in its place
  double first_s = 0, second_s = 0;  ///< of the network: median over the processes
  std::string wrong;                 ///< why the second's results are wrong
  int launches = 0;                  ///< processes that it took
};

/// What became of a kernel that won alone.
enum class Standing : uint8_t {
  taken,
  slower_in_place,   ///< surely slower than the default schedule where it stands in the network
  no_gain_in_place,  ///< not surely slower, but not faster either
  no_gain_together,  ///< seems faster in its place, which neither its own time there nor the network's, with it or its group, makes sure
  wrong_in_place,    ///< the network's results are wrong with it
};

struct Selection {
  Variant taken;
  std::vector<Standing> standings;   ///< per kernel
  std::vector<PairedRatio> kernels;  ///< per kernel, in its place: winner ÷ default
  /// The network with what is taken against the one with none of it, in processes of which the choice knew nothing; without anything taken, what was last tried.
  PairedRatio network;
  double default_s = 0, tuned_s = 0;  ///< of the network; equal if nothing is taken
  int launches = 0;
};

/// Chooses the kernels with which the network is faster than without them. First the network with all winners runs against the one without: what seems no faster
/// in its place goes. If the rest makes the network surely faster together, it is taken as one group, so that gains too small to be seen one by one count; so is
/// a group of which each is surely faster in its place, unless the network is surely slower with it: a gain may be too small to be seen in the whole. If neither
/// holds, its halves are tried, those that gain most in place first, each on top of what is taken already, down to single kernels. In the end what is taken runs
/// against the default network once more, in fresh processes, and stays only if it holds there too: who is chosen for a good time was lucky in part.
/// `progress` is told what is compared. Errors: the contest's; cancelled.
Expected<Selection> select_in_network(size_t kernels, NetworkContest& contest, const SelectionOptions& options,
                                      const std::function<void(const std::string&)>& progress, StopToken stop);

/// One of these comparisons by itself: nothing is chosen. More processes follow while it is not sure which of both is faster, as long as options.time_s allows.
/// Errors: the contest's; cancelled.
Expected<Comparison> compare_in_network(const Variant& first, const Variant& second, NetworkContest& contest, const SelectionOptions& options, StopToken stop);

}  // namespace tw::api
