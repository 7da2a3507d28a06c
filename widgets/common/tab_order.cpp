// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/tab_order.h"

#include <QWidget>
#include <algorithm>

namespace tw::widgets {

TabStops tabStops(QWidget& widget) {
  TabStops all{widget.geometry(), {}};
  if (!widget.isVisible() || !widget.isEnabled() || widget.size().isEmpty()) return all;
  if ((widget.focusPolicy() & Qt::TabFocus) == Qt::TabFocus && !widget.focusProxy()) all.stops << &widget;
  std::vector<TabStops> parts;
  for (QObject* child : widget.children()) {
    auto* part = qobject_cast<QWidget*>(child);
    if (!part || part->isWindow()) continue;
    if (TabStops inner = tabStops(*part); !inner.stops.isEmpty()) parts.push_back(std::move(inner));
  }
  readInOrder(std::move(parts), all.stops);
  return all;
}

void readInOrder(std::vector<TabStops> parts, QList<QWidget*>& stops) {
  for (const bool rows : {true, false}) {
    const auto begin = [rows](const TabStops& p) { return rows ? p.place.top() : p.place.left(); };
    const auto end = [rows](const TabStops& p) { return rows ? p.place.bottom() : p.place.right(); };
    std::stable_sort(parts.begin(), parts.end(), [&](const TabStops& a, const TabStops& b) { return begin(a) < begin(b); });
    // Where nothing reaches across a line, what is before it comes first.
    std::vector<std::vector<TabStops>> groups;
    int reached = 0;
    for (const TabStops& p : parts) {
      if (groups.empty() || begin(p) > reached) groups.emplace_back();
      reached = groups.back().empty() ? end(p) : std::max(reached, end(p));
      groups.back().push_back(p);
    }
    if (groups.size() < 2) continue;
    for (std::vector<TabStops>& group : groups) readInOrder(std::move(group), stops);
    return;
  }
  // One part, or parts over each other.
  std::stable_sort(parts.begin(), parts.end(), [](const TabStops& a, const TabStops& b) {
    return std::pair(a.place.top(), a.place.left()) < std::pair(b.place.top(), b.place.left());
  });
  for (const TabStops& p : parts) stops << p.stops;
}

QWidget* nextStop(const QList<QWidget*>& stops, const QWidget* focus, bool forward) {
  qsizetype at = -1;
  for (; focus && at < 0; focus = focus->isWindow() ? nullptr : focus->parentWidget()) at = stops.indexOf(const_cast<QWidget*>(focus));
  if (at < 0) return nullptr;
  return stops[(at + (forward ? 1 : stops.size() - 1)) % stops.size()];
}

}  // namespace tw::widgets
