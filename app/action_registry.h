// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QHash>
#include <QObject>
#include <functional>

namespace tw::app {

/// Every action of the workbench by its stable name, such as `tune.start`; its objectName is `action.tune.start`.
class ActionRegistry : public QObject {
  Q_OBJECT
 public:
  explicit ActionRegistry(QWidget* window);
  /// `help` is the tool tip while the action is enabled.
  QAction* add(const QString& name, const QString& text, const QString& help, const QKeySequence& shortcut, std::function<void()> run);
  QAction* addToggle(const QString& name, const QString& text, const QString& help, const QKeySequence& shortcut, std::function<void(bool)> run);
  QAction* get(const QString& name) const;
  /// Enables, or disables with the reason as tool tip.
  void setEnabled(const QString& name, bool enabled, const QString& whyNot = {});
  QList<QAction*> all() const { return m_order; }

 private:
  QAction* make(const QString& name, const QString& text, const QString& help, const QKeySequence& shortcut);
  QWidget* m_window;
  QHash<QString, QAction*> m_actions;
  QList<QAction*> m_order;
};

}  // namespace tw::app
