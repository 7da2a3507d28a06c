// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "widgets/ir/code_place.h"
#include "widgets/ir/line_diff.h"

class QHBoxLayout;
class QLabel;
class QLineEdit;
class QSplitter;
class QToolButton;

namespace tw::widgets {

class CodePane;

/// All listings of one candidate.
struct CodeListing {
  QString title;        ///< which candidate this is
  QString kernel;       ///< of which task: listings of the same one stay where they were scrolled to
  bool forGpu = false;  ///< `llvm` is CUDA C++, `assembly` PTX, and there is a column for `sass`
  QString steps, loops, tir, llvm, assembly, sass;
  std::vector<QString> stepHelp;  ///< by line of `steps`: what such a step does
  /// Lines of the form `to` that belong to a place, ascending. Empty: nothing is linked.
  std::function<std::vector<int>(const CodePlace& from, CodeLanguage to)> related;
  /// Per form, lines that the compiler added or made from several: they belong to no one line of another form. Ascending.
  std::array<std::vector<int>, 6> merged;
  /// Per form, by line, the part of the kernel's time that it takes with what stands inside it; negative where that is not known. Empty: of no line.
  std::array<std::vector<double>, 6> shares;
  QString sharesSource;  ///< what says so, one sentence
  QString error;  ///< why later listings are missing; empty if none is
};

/// The differences between the listings of another candidate and those that are shown, form by form.
struct CodeDiff {
  QString against;  ///< which candidate that is
  std::array<LineDiff, 6> forms;
};

/// The listings side by side, columns switchable. Bands show what belongs to the selected place in every column.
class CodeView : public QWidget {
  Q_OBJECT
 public:
  enum Column { Steps, Loops, Tir, Llvm, Assembly, Sass, ColumnCount };
  explicit CodeView(QWidget* parent = nullptr);
  void showListing(const CodeListing& listing);
  /// Shows steps, loops and TIR of the listing that comes next; machine code stays that of the last one until then. Differences stay too.
  void showOutline(const CodeListing& outline);
  /// Shows the differences in the place of the listing, which they are of, until the next listing or null.
  void showDiff(std::shared_ptr<const CodeDiff> diff);
  const CodeDiff* diff() const { return m_diff.get(); }
  const CodeListing& listing() const { return m_listing; }
  /// Goes to the next or previous change, in the column of the cursor first.
  void stepChange(bool forward);
  /// A widget at the end of the row of columns.
  void addToBar(QWidget* widget);
  /// Says that other listings are being made: in the title, and where there is nothing to show yet.
  void setBusy(const QString& what);
  void setColumnVisible(Column column, bool visible);
  bool isColumnVisible(Column column) const;
  CodePane* pane(Column column) const { return m_panes[static_cast<size_t>(column)]; }
  void startFind();
  void findAgain(bool forward);
  /// Marks the place's relatives in all other columns; nowhere clears the marks.
  void showPlace(const CodePlace& place);
  /// Marks lines of all columns as relatives of something outside the code, such as a node of a graph.
  void showLinked(const std::array<std::vector<int>, ColumnCount>& lines);
  static CodeLanguage formOf(Column column) { return static_cast<CodeLanguage>(column); }
  static Column columnOf(CodeLanguage form) { return static_cast<Column>(form); }
  QByteArray saveState() const;
  void restoreState(const QByteArray& state);

 Q_SIGNALS:
  /// The user went to a line.
  void placeActivated(const tw::widgets::CodePlace& place);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  bool hasColumn(Column column) const { return column != Sass || m_listing.forGpu; }
  void recolourButtons();
  void scrollToTop();
  void updateTexts();
  void updateText(Column column);
  void showTitle();
  /// What the step of that line does, under the row of columns; nothing for a line without a step.
  void showStepHelp(int line);
  CodeListing m_listing;
  std::shared_ptr<const CodeDiff> m_diff;
  std::array<CodePane*, ColumnCount> m_panes{};
  std::array<QToolButton*, ColumnCount> m_buttons{};
  std::array<bool, ColumnCount> m_wanted{};  ///< shown wherever there is such a column
  QSplitter* m_splitter;
  QHBoxLayout* m_bar;
  QLabel *m_title, *m_error, *m_help;
  QLineEdit* m_find;
  QLabel* m_findResult;
};

}  // namespace tw::widgets
