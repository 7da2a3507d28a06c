// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "engine/base/expected.h"

namespace tw::tune {

/// What each of several changes contributes to the change of a time from a first thing to a second.
struct DifferenceShares {
  struct Share {
    double factor = 1;           ///< by how much the change divides the time: geometric mean over the orders that were walked; all together they are first over second
    double least = 1, most = 1;  ///< the same where it helps least and most, among the other changes that were made before it
  };
  double first_s = 0, second_s = 0;
  std::vector<Share> shares;                        ///< one a change
  double orders = 0, all_orders = 0;                ///< of changing one after the other: those with a time at every stop, and how many there are
  std::vector<std::pair<uint32_t, Error>> missing;  ///< stops without a time, as sets of changes made (a bit each), and why
};

/// How many points difference_shares() asks for, the first and the last included.
size_t difference_stops(size_t changes);

/// The time with a set of changes made: a bit each.
using TimeOfChanges = std::function<Expected<double>(uint32_t changes)>;
/// Changes of which every subset is asked for; of more only those on two orders, from first to last and from last to first.
inline constexpr size_t kAllSubsets = 8;
inline constexpr size_t kMostChanges = 30;

/// Walks from the first to the second by one change at a time, in every order that has times at all its stops. With all of them the logarithms of the factors are
/// Shapley values: no order is preferred, and what two changes only do together is shared between them.
/// Errors: why the first or the second has no time; not_found if every order has a stop without one; invalid_argument for no change or more than kMostChanges.
/// Source: Shapley, A value for n-person games, 1953; over orders with all stops only: Faigle and Kern, The Shapley value for games under precedence
/// constraints, Int. J. Game Theory 21, 1992.
Expected<DifferenceShares> difference_shares(size_t changes, const TimeOfChanges& time_of);

}  // namespace tw::tune
