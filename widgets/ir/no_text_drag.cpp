// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/no_text_drag.h"

#include <Qsci/qsciscintilla.h>

#include <QMouseEvent>
#include <algorithm>

namespace tw::widgets {

NoTextDrag::NoTextDrag(QsciScintilla& editor) : QObject(&editor), m_editor(editor) { editor.viewport()->installEventFilter(this); }

bool NoTextDrag::eventFilter(QObject*, QEvent* event) {
  if (event->type() != QEvent::MouseButtonPress) return false;
  const auto* press = static_cast<const QMouseEvent*>(event);
  if (press->button() != Qt::LeftButton || press->modifiers().testFlag(Qt::ShiftModifier)) return false;
  const QPoint point = press->position().toPoint();
  const long at = m_editor.SendScintilla(QsciScintilla::SCI_POSITIONFROMPOINT, static_cast<unsigned long>(std::max(0, point.x())), static_cast<long>(point.y()));
  const long from = m_editor.SendScintilla(QsciScintilla::SCI_GETSELECTIONSTART), to = m_editor.SendScintilla(QsciScintilla::SCI_GETSELECTIONEND);
  if (from < to && at >= from && at <= to) m_editor.SendScintilla(QsciScintilla::SCI_SETEMPTYSELECTION, at);
  return false;
}

}  // namespace tw::widgets
