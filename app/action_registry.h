// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QHash>
#include <QObject>
#include <functional>

namespace tw::app {

/// Every action of the workbench by its stable name, such as `tune.start`; its objectName is `action.tune.start`.
/// Menus, tool bar, command box, the sheet of shortcuts and tests all read it.
class ActionRegistry : public QObject {
  Q_OBJECT
 public:
  /// Why an action cannot be used now, as the end of a sentence; empty: it can.
  using WhyNot = std::function<QString()>;

  explicit ActionRegistry(QWidget* window);
  /// `help` is the tool tip while the action is enabled.
  QAction* add(const QString& name, const QString& text, const QString& help, const QKeySequence& shortcut, std::function<void()> run);
  QAction* addToggle(const QString& name, const QString& text, const QString& help, const QKeySequence& shortcut, std::function<void(bool)> run);
  /// A second shortcut; menus show the first.
  void addShortcut(const QString& name, const QKeySequence& shortcut);
  /// The action is enabled while `whyNot` returns nothing; refresh() asks it.
  void setCondition(const QString& name, WhyNot whyNot);
  /// Asks all conditions again.
  void refresh();

  QAction* get(const QString& name) const;
  /// The name of one of the actions.
  static QString nameOf(const QAction* action);
  /// What the action does, without shortcut and reason.
  static QString helpOf(const QAction* action) { return action->property("help").toString(); }
  /// Why it is disabled, empty if it is enabled.
  static QString whyNotOf(const QAction* action) { return action->property("whyNot").toString(); }
  /// In the order in which they were made.
  QList<QAction*> all() const { return m_order; }

 private:
  QAction* make(const QString& name, const QString& text, const QString& help, const QKeySequence& shortcut);
  void setToolTip(QAction* action);
  QWidget* m_window;
  QHash<QString, QAction*> m_actions;
  QList<QAction*> m_order;
  QList<std::pair<QAction*, WhyNot>> m_conditions;
};

}  // namespace tw::app
