// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/jobs_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/services/job_board.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/table_view.h"
#include "widgets/theme/theme.h"

namespace tw::app {
namespace {

/// A bar below the text of the progress.
class ProgressDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    const double share = index.data(JobBoard::ProgressRole).toDouble();
    if (share < 0) return;
    const widgets::Theme& theme = widgets::themeOf(option.palette);
    const QRect line(option.rect.left() + 2, option.rect.bottom() - 2, option.rect.width() - 4, 2);
    painter->fillRect(line, theme.border);
    painter->fillRect(QRect(line.topLeft(), QSize(static_cast<int>(line.width() * share), line.height())), theme.accent);
  }
};

}  // namespace

JobsView::JobsView(Services& services, QWidget* parent) : QWidget(parent), m_services(services), m_table(new QTreeView(this)), m_cancel(new QToolButton(this)) {
  m_table->setModel(&services.board);
  m_table->setObjectName(QStringLiteral("table.jobs"));
  m_table->setAccessibleName(tr("Jobs"));
  widgets::setUpTable(m_table);
  m_table->setItemDelegateForColumn(JobBoard::Progress, new ProgressDelegate(m_table));
  const int widths[] = {180, 170, 110, 60, 60};
  for (int c = 0; c < JobBoard::ColumnCount; ++c) m_table->header()->resizeSection(c, widths[c]);
  m_cancel->setObjectName(QStringLiteral("button.jobs.cancel"));
  m_cancel->setText(tr("Stop job"));
  m_cancel->setAccessibleName(m_cancel->text());
  m_cancel->setToolTip(tr("Stops the selected job; what it has done is kept"));
  connect(m_cancel, &QToolButton::clicked, this, [this] { m_services.board.cancel(m_table->currentIndex().row()); });
  auto* content = new QWidget(this);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(6, 2, 6, 0);
  line->addStretch();
  line->addWidget(m_cancel);
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->setSpacing(2);
  inner->addLayout(line);
  inner->addWidget(m_table, 1);
  m_state = new widgets::EmptyState(content, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_state);
  for (const auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved}) connect(&services.board, signal, this, &JobsView::showState);
  connect(&services.board, &QAbstractItemModel::dataChanged, this, &JobsView::showState);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &JobsView::showState);
  showState();
}

void JobsView::showState() {
  m_cancel->setEnabled(m_services.board.canCancel(m_table->currentIndex().row()));
  if (m_services.board.rowCount() > 0) return m_state->showContent();
  m_state->showEmpty(tr("No jobs"), tr("Tuning sessions, imports of logs and other long work are listed here, with their progress and a way to stop them."));
}

}  // namespace tw::app
