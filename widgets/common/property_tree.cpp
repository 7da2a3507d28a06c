// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/property_tree.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>

namespace tw::widgets {

PropertyTree::PropertyTree(QWidget* parent) : QTreeWidget(parent) {
  setColumnCount(2);
  setHeaderLabels({tr("Property"), tr("Value")});
  setAlternatingRowColors(true);
  setFrameShape(QFrame::NoFrame);
  header()->setStretchLastSection(true);
  header()->resizeSection(0, 130);
}

QTreeWidgetItem* PropertyTree::section(const QString& title) {
  setWordWrap(false);
  auto* item = new QTreeWidgetItem(this, {title});
  QFont font = item->font(0);
  font.setBold(true);
  item->setFont(0, font);
  item->setFirstColumnSpanned(true);
  item->setExpanded(true);
  return item;
}

void PropertyTree::line(QTreeWidgetItem* parent, const QString& name, const QString& value, const QString& help) {
  auto* item = new QTreeWidgetItem(parent, {name, value});
  item->setToolTip(1, (help.isEmpty() ? value : help).toHtmlEscaped());
}

void PropertyTree::showMessage(const QString& text) {
  clear();
  setWordWrap(true);
  auto* item = new QTreeWidgetItem(this, {text});
  item->setFirstColumnSpanned(true);
  item->setFlags(Qt::ItemIsEnabled);
}

void PropertyTree::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy) && currentItem()) {
    QApplication::clipboard()->setText(currentItem()->text(0) + QLatin1Char('\t') + currentItem()->text(1));
    return;
  }
  QTreeWidget::keyPressEvent(event);
}

}  // namespace tw::widgets
