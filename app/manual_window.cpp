// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/manual_window.h"

#include <QVBoxLayout>

#include "app/views/manual_view.h"

namespace tw::app {

ManualWindow::ManualWindow(QWidget* parent) : Dialog(parent), m_view(new ManualView(this)) {
  setObjectName(QStringLiteral("window.manual"));
  setWindowTitle(tr("Tilewright manual"));
  resize(980, 760);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_view);
}

void ManualWindow::showView(const QString& title) { m_view->showView(title); }

void ManualWindow::showWord(const QString& word) { m_view->showWord(word); }

}  // namespace tw::app
