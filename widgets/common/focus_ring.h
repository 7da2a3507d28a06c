// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QWidget>

namespace tw::widgets {

/// What the frame itself is called, below the widget that has the focus.
inline const QString kFocusRing = QStringLiteral("focusRing");
/// Takes the frame from what is going to be painted as a picture; the next change of the focus brings it back.
void hideFocusRing(const QWidget& within);

/// Frames whatever widget of the program took the focus while keys are used; a click, or focus that was given by the program, takes the frame away. Plots, graphs and
/// tables without a current cell show nothing of their focus by themselves, and the marks of buttons are hard to see.
class FocusRing : public QObject {
  Q_OBJECT
 public:
  explicit FocusRing(QObject* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void drop();
  QPointer<QWidget> m_frame;
  bool m_byKey = false;  ///< what was used last: where a widget with the focus is hidden, Qt moves the focus as a key would
};

}  // namespace tw::widgets
