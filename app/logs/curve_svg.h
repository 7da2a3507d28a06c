// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/logs/page.h"
#include "engine/base/curve_band.h"

namespace tw::logs {

/// Searches of one kind in a chart: the median as a line, the middle half as a band.
struct CurveSeries {
  std::string name;
  QuartileBand band;  ///< y: above 0; seconds unless the chart says otherwise
};
struct CurveChart {
  std::string title, x_title;
  std::vector<CurveSeries> series;  ///< those without points are named, not drawn
  std::vector<std::string> x_labels = {};  ///< of x = 0, 1, ... where it counts values instead of measuring something
  std::optional<double> mark = {};         ///< an x to which a line is drawn
  std::string (*y_text)(double) = page_time;
};

/// Charts below each other as one picture that stands by itself, light or dark as the reader's system is: a logarithmic axis of y, a legend in each. Colours can be told apart without red and green.
/// Source of the colours: Okabe and Ito, "Color universal design", 2008.
std::string curves_svg(std::span<const CurveChart> charts);

}  // namespace tw::logs
