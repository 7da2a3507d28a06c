// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/graph_overlay.h"

#include <QBrush>
#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "widgets/charts/color_scale.h"
#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

struct OverlayTexts {
  Q_DECLARE_TR_FUNCTIONS(GraphOverlay)
};

}  // namespace

double GraphOverlay::seconds() const {
  double sum = 0;
  for (const Part& p : parts) sum += p.seconds;
  return sum;
}

namespace {

/// A sign and a word: colour alone does not say it.
QString changeText(GraphOverlay::Change change) {
  switch (change) {
    case GraphOverlay::Change::made:
      return QStringLiteral("+ ") + OverlayTexts::tr("made");
    case GraphOverlay::Change::removed:
      return QChar(0x2212) + QStringLiteral(" ") + OverlayTexts::tr("removed");
    case GraphOverlay::Change::changed:
      return QChar(0x0394) + QStringLiteral(" ") + OverlayTexts::tr("changed");
    case GraphOverlay::Change::same:
      break;
  }
  return {};
}

}  // namespace

GraphOverlay::Value GraphOverlay::valueOf(const std::vector<int>& nodes) const {
  Value v;
  if (kind == Kind::change) {
    Change all = Change::same;  // of a box: changed, unless all of it is one thing
    bool first = true;
    for (const int n : nodes) {
      if (n < 0 || static_cast<size_t>(n) >= parts.size()) continue;
      const Change c = parts[static_cast<size_t>(n)].change;
      all = first || c == all ? c : Change::changed;
      first = false;
    }
    v.known = all != Change::same;
    v.value = static_cast<double>(all);
    v.text = changeText(all);
    return v;
  }
  double sum = 0, first = 0, second = 0;
  bool tuned = true, computed = false, both = true;
  for (const int n : nodes) {
    if (n < 0 || static_cast<size_t>(n) >= parts.size() || !parts[static_cast<size_t>(n)].computed) continue;
    const Part& p = parts[static_cast<size_t>(n)];
    computed = true;
    sum += p.seconds, first += p.first, second += p.second;
    tuned = tuned && p.tuned;
    both = both && p.first > 0 && p.second > 0;
  }
  if (!computed) return v;
  switch (kind) {
    case Kind::none:
    case Kind::change:
      break;
    case Kind::share:
    case Kind::ran:
      v.known = sum > 0;
      v.value = v.known ? sum / seconds() : 0;
      v.text = v.known ? percentText(v.value) + QStringLiteral(" %") : kind == Kind::ran ? OverlayTexts::tr("did not run") : OverlayTexts::tr("not measured");
      break;
    case Kind::tuned:
      v.known = true;
      v.value = tuned ? 1 : 0;
      v.text = tuned ? QString(QChar(0x2713)) : OverlayTexts::tr("not tuned");
      break;
    case Kind::difference:
      v.known = both;
      v.value = both ? second / first : 0;
      v.text = both ? numberText(v.value, 3) + QChar(0x00D7) : OverlayTexts::tr("not in both");
      break;
  }
  return v;
}

QBrush overlayBrush(GraphOverlay::Kind kind, const GraphOverlay::Value& value, double largest, const Theme& theme) {
  const QBrush hatch(theme.mutedText, Qt::BDiagPattern);
  if (!value.known) return hatch;
  if (kind == GraphOverlay::Kind::change) {
    const auto change = static_cast<GraphOverlay::Change>(static_cast<int>(value.value));
    if (change == GraphOverlay::Change::made) return theme.series[0];
    return change == GraphOverlay::Change::removed ? QBrush(theme.series[5], Qt::Dense4Pattern) : QBrush(theme.series[3], Qt::BDiagPattern);
  }
  if (kind == GraphOverlay::Kind::tuned) return value.value > 0 ? QBrush(theme.series[2]) : hatch;
  if (kind == GraphOverlay::Kind::share || kind == GraphOverlay::Kind::ran) return viridis(largest > 0 ? value.value / largest : 0);
  // From the background at 1 to a full colour at half or double the time.
  const double far = std::clamp(std::log2(value.value), -1.0, 1.0);
  const QColor end = far > 0 ? theme.series[5] : theme.series[0];
  const auto mix = [&](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * std::abs(far))); };
  return QColor(mix(theme.base.red(), end.red()), mix(theme.base.green(), end.green()), mix(theme.base.blue(), end.blue()));
}

}  // namespace tw::widgets
