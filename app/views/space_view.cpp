// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/space_view.h"

#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/explain_service.h"
#include "widgets/common/empty_state.h"
#include "widgets/tuning/knob_panel.h"

namespace tw::app {

SpaceView::SpaceView(Services& services, QWidget* parent) : QWidget(parent), m_services(services), m_panel(new widgets::KnobPanel(this)) {
  m_state = new widgets::EmptyState(m_panel, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_state);
  connect(&services.explain, &ExplainService::spaceChanged, this, &SpaceView::showSpace);
  connect(&services.explain, &ExplainService::reasonChanged, m_panel, &widgets::KnobPanel::setReason);
  connect(&services.hub, &SelectionHub::configNoted, this, [this] { m_panel->setIndex(m_services.hub.configIndex()); });
  connect(m_panel, &widgets::KnobPanel::indexEdited, &services.hub, &SelectionHub::setConfigIndex);
  showSpace();
}

void SpaceView::showSpace() {
  const auto& space = m_services.explain.space();
  if (space.space) {
    m_panel->setSpace(space.space, QString::fromStdString(space.name));
    m_panel->setToolTip(QString::fromStdString(space.summary).toHtmlEscaped());
    m_panel->setIndex(m_services.hub.configIndex());
    return m_state->showContent();
  }
  m_panel->setSpace(nullptr, {});
  if (!m_services.hub.taskValue())
    return m_state->showEmpty(tr("No space"), tr("Select a task to see its knobs."), m_services.actions.get(QStringLiteral("file.open")));
  if (!m_services.explain.spacesKnown()) return m_state->showEmpty(tr("Reading the space…"), {});
  m_state->showEmpty(tr("Nothing to choose"), tr("No template matches this task, so it runs with the default schedule. The code view shows it."));
}

}  // namespace tw::app
