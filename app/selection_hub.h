// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QMap>
#include <QObject>
#include <QTimer>
#include <QUndoStack>
#include <vector>

#include "app/services/open_model.h"
#include "widgets/ir/code_place.h"

namespace tw::app {

class PlaybackClock;

/// The filter that every view of trials shares.
inline const QString kTrialsFilter = QStringLiteral("trials");

/// A trial of the open model.
struct TrialRef {
  SessionId session;
  int task = -1;
  qint64 number = -1;
  bool operator==(const TrialRef&) const = default;
};

/// What the code of the selection is compared with.
struct CodeBase {
  enum class Kind { none, defaultSchedule, best, trial } kind = Kind::none;
  TrialRef trial;  ///< of Kind::trial
  bool operator==(const CodeBase&) const = default;
};

/// What the user looks at: model, node, task, session, trial, point of the space, place in the code. Views tell it what was chosen and listen to it, never to
/// each other. It also holds what several views share: filters by name, trials and sessions put side by side.
/// What was looked at before comes back by back() and forward(); changes of filters and of what is put side by side or compared by undoStack().
class SelectionHub : public QObject {
  Q_OBJECT
 public:
  /// Whether the user chose it or a view followed something by itself; what was followed makes no entry of its own in the history.
  enum class Way { chosen, followed };
  static constexpr int kTrayLimit = 4;

  explicit SelectionHub(QObject* parent = nullptr);
  const OpenModelPtr& model() const { return m_model; }
  int node() const { return m_now.node; }  ///< of the optimised graph, -1 for none
  int task() const { return m_now.task; }  ///< of the model, -1 for none
  /// The only session whose trials are shown; none: those of all.
  SessionId session() const { return m_now.session; }
  /// Whether that session was chosen by the user, and not because it began.
  bool isSessionChosen() const { return m_sessionChosen; }
  qint64 trial() const { return m_now.trial; }         ///< number in its session and the task, -1 for none
  TrialRef trialRef() const { return {m_now.trialSession, m_now.task, m_now.trial}; }
  qint64 configIndex() const { return m_now.config; }  ///< point chosen by hand or by the trial, -1 for none
  /// Whether that point was chosen by hand.
  bool isConfigEdited() const { return m_now.edited; }
  /// Step, loop or line of the code of the selected candidate.
  widgets::CodePlace place() const { return m_now.place; }
  const records::Task* taskValue() const { return m_now.task < 0 ? nullptr : &m_model->tasks[static_cast<size_t>(m_now.task)].task; }
  /// Where the network has its constants when the selected task's kernels come to them.
  records::Weights constants() const { return m_now.task < 0 ? records::Weights::unknown : m_model->tasks[static_cast<size_t>(m_now.task)].constants; }

  /// Where it completes the one that is there, the node stays selected.
  void setModel(OpenModelPtr model);
  /// A node of a kernel that is tuned selects its task as well.
  void setNode(int node);
  void setTask(int task, Way way = Way::chosen);
  void setSession(SessionId session, Way way = Way::chosen);
  /// A trial of the only session that is shown; -1: none.
  void setTrial(qint64 number);
  /// A trial of any session and task; where trials of another session alone are shown, those of all are.
  void setTrial(const TrialRef& trial);
  /// A point edited by hand; the trial is no longer selected.
  void setConfigIndex(qint64 index);
  /// The point that the shown candidate turned out to be; does not ask for its code again.
  void noteConfigIndex(qint64 index);
  void setPlace(widgets::CodePlace place);

  /// What the code is compared with; a trial of another task than the selected one is dropped.
  const CodeBase& codeBase() const { return m_base; }
  void setCodeBase(const CodeBase& base, Way way = Way::chosen);

  /// The same model, selection and filters as another hub.
  void copySelection(const SelectionHub& other);

  bool canGoBack() const { return m_at > 0; }
  bool canGoForward() const { return m_at + 1 < static_cast<int>(m_history.size()); }
  void back();
  void forward();
  /// Selections that follow each other faster become one entry, as when a key is held down.
  void setMergeMillis(int millis) { m_mergeMillis = millis; }

  /// Undoes filters, trays, notes: all that is not a measurement.
  QUndoStack& undoStack() { return m_undo; }
  /// The text of a filter by its stable name, such as `trials`; empty if it was never set.
  QString filter(const QString& name) const { return m_filters.value(name); }
  void setFilter(const QString& name, const QString& text);
  /// Trials put side by side, at most kTrayLimit; of a longer list the last ones.
  const std::vector<TrialRef>& tray() const { return m_tray; }
  void setTray(std::vector<TrialRef> tray);
  /// Puts a trial into the tray, or takes it out if it is there.
  void toggleTray(const TrialRef& trial);
  /// The moment that played sessions are shown at.
  PlaybackClock& playback() { return *m_playback; }
  /// Sessions put side by side.
  const std::vector<SessionId>& comparedSessions() const { return m_compared; }
  void setComparedSessions(std::vector<SessionId> sessions, Way way = Way::chosen);

 Q_SIGNALS:
  void modelChanged();
  void nodeChanged();
  void taskChanged();
  void taskChosen();  ///< by the user, before or after it changed
  void sessionChanged();
  void trialChanged();
  void configEdited();
  void configNoted();
  void placeChanged();
  void codeBaseChanged();
  void historyChanged();
  void filterChanged(const QString& name);
  void trayChanged();
  void comparedSessionsChanged();

 private:
  struct Looked {
    int node = -1, task = -1;
    SessionId session, trialSession;
    qint64 trial = -1, config = -1;
    bool edited = false;  ///< `config` was chosen by hand
    widgets::CodePlace place;
    bool operator==(const Looked&) const = default;
  };
  class FilterCommand;
  template <class T>
  class SwapCommand;
  /// What was followed cannot be undone.
  template <class T>
  void put(Way way, const QString& text, T SelectionHub::*place, T value, void (SelectionHub::*changed)());
  void changed(Way way);
  void record();
  void go(int entry);
  /// Shows `next`, with the signals of what differs.
  void show(const Looked& next);
  void dropPlace();

  OpenModelPtr m_model;
  Looked m_now;
  bool m_sessionChosen = false;
  CodeBase m_base;
  std::vector<Looked> m_history;
  int m_at = -1;
  QTimer m_record;
  QElapsedTimer m_sinceEntry;
  int m_mergeMillis = 400;
  QMap<QString, QString> m_filters;
  std::vector<TrialRef> m_tray;
  std::vector<SessionId> m_compared;
  PlaybackClock* m_playback;
  QUndoStack m_undo;
};

}  // namespace tw::app
