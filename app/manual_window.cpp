// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/manual_window.h"

#include <QFile>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace tw::app {

ManualWindow::ManualWindow(QWidget* parent) : QDialog(parent) {
  setObjectName(QStringLiteral("window.manual"));
  setWindowTitle(tr("Tilewright manual"));
  resize(980, 760);
  auto* browser = new QTextBrowser(this);
  browser->setObjectName(QStringLiteral("view.manual.text"));
  browser->setAccessibleName(tr("Manual"));
  browser->setOpenExternalLinks(false);
  browser->setSearchPaths({QStringLiteral(":/manual")});
  browser->setSource(QUrl(QStringLiteral("qrc:/manual/workbench.md")), QTextDocument::MarkdownResource);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(browser);
}

}  // namespace tw::app
