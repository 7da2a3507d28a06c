// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "app/services/open_model.h"

namespace tw::app {

/// What the user looks at: model, node, task, session, trial, point of the space. Views tell it what was chosen and listen to it, never to each other.
class SelectionHub : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  const OpenModelPtr& model() const { return m_model; }
  int node() const { return m_node; }  ///< of the optimised graph, -1 for none
  int task() const { return m_task; }  ///< of the model, -1 for none
  SessionId session() const { return m_session; }
  qint64 trial() const { return m_trial; }         ///< number in (session, task), -1 for none
  qint64 configIndex() const { return m_config; }  ///< point chosen by hand or by the trial, -1 for none
  const records::Task* taskValue() const { return m_task < 0 ? nullptr : &m_model->tasks[static_cast<size_t>(m_task)].task; }

  void setModel(OpenModelPtr model);
  void setNode(int node);
  void setTask(int task);
  void setSession(SessionId session);
  void setTrial(qint64 number);
  /// A point edited by hand; the trial is no longer selected.
  void setConfigIndex(qint64 index);
  /// The point that the shown candidate turned out to be; does not ask for its code again.
  void noteConfigIndex(qint64 index);

 Q_SIGNALS:
  void modelChanged();
  void nodeChanged();
  void taskChanged();
  void sessionChanged();
  void trialChanged();
  void configEdited();
  void configNoted();

 private:
  OpenModelPtr m_model;
  int m_node = -1, m_task = -1;
  SessionId m_session;
  qint64 m_trial = -1, m_config = -1;
};

}  // namespace tw::app
