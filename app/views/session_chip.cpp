// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/session_chip.h"

#include <QCoreApplication>
#include <QToolButton>

#include "app/selection_hub.h"

namespace tw::app {
namespace {

struct ChipTexts {
  Q_DECLARE_TR_FUNCTIONS(SessionChip)
};

}  // namespace

QToolButton* makeSessionChip(Services& services, const char* view, QWidget* parent) {
  auto* chip = new QToolButton(parent);
  chip->setObjectName(QStringLiteral("button.%1.session").arg(QLatin1String(view)));
  chip->setToolTip(ChipTexts::tr("Only trials of this session are shown. Click to show those of all sessions."));
  SelectionHub& hub = services.hub;
  const auto show = [chip, &hub] {
    chip->setText(ChipTexts::tr("Session %1 %2", "a session and a cross that removes the filter").arg(hub.session().value).arg(QChar(0x2715)));
    chip->setAccessibleName(ChipTexts::tr("Show the trials of all sessions, not of session %1 alone").arg(hub.session().value));
    chip->setVisible(static_cast<bool>(hub.session()));
  };
  QObject::connect(&hub, &SelectionHub::sessionChanged, chip, show);
  QObject::connect(&hub, &SelectionHub::modelChanged, chip, show);
  QObject::connect(chip, &QToolButton::clicked, chip, [&hub] { hub.setSession({}); });
  show();
  return chip;
}

}  // namespace tw::app
