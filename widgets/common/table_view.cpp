// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/table_view.h"

#include <QAbstractScrollArea>
#include <QEvent>
#include <QHeaderView>
#include <QMenu>
#include <QTreeView>
#include <algorithm>
#include <utility>

#include "widgets/theme/theme.h"

namespace tw::widgets {

namespace {

/// Columns are as much wider as their letters, and begin as wide as their heads at least.
class ScalesColumns : public QObject {
 public:
  explicit ScalesColumns(QTreeView* table) : QObject(table), m_table(table) {
    table->installEventFilter(this);
    // Whoever gives columns their widths does so after there are columns.
    connect(table->header(), &QHeaderView::sectionCountChanged, this, [this] { m_whole = false, wholeHeads(); }, Qt::QueuedConnection);
  }
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::FontChange) m_whole = false;
    if (event->type() == QEvent::FontChange || event->type() == QEvent::Show) scale(), wholeHeads();
    return false;
  }

 private:
  /// Once: whoever makes a column narrower afterwards wants it so.
  void wholeHeads() {
    if (!m_table->isVisible() || std::exchange(m_whole, true)) return;
    QHeaderView* header = m_table->header();
    for (int c = 0; c < header->count(); ++c)
      if (!header->isSectionHidden(c) && header->sectionResizeMode(c) == QHeaderView::Interactive)
        header->resizeSection(c, std::max(header->sectionSize(c), header->sectionSizeHint(c)));
  }
  void scale() {
    const double before = std::exchange(m_scale, typeScale());
    if (before == m_scale) return;
    QHeaderView* header = m_table->header();
    for (int c = 0; c < header->count(); ++c)
      if (!header->isSectionHidden(c)) header->resizeSection(c, qRound(header->sectionSize(c) * m_scale / before));
  }
  QTreeView* m_table;
  double m_scale = 1;
  bool m_whole = false;
};

}  // namespace

void setUpTable(QTreeView* table) {
  new ScalesColumns(table);
  table->setRootIsDecorated(false);
  table->setUniformRowHeights(true);
  table->setAlternatingRowColors(true);
  table->setAllColumnsShowFocus(true);
  table->setFrameShape(QFrame::NoFrame);
}

void offerActions(QWidget* widget) {
  widget->setContextMenuPolicy(Qt::CustomContextMenu);
  QObject::connect(widget, &QWidget::customContextMenuRequested, widget, [widget](const QPoint& at) {
    auto* menu = new QMenu(widget);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addActions(widget->actions());
    const auto* area = qobject_cast<QAbstractScrollArea*>(widget);
    menu->popup((area ? area->viewport() : widget)->mapToGlobal(at));
  });
}

}  // namespace tw::widgets
