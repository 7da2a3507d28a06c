// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/banner.h"

#include <QAction>
#include <QApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>
#include <memory>

#include "widgets/theme/theme.h"

namespace tw::widgets {

Banner::Banner(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("banner"));
  setAutoFillBackground(true);
  setFrameShape(QFrame::NoFrame);
  auto* row = new QHBoxLayout;
  m_icon = new QLabel(this);
  m_text = new QLabel(this);
  m_text->setObjectName(QStringLiteral("banner.text"));
  m_actions = new QHBoxLayout;
  m_more = new QToolButton(this);
  m_more->setText(tr("Details"));
  m_more->setAccessibleName(tr("Show details of the message"));
  m_more->setCheckable(true);
  m_more->setAutoRaise(true);
  m_close = new QToolButton(this);
  m_close->setObjectName(QStringLiteral("banner.close"));
  m_close->setText(QChar(0x2715));
  m_close->setAutoRaise(true);
  m_close->setToolTip(tr("Dismiss"));
  m_close->setAccessibleName(tr("Dismiss the message"));
  row->addWidget(m_icon);
  row->addSpacing(4);
  row->addWidget(m_text, 1);
  row->addLayout(m_actions);
  row->addWidget(m_more);
  row->addWidget(m_close);
  m_details = new QLabel(this);
  for (QLabel* label : {m_text, m_details}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(10, 4, 6, 4);
  box->setSpacing(2);
  box->addLayout(row);
  box->addWidget(m_details);
  m_details->hide();
  connect(m_more, &QToolButton::toggled, m_details, &QLabel::setVisible);
  connect(m_close, &QToolButton::clicked, this, &QWidget::hide);
  hide();
}

void Banner::showMessage(Kind kind, const QString& text, const QString& details, const QList<QAction*>& actions) {
  while (const std::unique_ptr<QLayoutItem> old{m_actions->takeAt(0)}) {
    // The button may be the one that was clicked.
    old->widget()->hide();
    old->widget()->deleteLater();
  }
  for (QAction* action : actions) {
    auto* button = new QToolButton(this);
    button->setObjectName(QStringLiteral("banner.") + action->objectName());
    button->setDefaultAction(action);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setAccessibleName(action->text().remove(QLatin1Char('&')));
    m_actions->addWidget(button);
  }
  m_kind = kind;
  m_text->setText(text);
  m_details->setText(details);
  m_more->setChecked(false);
  m_more->setVisible(!details.isEmpty());
  const auto icon = kind == Kind::error     ? QStyle::SP_MessageBoxCritical
                    : kind == Kind::warning ? QStyle::SP_MessageBoxWarning
                                            : QStyle::SP_MessageBoxInformation;
  m_icon->setPixmap(style()->standardIcon(icon).pixmap(18, 18));
  setAccessibleName(text);
  recolour();
  show();
}

QString Banner::text() const { return m_text->text(); }

int Banner::lineHeight() const {
  const QMargins around = layout()->contentsMargins();
  return m_close->sizeHint().height() + around.top() + around.bottom();
}

void Banner::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && themeOf(QApplication::palette()).dark != m_dark) recolour();
}

void Banner::recolour() {
  const Theme& theme = themeOf(QApplication::palette());
  m_dark = theme.dark;  // first: setting the palette comes back as its change
  QPalette p;  // all but the ground follows the window, whose changes come here so
  p.setColor(QPalette::Window, m_kind == Kind::error ? theme.errorBanner : m_kind == Kind::warning ? theme.warningBanner : theme.infoBanner);
  setPalette(p);
}

}  // namespace tw::widgets
