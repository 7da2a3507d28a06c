// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <functional>
#include <vector>

class QLabel;
class QLineEdit;
class QTreeWidget;

namespace tw::app {

/// One line of the command box.
struct Command {
  QString title, detail;
  QString shortcut;
  QString whyNot;  ///< why it cannot be run now; empty: it can
  std::function<void()> run;
};

/// Where the command box takes its lines from.
struct CommandSource {
  QChar prefix;  ///< typed first it shows this source alone
  QString name;  ///< what the source holds, in the plural
  /// All lines, for what stands behind the prefix; the box filters them by their titles.
  std::function<std::vector<Command>(const QString& text)> commands;
  bool always = true;  ///< also without its prefix
};

/// How well `text` fits a title: its letters have to occur in order, more is better; runs and beginnings of words count. 0: the text is empty; negative: it
/// does not fit.
int matchScore(const QString& text, const QString& title);

/// Finds and runs anything by typing a part of its name.
class CommandBox : public QDialog {
  Q_OBJECT
 public:
  CommandBox(std::vector<CommandSource> sources, QWidget* parent = nullptr);
  /// Opens with `text` in the line, such as a prefix.
  void open(const QString& text);
  /// Titles that are listed now.
  QStringList titles() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void list();
  void runCurrent();
  std::vector<CommandSource> m_sources;
  std::vector<Command> m_listed;
  QLineEdit* m_line;
  QTreeWidget* m_list;
  QLabel* m_hint;
};

}  // namespace tw::app
