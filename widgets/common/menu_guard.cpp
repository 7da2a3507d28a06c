// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/menu_guard.h"

#include <QApplication>
#include <QEvent>
#include <QMenu>

namespace tw::widgets {

MenuGuard::MenuGuard(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

bool MenuGuard::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::EnabledChange) return false;
  auto* menu = qobject_cast<QMenu*>(watched);
  // Not at once: whoever disables it is in the middle of that.
  if (menu && menu->isVisible() && !menu->isEnabled()) QMetaObject::invokeMethod(menu, &QWidget::close, Qt::QueuedConnection);
  return false;
}

}  // namespace tw::widgets
