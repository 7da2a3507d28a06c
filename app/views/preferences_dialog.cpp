// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/preferences_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/menus.h"
#include "app/services/workspace.h"
#include "engine/api/preparation.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/param_form.h"

namespace tw::app {

PreferencesDialog::PreferencesDialog(const ActionRegistry& actions, const Workspace& workspace, const Json& preparation, QWidget* parent) : Dialog(parent) {
  setObjectName(QStringLiteral("dialog.preferences"));
  setWindowTitle(tr("Preferences"));
  auto* theme = new QComboBox(this);
  theme->setObjectName(QStringLiteral("combo.preferences.theme"));
  theme->setAccessibleName(tr("Theme"));
  const QStringList themes = actionsIn(QLatin1String(kThemeMenu), actions);
  for (const QString& name : themes) {
    theme->addItem(plainText(actions.get(name)->text()));
    if (actions.get(name)->isChecked()) theme->setCurrentIndex(theme->count() - 1);
  }
  connect(theme, &QComboBox::activated, this, [&actions, themes](int i) { actions.get(themes[i])->trigger(); });
  QAction* big = actions.get(QStringLiteral("view.bigType"));
  auto* letters = new QCheckBox(ActionRegistry::helpOf(big), this);
  letters->setObjectName(QStringLiteral("check.preferences.bigType"));
  letters->setAccessibleName(plainText(big->text()));
  letters->setChecked(big->isChecked());
  connect(letters, &QCheckBox::toggled, big, &QAction::setChecked);
  auto* path = new widgets::ElidedLabel(this);
  path->setObjectName(QStringLiteral("label.preferences.workspace"));
  path->setMinimumWidth(260);
  path->setText(workspace.path());
  connect(&workspace, &Workspace::opened, path, [path, &workspace] { path->setText(workspace.path()); });
  const auto button = [&](const char* action) {
    auto* b = new QToolButton(this);
    b->setDefaultAction(actions.get(QLatin1String(action)));
    b->setAccessibleName(plainText(b->defaultAction()->text()));
    return b;
  };
  auto* place = new QHBoxLayout;
  place->addWidget(path, 1);
  place->addWidget(button("file.workspace"));
  auto* form = new QFormLayout;
  form->addRow(tr("&Theme"), theme);
  form->addRow(plainText(big->text()), letters);
  form->addRow(tr("Sessions are kept in"), place);
  form->addRow(tr("Views"), button("view.resetLayout"));
  auto* networks = new widgets::ParamForm(this, QStringLiteral("preferences"));
  networks->setSchema(api::preparation_schema());
  networks->setValues(preparation);
  connect(networks, &widgets::ParamForm::changed, this, [this, networks] { Q_EMIT preparationChosen(networks->values()); });
  form->addRow(tr("Networks"), networks);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* box = new QVBoxLayout(this);
  box->addLayout(form);
  box->addStretch();
  box->addWidget(buttons);
}

}  // namespace tw::app
