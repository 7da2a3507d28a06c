// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/error_label.h"

#include <QApplication>
#include <QEvent>

#include "widgets/theme/theme.h"

namespace tw::widgets {

ErrorLabel::ErrorLabel(QWidget* parent) : QLabel(parent) {
  setTextFormat(Qt::PlainText);
  setWordWrap(true);
  recolour();
  hide();
}

void ErrorLabel::showProblem(const QString& problem) {
  setText(problem);
  setVisible(!problem.isEmpty());
}

void ErrorLabel::changeEvent(QEvent* event) {
  QLabel::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && themeOf(QApplication::palette()).dark != m_dark) recolour();
}

void ErrorLabel::recolour() {
  const Theme& theme = themeOf(QApplication::palette());
  m_dark = theme.dark;  // first: setting the palette comes back as its change
  QPalette p;           // all but this follows the window, whose changes come here so
  p.setColor(QPalette::WindowText, theme.error);
  setPalette(p);
}

}  // namespace tw::widgets
