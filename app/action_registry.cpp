// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/action_registry.h"

#include <QWidget>

#include "engine/base/assert.h"

namespace tw::app {

ActionRegistry::ActionRegistry(QWidget* window) : QObject(window), m_window(window) {}

QAction* ActionRegistry::make(const QString& name, const QString& text, const QString& help, const QKeySequence& shortcut) {
  TW_ASSERT(!m_actions.contains(name), name.toStdString());
  auto* action = new QAction(text, this);
  action->setObjectName(QStringLiteral("action.") + name);
  action->setShortcut(shortcut);
  action->setProperty("help", help);
  action->setToolTip(shortcut.isEmpty() ? help : tr("%1 (%2)", "tool tip and shortcut").arg(help, shortcut.toString(QKeySequence::NativeText)));
  action->setStatusTip(help);
  m_actions.insert(name, action);
  m_order.append(action);
  m_window->addAction(action);
  return action;
}

QAction* ActionRegistry::add(const QString& name, const QString& text, const QString& help, const QKeySequence& shortcut, std::function<void()> run) {
  QAction* action = make(name, text, help, shortcut);
  connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
  return action;
}

QAction* ActionRegistry::addToggle(const QString& name, const QString& text, const QString& help, const QKeySequence& shortcut, std::function<void(bool)> run) {
  QAction* action = make(name, text, help, shortcut);
  action->setCheckable(true);
  connect(action, &QAction::toggled, this, [run = std::move(run)](bool on) { run(on); });
  return action;
}

QAction* ActionRegistry::get(const QString& name) const {
  QAction* action = m_actions.value(name);
  TW_ASSERT(action != nullptr, name.toStdString());
  return action;
}

void ActionRegistry::setEnabled(const QString& name, bool enabled, const QString& whyNot) {
  QAction* action = get(name);
  action->setEnabled(enabled);
  const QString help = action->property("help").toString();
  if (!enabled)
    action->setToolTip(whyNot.isEmpty() ? help : tr("%1: %2", "action and why it cannot be used").arg(help, whyNot));
  else
    action->setToolTip(action->shortcut().isEmpty() ? help
                                                    : tr("%1 (%2)", "tool tip and shortcut").arg(help, action->shortcut().toString(QKeySequence::NativeText)));
}

}  // namespace tw::app
