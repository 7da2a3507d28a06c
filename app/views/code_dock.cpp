// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/code_dock.h"

#include <QSettings>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/explain_service.h"
#include "widgets/common/empty_state.h"
#include "widgets/ir/code_view.h"

namespace tw::app {

CodeDock::CodeDock(Services& services, QWidget* parent) : QWidget(parent), m_services(services), m_code(new widgets::CodeView(this)) {
  m_state = new widgets::EmptyState(m_code, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_state);
  const auto showState = [this, &services] {
    if (services.hub.taskValue())
      m_state->showContent();
    else
      m_state->showEmpty(tr("No code"), tr("Steps, loops, TIR, LLVM IR and assembly of the selected task, trial or point appear here."),
                         services.actions.get(QStringLiteral("file.open")));
  };
  connect(&services.hub, &SelectionHub::taskChanged, this, showState);
  connect(&services.explain, &ExplainService::explained, this, [this](const widgets::CodeListing& listing) {
    m_code->showListing(listing);
    showSelection();
  });
  connect(&services.hub, &SelectionHub::placeChanged, this, &CodeDock::showSelection);
  connect(&services.hub, &SelectionHub::nodeChanged, this, &CodeDock::showSelection);
  connect(m_code, &widgets::CodeView::placeActivated, &services.hub, &SelectionHub::setPlace);
  connect(&services.explain, &ExplainService::busy, m_code, &widgets::CodeView::setBusy);
  m_code->restoreState(QSettings().value(QStringLiteral("code/columns")).toByteArray());
  showState();
}

void CodeDock::showSelection() {
  const widgets::CodePlace place = m_services.hub.place();
  if (!place.isNull()) return m_code->showPlace(place);
  std::array<std::vector<int>, widgets::CodeView::ColumnCount> lines;
  for (size_t i = 0; i < lines.size(); ++i)
    lines[i] = m_services.explain.linesOfNode(m_services.hub.node(), widgets::CodeView::formOf(static_cast<widgets::CodeView::Column>(i)));
  m_code->showLinked(lines);
}

CodeDock::~CodeDock() { QSettings().setValue(QStringLiteral("code/columns"), m_code->saveState()); }

}  // namespace tw::app
