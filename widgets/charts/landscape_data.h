// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <stop_token>
#include <vector>

#include "widgets/tuning/knob_text.h"
#include "widgets/tuning/trial_store.h"

/// What the trials of one space look like over its knobs. No Qt widgets; may run in any thread.
namespace tw::widgets {

/// Trials of one space by their choices.
struct PointSet {
  std::string name;                                 ///< of the space
  std::shared_ptr<const space::ConfigSpace> space;  ///< null if it is not known
  /// The knobs: those of the space, with values behind its own that only trials have; of a space that is not known those that trials name, with the values that
  /// they have, in the order of numbers or texts. What a trial does not name is an empty value.
  std::vector<space::Knob> axes;
  double flops = 0;
  std::vector<int> row;  ///< of the store
  std::vector<int64_t> number, index;  ///< the latter -1 for what has no place in the space
  std::vector<float> seconds;  ///< infinity for failures
  std::vector<records::Status> status;
  std::vector<uint16_t> positions;  ///< point after point: the position of each knob
  size_t size() const { return row.size(); }
  size_t knobs() const { return axes.size(); }
  int position(size_t point, size_t knob) const { return positions[point * knobs() + knob]; }
  bool ok(size_t point) const { return status[point] == records::Status::ok; }
};
/// Choices are read by the names in the trials' records, else by their index in the space.
PointSet pointsOf(const TrialColumns& trials, const std::string& name, std::shared_ptr<const space::ConfigSpace> space, const std::stop_token& stop = {});
/// The space that most of the trials with named choices belong to; empty if none has them.
std::string mostTriedSpace(const TrialColumns& trials);
/// `tile_x [*, 8]  unroll 16`
QString choicesText(const PointSet& points, size_t point);

/// Two knobs against each other.
struct HeatMap {
  enum class State : uint8_t { untried, refused, failed, ok };
  struct Cell {
    State state = State::untried;
    int trials = 0, failures = 0;
    double best = 0;          ///< seconds, of State::ok
    int64_t bestNumber = -1;  ///< its trial; of State::failed the last one
    int64_t index = -1;       ///< the base point with these two knobs, if the space has it
  };
  int x = 0, y = 0;  ///< knobs
  space::Knob across, down;
  int columns = 0, rows = 0;
  std::vector<Cell> cells;  ///< row by row
  const Cell& at(int column, int row) const { return cells[static_cast<size_t>(row) * static_cast<size_t>(columns) + static_cast<size_t>(column)]; }
};
/// Untried cells are refused where a filter of the space rejects the point `base` with these two knobs.
HeatMap heatMap(const PointSet& points, int x, int y, int64_t base, const std::stop_token& stop = {});

/// Points in the plane of their two strongest principal components. Knobs as logarithms of their factors, or as positions; each scaled to unit variance.
struct Projection {
  std::vector<float> x, y;
  std::array<double, 2> share = {0, 0};        ///< of the variance, of each axis
  std::array<std::vector<double>, 2> weights;  ///< of each feature
  std::vector<std::string> features;           ///< such as `tile_x[1]`
};
Projection project(const PointSet& points, const std::stop_token& stop = {});

/// Share of the variance of the logarithm of time that a knob explains by itself: the correlation ratio, corrected for its number of groups (epsilon squared),
/// at least 0. Empty for fewer than 8 successful trials. Source: Kelley, "An unbiased correlation ratio measure", PNAS 1935.
std::vector<double> importance(const PointSet& points);

}  // namespace tw::widgets
