// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QsciScintilla;

namespace tw::widgets {

/// Keeps selected text from being dragged: a press on it begins another selection. A drag is an event loop of its own inside the editor, which is gone at its end
/// where its view was closed meanwhile. Lives as long as the editor.
class NoTextDrag : public QObject {
  Q_OBJECT
 public:
  explicit NoTextDrag(QsciScintilla& editor);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QsciScintilla& m_editor;
};

}  // namespace tw::widgets
