// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QAction;
class QLabel;
class QStackedLayout;
class QToolButton;

namespace tw::widgets {

/// Shows its content, or in its place what would be here, why it is not, and one button that changes that.
class EmptyState : public QWidget {
  Q_OBJECT
 public:
  explicit EmptyState(QWidget* content, QWidget* parent = nullptr);
  void showEmpty(const QString& title, const QString& hint, QAction* action = nullptr);
  void showContent();
  bool isEmpty() const;

 private:
  QStackedLayout* m_stack;
  QLabel *m_title, *m_hint;
  QToolButton* m_button;
};

}  // namespace tw::widgets
