// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "widgets/common/tabular.h"

class QLabel;
class QsciScintilla;

namespace tw::widgets {

class CodeLexer;

/// A text that a person writes: line numbers, colours, and a wavy line under what is wrong.
class CodeEditor : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit CodeEditor(const QString& title, QWidget* parent = nullptr);

  void setTitle(const QString& title);
  /// Another text, without a way back to the one before.
  void setText(const QString& text);
  QString text() const;
  bool isModified() const;
  void setModified(bool modified);
  /// Underlines the word at a line and a column (bytes), both from 1, and says what is wrong there at the mouse; the last line for places behind it.
  void setProblem(int line, int column, const QString& message);
  void clearProblem();
  bool hasProblem() const { return m_problemLine >= 0; }
  int problemLine() const { return m_problemLine; }  ///< from 0; -1: there is none
  QString problemText() const;                       ///< what is underlined
  /// Puts the cursor where the problem is.
  void goToProblem();
  Table table() const override;
  QWidget* input() const;  ///< what takes the keys

 Q_SIGNALS:
  void textEdited();

 protected:
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void restyle();
  QsciScintilla* m_editor;
  CodeLexer* m_lexer;
  QLabel* m_title;
  QString m_problem;
  int m_problemLine = -1, m_problemStart = 0, m_problemEnd = 0;  ///< the line, and positions of bytes
};

}  // namespace tw::widgets
