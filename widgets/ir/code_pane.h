// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "widgets/common/tabular.h"
#include "widgets/ir/code_language.h"
#include "widgets/ir/line_diff.h"

class QLabel;
class QsciScintilla;

namespace tw::widgets {

class CodeLexer;

/// One listing, read-only: line numbers, colours, bands under linked lines. Or the difference between another listing and this one, line under line; lines are
/// counted in this listing all the same.
class CodePane : public QWidget, public Tabular {
  Q_OBJECT
 public:
  CodePane(CodeLanguage language, const QString& title, QWidget* parent = nullptr);

  /// What the listing is called; `forGpu`: it is coloured as CUDA C++ or PTX.
  void setTitle(const QString& title, bool forGpu);
  void setText(const QString& text);
  void setDiff(const LineDiff& diff);
  /// As it is shown, removed lines included.
  QString text() const;
  /// Runs of changed lines; 0 without a difference.
  int changeCount() const { return static_cast<int>(m_diff.changes.size()); }
  /// Goes to the next or previous change. False if there is none in that direction.
  bool stepChange(bool forward);
  /// Signals the line of the cursor, as a click on it does.
  void activateCursor() { activate(m_row); }
  /// Shown in place of the text, such as a reason why there is none.
  void setPlaceholder(const QString& text);
  bool showsPlaceholder() const;
  /// Puts a band under these lines (0-based) and scrolls to the first if none is visible.
  void setLinkedLines(const std::vector<int>& lines, bool reveal);
  const std::vector<int>& linkedLines() const { return m_linked; }
  /// Puts the cursor there without a signal, and scrolls if the line is not visible.
  void goTo(int line);
  /// The same for a line of the other listing that a difference removes.
  void goToRemoved(int line);
  /// What each line means, by line: shown at the mouse.
  void setLineHelp(const std::vector<QString>& help);
  /// The part of the time that each line of the listing takes, in a margin; nothing beside lines where it is negative. `source` says who says so.
  void setShares(const std::vector<double>& shares, const QString& source);
  /// The line with the largest share comes into sight, unless the user has scrolled: machine code begins with tables of constants.
  void showHottest();
  void scrollToTop();
  /// What the margin says beside a line of the listing; empty if nothing.
  QString shareOf(int line) const;
  /// How many lines belong to no one line of another listing; the title says so.
  void setMergedLines(int count);
  bool find(const QString& text, bool forward);
  Table table() const override;
  bool hasCodeFocus() const;
  QsciScintilla* editor() const { return m_editor; }

 Q_SIGNALS:
  void lineActivated(int line);
  /// A line of the other listing that a difference removes.
  void removedLineActivated(int line);

 protected:
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void restyle();
  void showTitle();
  void putText(const QString& text);
  void markDiff();
  void fitNumbers();
  void showShares();
  /// Rows of the editor and lines of the listing; -1 where there is none.
  int rowOf(int line) const;
  int lineOf(int row) const;
  void activate(int row);
  void goToRow(int row);
  /// The help for what stands at a point of the viewport; empty if there is none.
  QString helpAt(const QPoint& point) const;
  QsciScintilla* m_editor;
  CodeLexer* m_lexer;
  QLabel *m_title, *m_placeholder;
  CodeLanguage m_language;
  bool m_forGpu = false;
  QString m_titleText;
  LineDiff m_diff;               ///< without lines if a listing alone is shown
  std::vector<int> m_rowOfLine;  ///< of the listing, if a difference is shown
  std::vector<int> m_linked;
  std::vector<QString> m_lineHelp;
  std::vector<double> m_shares;  ///< by line; empty if none is known
  QString m_sharesSource;
  int m_merged = 0;
  bool m_stepped = false;  ///< stepChange() went somewhere
  int m_row = 0;           ///< of the cursor, as far as others know
  int m_openedAt = 0;      ///< first visible row while the user has not scrolled
};

}  // namespace tw::widgets
