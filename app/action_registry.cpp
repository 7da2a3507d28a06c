// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/action_registry.h"

#include <QWidget>

#include "engine/base/assert.h"

namespace tw::app {
namespace {
const QString kPrefix = QStringLiteral("action.");
}

ActionRegistry::ActionRegistry(QWidget* window) : QObject(window), m_window(window) {}

QAction* ActionRegistry::make(const QString& name, const QString& text, const QString& help, const QKeySequence& shortcut) {
  TW_ASSERT(!m_actions.contains(name), name.toStdString());
  auto* action = new QAction(text, this);
  action->setObjectName(kPrefix + name);
  action->setShortcut(shortcut);
  action->setProperty("help", help);
  action->setStatusTip(help);
  setToolTip(action);
  m_actions.insert(name, action);
  m_order.append(action);
  m_window->addAction(action);
  return action;
}

void ActionRegistry::setToolTip(QAction* action) {
  const QString help = helpOf(action), whyNot = whyNotOf(action);
  if (!whyNot.isEmpty())
    action->setToolTip(tr("%1: %2", "action and why it cannot be used").arg(help, whyNot));
  else if (!action->shortcut().isEmpty())
    action->setToolTip(tr("%1 (%2)", "tool tip and shortcut").arg(help, action->shortcut().toString(QKeySequence::NativeText)));
  else
    action->setToolTip(help);
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

void ActionRegistry::addShortcut(const QString& name, const QKeySequence& shortcut) {
  QAction* action = get(name);
  action->setShortcuts(action->shortcuts() << shortcut);
}

void ActionRegistry::setCondition(const QString& name, WhyNot whyNot) { m_conditions.append({get(name), std::move(whyNot)}); }

void ActionRegistry::refresh() {
  for (const auto& [action, condition] : m_conditions) {
    const QString whyNot = condition();
    if (whyNot == whyNotOf(action)) continue;
    action->setProperty("whyNot", whyNot);
    action->setEnabled(whyNot.isEmpty());
    setToolTip(action);
  }
}

QAction* ActionRegistry::get(const QString& name) const {
  QAction* action = m_actions.value(name);
  TW_ASSERT(action != nullptr, name.toStdString());
  return action;
}

QString ActionRegistry::nameOf(const QAction* action) { return action->objectName().mid(kPrefix.size()); }

}  // namespace tw::app
