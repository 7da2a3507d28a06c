// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QComboBox;
class QLineEdit;
class QTextBrowser;

namespace tw::app {

struct Services;

/// The manual: its pages, the headings of the page as contents, and a search through all of them.
class ManualView : public QWidget {
  Q_OBJECT
 public:
  explicit ManualView(QWidget* parent = nullptr);
  static QWidget* create(Services&, QWidget* parent) { return new ManualView(parent); }
  /// What the first page says of a view.
  void showView(const QString& title);
  /// The glossary, at one of its words.
  void showWord(const QString& word);

 private:
  void showContents();
  void find(bool next);
  /// Scrolls to the first paragraph, or heading, that begins so; false if the page has none.
  bool goTo(const QString& beginning, bool heading);
  QTextBrowser* m_browser;
  QComboBox* m_contents;
  QLineEdit* m_find;
};

}  // namespace tw::app
