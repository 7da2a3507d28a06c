// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace tw::widgets {

/// Closes every menu of the program that is disabled while it is open. A menu belongs to the widget that it was opened on and is disabled with it, as when a
/// session begins and its options cannot be changed any more; it would keep all input for itself, and neither key nor click would close it.
class MenuGuard : public QObject {
  Q_OBJECT
 public:
  explicit MenuGuard(QObject* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace tw::widgets
