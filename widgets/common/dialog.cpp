// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/dialog.h"

#include "widgets/common/tab_order.h"

namespace tw::widgets {

bool Dialog::focusNextPrevChild(bool next) {
  QWidget* stop = nextStop(tabStops(*this).stops, focusWidget(), next);
  if (!stop) return QDialog::focusNextPrevChild(next);
  stop->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
  return true;
}

}  // namespace tw::widgets
