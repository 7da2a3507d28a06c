// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <map>
#include <vector>

#include "engine/records/round.h"

namespace tw::widgets {

/// What the tuner felix told of one sketch in one round: how its seeds went downhill, and what became of the points on their ways.
struct Descent {
  struct Chosen {
    int seed = 0, step = 0;
    std::vector<int> at;  ///< exponents, by variable
    double score = 0;     ///< predicted, higher is better
  };
  QString sketch;
  int seeds = 0, steps = 0, drawnAnew = 0;
  QStringList variables;              ///< such as `C.3^2`: a number of the schedule and the prime whose power it is
  std::vector<int> most;              ///< of each
  std::vector<double> score, penalty;  ///< means over the seeds, by step
  std::vector<Chosen> chosen;         ///< measured in this round
  std::map<int, std::vector<std::vector<double>>> ways;  ///< by seed: exponents at every step; of some of the seeds that something was chosen of
  int64_t points = 0, different = 0, allowed = 0, legal = 0, fresh = 0;  ///< of the points on all ways: those left, step by step, when they were rounded
};

/// Whether the round tells of a descent; without reading all of it.
bool hasDescent(const records::Round& round);
/// By sketch; empty if the round tells of none, and without what cannot be read.
std::vector<Descent> descentsOf(const records::Round& round);

}  // namespace tw::widgets
