// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pinned_view.h"

#include <QVBoxLayout>

namespace tw::app {

PinnedView::PinnedView(const ViewDef& def, const Services& s, QWidget* parent)
    : QWidget(parent),
      m_trials(m_hub, s.jobs, s.workspace, s.tuning),
      m_explain(s.engine, m_hub, s.jobs, s.workspace, s.tuning),
      m_tasks(s.engine, m_hub, s.jobs, s.workspace, s.tuning),
      m_services{s.engine, s.jobs, m_hub, s.workspace, s.models, s.tuning, m_trials, m_explain, m_tasks, s.actions, s.marks, s.board, s.importing, s.finals, s.build, s.passCosts, s.race, s.farms, s.campaigns} {
  m_tasks.model()->setPeak(s.tasks.model()->peak());
  m_view = def.create(m_services, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_view);
  m_hub.copySelection(s.hub);
}

PinnedView::~PinnedView() {
  delete m_view;  // before what it refers to
}

}  // namespace tw::app
