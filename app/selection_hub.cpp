// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/selection_hub.h"

namespace tw::app {

void SelectionHub::setModel(OpenModelPtr model) {
  m_model = std::move(model);
  m_node = m_task = -1;
  m_session = {};
  m_trial = m_config = -1;
  Q_EMIT modelChanged();
  Q_EMIT nodeChanged();
  if (m_model && !m_model->tasks.empty())
    setTask(0);
  else
    Q_EMIT taskChanged();
}

void SelectionHub::setNode(int node) {
  if (node == m_node) return;
  m_node = node;
  Q_EMIT nodeChanged();
}

void SelectionHub::setTask(int task) {
  if (task == m_task || !m_model || task >= static_cast<int>(m_model->tasks.size())) return;
  m_task = task;
  m_trial = m_config = -1;
  Q_EMIT taskChanged();
}

void SelectionHub::setSession(SessionId session) {
  if (session == m_session) return;
  m_session = session;
  m_trial = -1;
  Q_EMIT sessionChanged();
}

void SelectionHub::setTrial(qint64 number) {
  if (number == m_trial) return;
  m_trial = number;
  Q_EMIT trialChanged();
}

void SelectionHub::setConfigIndex(qint64 index) {
  m_config = index;
  if (m_trial >= 0) {
    m_trial = -1;
    Q_EMIT trialChanged();
  }
  Q_EMIT configEdited();
}

void SelectionHub::noteConfigIndex(qint64 index) {
  if (index == m_config) return;
  m_config = index;
  Q_EMIT configNoted();
}

}  // namespace tw::app
