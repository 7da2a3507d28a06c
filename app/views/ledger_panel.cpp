// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/ledger_panel.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollBar>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/selection_hub.h"
#include "app/services/ledger_service.h"
#include "widgets/common/format.h"
#include "widgets/common/table_view.h"
#include "widgets/theme/theme.h"

namespace tw::app {
namespace {
enum LedgerColumn { Knob, Here, ByRule, Worth, Time, ColumnCount };
}  // namespace

LedgerPanel::LedgerPanel(Services& services, QWidget* parent)
    : QWidget(parent),
      m_services(services),
      m_ledger(new LedgerService(services.engine, services.hub, services.workspace, services.tuning, services.explain, services.board, this)),
      m_button(new QToolButton(this)),
      m_text(new QLabel(this)),
      m_table(new QTreeWidget(this)) {
  auto* title = new QLabel(tr("What each choice is worth"), this);
  QFont bold = title->font();
  bold.setBold(true);
  title->setFont(bold);
  m_button->setObjectName(QStringLiteral("button.why.ledger"));
  m_text->setObjectName(QStringLiteral("label.why.ledger"));
  m_text->setTextFormat(Qt::PlainText);
  m_text->setWordWrap(true);
  m_text->setForegroundRole(QPalette::PlaceholderText);
  m_table->setObjectName(QStringLiteral("table.why.ledger"));
  m_table->setAccessibleName(title->text());
  m_table->setColumnCount(ColumnCount);
  m_table->setHeaderLabels({tr("Knob"), tr("Here"), tr("By rule"), tr("Without it"), tr("Time")});
  m_table->headerItem()->setToolTip(Worth, tr("Time with this knob put back to its value by rule, divided by the time of the shown point"));
  m_table->headerItem()->setToolTip(ByRule,
                                    tr("The value that untuned networks use, chosen without measuring; where no rule chooses a point, the first candidate"));
  widgets::setUpTable(m_table);
  m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  const int widths[] = {96, 104, 104, 96};
  for (int c = 0; c < Time; ++c) m_table->header()->resizeSection(c, widths[c]);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(title, 1);
  line->addWidget(m_button);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 6, 0, 0);
  box->setSpacing(3);
  box->addLayout(line);
  box->addWidget(m_text);
  box->addWidget(m_table);
  connect(m_button, &QToolButton::clicked, this, [this] {
    m_problem.clear();
    if (m_ledger->isBusy())
      m_ledger->stop();
    else
      m_ledger->start();
  });
  connect(m_ledger, &LedgerService::changed, this, &LedgerPanel::show);
  connect(m_ledger, &LedgerService::failed, this, [this](const QString& message) { m_problem = message; });
  connect(m_table, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) {
    const auto& row = m_ledger->rows()[static_cast<size_t>(m_table->indexOfTopLevelItem(item))];
    if (row.trial.number > 0) m_services.hub.setTrial(row.trial);
  });
  show();
}

void LedgerPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) fitHeight();
}

void LedgerPanel::show() {
  const QString why = m_ledger->obstacle();
  m_button->setText(m_ledger->isBusy() ? tr("Stop") : tr("Measure choices"));
  m_button->setAccessibleName(m_ledger->isBusy() ? tr("Stop measuring what each choice is worth") : tr("Measure what each choice is worth"));
  m_button->setEnabled(m_ledger->isBusy() || why.isEmpty());
  m_button->setToolTip(m_ledger->isBusy() || why.isEmpty() ? tr("Measures the shown point again with one knob after another put back to its value by rule")
                                                           : tr("%1: %2").arg(m_button->accessibleName(), why));
  const auto& rows = m_ledger->rows();
  const auto done = std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.done; });
  if (!m_problem.isEmpty())
    m_text->setText(m_problem);
  else if (m_ledger->isBusy())
    m_text->setText(tr("Measuring %1: %2 of %3 choices put back.").arg(m_ledger->about()).arg(done).arg(rows.size()));
  else if (m_ledger->about().isEmpty())
    m_text->setText(tr("Each knob of the shown point is put back to its value by rule in turn, and the point measured without that choice."));
  else if (rows.empty())
    m_text->setText(tr("Of %1: every knob has its value by rule.").arg(m_ledger->about()));
  else if (m_ledger->noise() < 0)
    m_text->setText(tr("Of %1, stopped before the end.").arg(m_ledger->about()));
  else
    m_text->setText(tr("Of %1. Measured twice, its own times lie %2 % apart: smaller differences say nothing.")
                        .arg(m_ledger->about(), widgets::percentText(m_ledger->noise())));
  fill();
}

void LedgerPanel::fill() {
  m_table->clear();
  const widgets::Theme& theme = widgets::themeOf(this);
  for (const LedgerService::Row& row : m_ledger->rows()) {
    auto* item = new QTreeWidgetItem(m_table, {row.knob, row.here, row.byRule});
    const double noise = std::max(0.0, m_ledger->noise());
    const bool slower = row.ratio > 1 + noise, faster = row.ratio > 0 && row.ratio < 1 - noise;
    if (!row.done) {
      item->setText(Worth, tr("…"));
    } else if (row.ratio > 0) {
      const QString times = widgets::numberText(row.ratio, 3) + QChar(0x00D7) + QLatin1Char(' ');
      item->setText(Worth, times + (slower ? tr("slower") : faster ? tr("faster") : tr("the same")));
      item->setText(Time, widgets::secondsText(row.seconds));
    } else {
      item->setText(Worth, tr("does not run"));
      item->setText(Time, widgets::dashText());
    }
    if (slower) item->setForeground(Worth, theme.success);
    if (faster) item->setForeground(Worth, theme.error);
    for (int c = 0; c < ColumnCount; ++c) item->setToolTip(c, (row.problem.isEmpty() ? item->text(c) : row.problem).toHtmlEscaped());
  }
  m_table->setVisible(!m_ledger->rows().empty());
  fitHeight();
}

void LedgerPanel::fitHeight() {
  // All rows are shown: the page scrolls, not the table.
  const int rows = m_table->topLevelItemCount();
  const int each = rows > 0 ? m_table->sizeHintForRow(0) : 0;
  m_table->setFixedHeight(m_table->header()->sizeHint().height() + rows * each + 2 * m_table->frameWidth() +
                          m_table->horizontalScrollBar()->sizeHint().height());
}

}  // namespace tw::app
