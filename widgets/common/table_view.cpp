// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/table_view.h"

#include <QTreeView>

namespace tw::widgets {

void setUpTable(QTreeView* table) {
  table->setRootIsDecorated(false);
  table->setUniformRowHeights(true);
  table->setAlternatingRowColors(true);
  table->setAllColumnsShowFocus(true);
  table->setFrameShape(QFrame::NoFrame);
}

}  // namespace tw::widgets
