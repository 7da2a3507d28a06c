// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/empty_state.h"

#include <QAction>
#include <QLabel>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

namespace tw::widgets {

EmptyState::EmptyState(QWidget* content, QWidget* parent) : QWidget(parent), m_stack(new QStackedLayout(this)) {
  auto* page = new QWidget(this);
  page->setBackgroundRole(QPalette::Base);
  page->setAutoFillBackground(true);
  auto* box = new QVBoxLayout(page);
  box->setContentsMargins(9, 2, 9, 2);  // a drawer is low
  m_title = new QLabel(page);
  QFont font = m_title->font();
  font.setPointSizeF(font.pointSizeF() * 1.15);
  font.setBold(true);
  m_title->setFont(font);
  m_hint = new QLabel(page);
  m_hint->setForegroundRole(QPalette::PlaceholderText);
  for (QLabel* label : {m_title, m_hint}) {
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
  }
  m_button = new QToolButton(page);
  m_button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  box->addStretch();
  box->addWidget(m_title);
  box->addWidget(m_hint);
  box->addSpacing(6);
  box->addWidget(m_button, 0, Qt::AlignHCenter);
  box->addStretch();
  m_stack->addWidget(content);
  m_stack->addWidget(page);
}

void EmptyState::showEmpty(const QString& title, const QString& hint, QAction* action) {
  m_title->setText(title);
  m_hint->setText(hint);
  m_button->setVisible(action != nullptr);
  // With a second action the button would show the arrow of a menu.
  for (QAction* old : m_button->actions()) {
    if (old != action) m_button->removeAction(old);
  }
  if (action) {
    m_button->setDefaultAction(action);
    m_button->setAccessibleName(action->text());
  }
  m_stack->setCurrentIndex(1);
}

void EmptyState::showContent() { m_stack->setCurrentIndex(0); }

bool EmptyState::isEmpty() const { return m_stack->currentIndex() == 1; }

}  // namespace tw::widgets
