// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <array>
#include <vector>

class QLabel;
class QLineEdit;
class QSplitter;
class QToolButton;

namespace tw::widgets {

class CodePane;

/// All listings of one candidate.
struct CodeListing {
  QString title;  ///< which candidate this is
  QString steps, loops, tir, llvm, assembly;
  std::vector<int> llvmToTir, assemblyToTir;  ///< 0-based TIR line per line, -1 for none
  QString error;                              ///< why later listings are missing; empty if none is
};

/// The listings side by side, columns switchable; a click on a line marks its relatives in the other columns.
class CodeView : public QWidget {
  Q_OBJECT
 public:
  enum Column { Steps, Loops, Tir, Llvm, Assembly, ColumnCount };
  explicit CodeView(QWidget* parent = nullptr);
  void showListing(const CodeListing& listing);
  /// Dims the listings while others are made.
  void setBusy(const QString& what);
  void setColumnVisible(Column column, bool visible);
  bool isColumnVisible(Column column) const;
  CodePane* pane(Column column) const { return m_panes[static_cast<size_t>(column)]; }
  void startFind();
  void findAgain(bool forward);
  /// Marks the relatives of a line, as a click there does.
  void linkFrom(Column column, int line);
  QByteArray saveState() const;
  void restoreState(const QByteArray& state);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void recolourButtons();
  void updateTexts();
  CodeListing m_listing;
  std::array<CodePane*, ColumnCount> m_panes{};
  std::array<QToolButton*, ColumnCount> m_buttons{};
  QSplitter* m_splitter;
  QLabel *m_title, *m_error;
  QLineEdit* m_find;
  QLabel* m_findResult;
};

}  // namespace tw::widgets
