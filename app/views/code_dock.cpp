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

CodeDock::CodeDock(Services& services, QWidget* parent) : QWidget(parent), m_code(new widgets::CodeView(this)) {
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
  connect(&services.explain, &ExplainService::explained, m_code, &widgets::CodeView::showListing);
  connect(&services.explain, &ExplainService::busy, m_code, &widgets::CodeView::setBusy);
  m_code->restoreState(QSettings().value(QStringLiteral("code/columns")).toByteArray());
  showState();
}

CodeDock::~CodeDock() { QSettings().setValue(QStringLiteral("code/columns"), m_code->saveState()); }

}  // namespace tw::app
