// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shortcuts_sheet.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/menus.h"

namespace tw::app {

ShortcutsSheet::ShortcutsSheet(const ActionRegistry& actions, QWidget* parent) : Dialog(parent) {
  setObjectName(QStringLiteral("window.shortcuts"));
  setWindowTitle(tr("Actions and shortcuts"));
  resize(980, 700);
  auto* tree = new QTreeWidget(this);
  tree->setObjectName(QStringLiteral("table.shortcuts"));
  tree->setAccessibleName(windowTitle());
  tree->setHeaderLabels({tr("Action"), tr("Shortcut"), tr("What it does")});
  tree->setRootIsDecorated(false);
  tree->setUniformRowHeights(true);
  for (const MenuDef& menu : menus()) {
    auto* group = new QTreeWidgetItem(tree, {plainText(menu.title())});
    QFont bold = tree->font();
    bold.setBold(true);
    group->setFont(0, bold);
    QStringList names;
    for (const QString& entry : menu.actions) names << actionsIn(entry, actions);
    for (const QString& name : names) {
      const QAction* action = actions.get(name);
      QStringList keys;
      for (const QKeySequence& key : action->shortcuts()) keys << key.toString(QKeySequence::NativeText);
      const QString whyNot = ActionRegistry::whyNotOf(action), help = ActionRegistry::helpOf(action);
      new QTreeWidgetItem(group, {plainText(action->text()), keys.join(tr(" or ")), whyNot.isEmpty() ? help : tr("%1 (not now: %2)").arg(help, whyNot)});
    }
  }
  tree->expandAll();
  tree->header()->resizeSection(0, 240);
  tree->header()->resizeSection(1, 190);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* box = new QVBoxLayout(this);
  box->addWidget(tree);
  box->addWidget(buttons);
}

}  // namespace tw::app
