// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QAction;
class QHBoxLayout;
class QLabel;
class QToolButton;

namespace tw::widgets {

/// A message in the window that does not stop the work: what went wrong, with details on request. Texts are shown as they are, never as markup.
class Banner : public QFrame {
  Q_OBJECT
 public:
  enum class Kind { info, warning, error };
  explicit Banner(QWidget* parent = nullptr);
  /// `actions` are what can be done next, as buttons.
  void showMessage(Kind kind, const QString& text, const QString& details = {}, const QList<QAction*>& actions = {});
  QString text() const;
  /// Of a message of one line.
  int lineHeight() const;
  Kind kind() const { return m_kind; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void recolour();
  QLabel *m_icon, *m_text, *m_details;
  QHBoxLayout* m_actions;
  QToolButton *m_more, *m_close;
  Kind m_kind = Kind::info;
  bool m_dark = false;
};

}  // namespace tw::widgets
