// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/scroll_page.h"

#include <QBoxLayout>
#include <QScrollArea>

namespace tw::widgets {

QWidget* addScrollPage(QBoxLayout* box) {
  auto* scroll = new QScrollArea(box->parentWidget());
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  auto* page = new QWidget(scroll);
  scroll->setWidget(page);
  box->addWidget(scroll, 1);
  return page;
}

}  // namespace tw::widgets
