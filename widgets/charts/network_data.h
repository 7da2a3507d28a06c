// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "engine/records/round.h"

/// From the rounds of a session to the curve of its network's estimated time. No Qt.
namespace tw::widgets {

/// Trials of all tasks; seconds of the session's work, pauses left out; of these the seconds of measuring.
enum class NetworkX { trials, elapsed, measured };

double networkX(const records::Round& round, NetworkX x);

struct NetworkPoint {
  double x = 0, seconds = 0;
  int round = -1;  ///< index into the rounds
};
/// From the first round after which every task has a time: one point where the estimate changes, and one at the last round.
std::vector<NetworkPoint> networkCurve(const std::vector<records::Round>& rounds, NetworkX x);

/// The first round with an estimate of at most `target` seconds; null if there is none.
const records::Round* firstWithin(const std::vector<records::Round>& rounds, double target);

/// Adds rounds to those that are known, ascending by number; one of the same number is replaced, as a round that was cut off is by the whole one.
void putRounds(std::vector<records::Round>& known, const std::vector<records::Round>& news);

}  // namespace tw::widgets
