// SPDX-License-Identifier: Apache-2.0
#include "app/logs/curve_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/logs/page.h"

namespace tw::logs {
namespace {

constexpr double kChartWidth = 860, kChartLeft = 84, kChartRight = 200, kChartTop = 34, kChartPlot = 240, kChartBottom = 44, kChartHeight = kChartTop + kChartPlot + kChartBottom;
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "currentColor"};
constexpr const char* kDashes[] = {"", "7 3", "2 3"};  // after the last colour, the first comes with another dash

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void hold(double v) {
    if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  }
  bool empty() const { return !(low <= high); }
};

/// A round step so that about five fit into the length.
double round_step(double length) {
  const double decade = std::pow(10, std::floor(std::log10(length / 5)));
  for (const double m : {1.0, 2.0, 5.0})
    if (length / (m * decade) <= 6) return m * decade;
  return 10 * decade;
}

/// Where a logarithmic axis is marked: at 1, 2 and 5 times powers of ten, or in even steps where the range has fewer than three of these.
std::vector<double> logarithmic_marks(const Range& range) {
  std::vector<double> all;
  for (double decade = std::pow(10, std::floor(std::log10(range.low))); decade <= range.high; decade *= 10)
    for (const double m : {1.0, 2.0, 5.0})
      if (m * decade >= range.low * 0.999 && m * decade <= range.high * 1.001) all.push_back(m * decade);
  if (all.size() >= 3) return all;
  all.clear();
  const double step = round_step(range.high - range.low);
  for (double k = std::ceil(range.low / step); k * step <= range.high; ++k) all.push_back(k * step);
  return all;
}

std::string chart_svg(const CurveChart& chart, double top) {
  Range x, y;
  for (const CurveSeries& s : chart.series) {
    for (const double v : s.band.x) x.hold(v);
    for (const double v : s.band.low) y.hold(v);
    for (const double v : s.band.high) y.hold(v);
  }
  std::string out = fmt::format("<g transform=\"translate(0 {})\">\n<text x=\"{}\" y=\"20\" class=\"title\">{}</text>\n", top, kChartLeft, markup_text(chart.title));
  if (x.empty() || y.empty()) return out + fmt::format("<text x=\"{}\" y=\"{}\">No session found anything.</text>\n</g>\n", kChartLeft, kChartTop + 20);
  if (y.high < 1.02 * y.low) y.low /= 1.01, y.high *= 1.01;
  if (x.high <= x.low) x.high = x.low + 1;
  const double plot = kChartWidth - kChartLeft - kChartRight;
  const auto at_x = [&](double v) { return kChartLeft + (v - x.low) / (x.high - x.low) * plot; };
  const auto at_y = [&](double v) { return kChartTop + (1 - std::log(v / y.low) / std::log(y.high / y.low)) * kChartPlot; };
  std::string before;
  for (const double m : logarithmic_marks(y)) {
    const std::string label = chart.y_text(m);
    if (label == before) continue;  // nearer to each other than their digits tell
    before = label;
    out += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}h{}\"/><text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kChartLeft, at_y(m), plot, kChartLeft - 6, at_y(m) + 4,
                       label);
  }
  constexpr size_t kMostLabels = 14;
  const size_t every = chart.x_labels.size() / kMostLabels + 1;
  for (size_t i = 0; i < chart.x_labels.size(); i += every)
    out += fmt::format("<path class=\"grid\" d=\"M{:.1f} {}v{}\"/><text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", at_x(static_cast<double>(i)), kChartTop, kChartPlot, at_x(static_cast<double>(i)),
                       kChartTop + kChartPlot + 16, markup_text(chart.x_labels[i]));
  if (chart.mark)
    out += fmt::format("<path d=\"M{:.1f} {}v{}\" stroke=\"currentColor\" stroke-dasharray=\"3 3\"/>\n", at_x(*chart.mark), kChartTop, kChartPlot);
  const double step = round_step(x.high - x.low);
  for (double m = std::ceil(x.low / step) * step; chart.x_labels.empty() && m <= x.high; m += step)
    out += fmt::format("<path class=\"grid\" d=\"M{:.1f} {}v{}\"/><text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", at_x(m), kChartTop, kChartPlot, at_x(m), kChartTop + kChartPlot + 16, m);
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kChartLeft + plot, kChartTop + kChartPlot + 34, markup_text(chart.x_title));
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const CurveSeries& s = chart.series[i];
    const char* colour = kColours[i % std::size(kColours)];
    const char* dash = kDashes[i / std::size(kColours) % std::size(kDashes)];
    std::string line, edge, back;
    for (size_t k = 0; k < s.band.x.size(); ++k) {
      if (!std::isfinite(s.band.high[k])) continue;
      line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", at_x(s.band.x[k]), at_y(s.band.middle[k]));
      edge += fmt::format("{}{:.1f} {:.1f}", edge.empty() ? "M" : "L", at_x(s.band.x[k]), at_y(s.band.low[k]));
      back = fmt::format("L{:.1f} {:.1f}", at_x(s.band.x[k]), at_y(s.band.high[k])) + back;
    }
    if (!line.empty())
      out += fmt::format("<path d=\"{}{}Z\" fill=\"{}\" fill-opacity=\"0.15\"/><path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n", edge, back,
                         colour, line, colour, dash);
    const double legend = kChartTop + 8 + 18 * static_cast<double>(i);
    out += fmt::format("<path d=\"M{} {}h22\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>\n", kChartWidth - kChartRight + 12, legend, colour, dash,
                       kChartWidth - kChartRight + 40, legend + 4, markup_text(line.empty() ? s.name + " (none)" : s.name));
  }
  return out + "</g>\n";
}

}  // namespace

std::string curves_svg(std::span<const CurveChart> charts) {
  // A legend longer than its plot makes room for itself.
  std::string body;
  double top = 0;
  for (const CurveChart& chart : charts) {
    body += chart_svg(chart, top);
    top += std::max(kChartHeight, kChartTop + 18 * static_cast<double>(chart.series.size()) + 16);
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" font-size=\"12\">\n"
             "<style>svg{{color:#222}}text{{fill:currentColor}}.title{{font-size:14px;font-weight:bold}}.grid{{stroke:#ddd;fill:none}}.ground{{fill:#fff}}\n"
             "@media(prefers-color-scheme:dark){{svg{{color:#e6eaef}}.grid{{stroke:#3d444d}}.ground{{fill:#14181d}}}}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n",
             kChartWidth, top, kChartWidth, top) +
         body + "</svg>\n";
}

}  // namespace tw::logs
