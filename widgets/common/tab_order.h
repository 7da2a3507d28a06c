// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QRect>
#include <vector>

class QWidget;

namespace tw::widgets {

/// A part of a window: its place among its siblings, and what in it stops Tab, in order.
struct TabStops {
  QRect place;
  QList<QWidget*> stops;
};

/// Where Tab stops in a widget, itself and what is below it: as people read what they see, whenever it was made. What belongs to another window is left out.
TabStops tabStops(QWidget& widget);

/// Appends the stops of parts beside each other: rows from above, in a row columns from the left, in a column rows again.
void readInOrder(std::vector<TabStops> parts, QList<QWidget*>& stops);

/// The stop that comes after the one that is or holds `focus`, or before it, in a circle; null if `focus` is none of them.
QWidget* nextStop(const QList<QWidget*>& stops, const QWidget* focus, bool forward);

}  // namespace tw::widgets
